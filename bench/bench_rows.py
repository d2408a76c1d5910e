# SPDX-License-Identifier: Apache-2.0
"""Softmax, norms and sums on npu against torch's on CPU, forward and backward."""

from dataclasses import dataclass

import torch

import op_extension  # noqa: F401  (registers the operators)
from bench.pairs import DTYPES, Function, backward, forward, name_of
from bench.row import Row

npu = torch.ops.npu
functional = torch.nn.functional
SIZES = ((1024, 1024), (256, 8192), (65536, 10), (4, 1))
OF_GOALS = {(1024, 1024), (256, 8192)}


@dataclass(frozen=True)
class Case:
    """An operator and what torch has for the same.

    Attributes:
        rows_of_weights: operands of one row, behind x.
        moved: how many matrices forward and backward read and write at least.
        goal: of the way forward, for OF_GOALS.
    """

    operator: str
    ours: Function
    theirs: Function
    against: str
    rows_of_weights: int = 0
    moved: tuple[int, int] = (2, 3)
    goal: float | None = None


def softmax(dim: int, goal: float | None) -> Case:
    """Over one dimension."""
    ours, theirs = lambda x: npu.my_softmax(x, dim), lambda x: torch.softmax(x, dim)
    return Case("my_softmax", ours, theirs, f"softmax(x, {dim})", goal=goal)


def sums(dim: int) -> Case:
    """Of rows or columns; ``sum_to`` is what undoes a broadcast, backward is the broadcast."""

    def ours(x: torch.Tensor) -> torch.Tensor:
        return npu.sum_to(x, [1 if i == dim else size for i, size in enumerate(x.shape)])

    return Case("sum_to", ours, lambda x: x.sum(dim, keepdim=True), f"x.sum({dim})", moved=(1, 0))


CASES = (
    softmax(-1, goal=1.0),
    softmax(0, goal=None),
    Case(
        "my_layer_norm",
        lambda x, weight, bias: npu.my_layer_norm(x, weight.shape, weight, bias),
        lambda x, weight, bias: functional.layer_norm(x, weight.shape, weight, bias),
        "layer_norm",
        2,
    ),
    Case(
        "my_rms_norm",
        lambda x, weight: npu.my_rms_norm(x, weight.shape, weight),
        lambda x, weight: functional.rms_norm(x, weight.shape, weight),
        "rms_norm",
        1,
        goal=0.5,
    ),
    sums(0),
    sums(1),
)

ROWS = [
    Row(
        case.operator,
        f"{rows}x{width}",
        name_of(dtype),
        case.against,
        way(case.ours, case.theirs, dtype, (rows, width), *[(width,)] * case.rows_of_weights),
        way=way.__name__,
        bytes_moved=moved * rows * width * dtype.itemsize if rows > 4 else 0,
        goal=case.goal if way is forward and (rows, width) in OF_GOALS else None,
    )
    for case in CASES
    for way, moved in zip((forward, backward), case.moved, strict=True)
    for dtype in DTYPES
    for rows, width in SIZES
]
