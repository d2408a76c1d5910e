# SPDX-License-Identifier: Apache-2.0
"""Cross entropy on npu against torch's on CPU, forward and backward."""

from collections.abc import Callable

import torch

import op_extension  # noqa: F401  (registers the operators)
from bench.pairs import DTYPES, backward, forward, name_of
from bench.row import Pair, Row

SIZES = ((1024, 1000), (8192, 32000), (65536, 10), (4, 1))
OF_GOALS = {(1024, 1000), (8192, 32000)}
OPERANDS = 6  # matrices of a pair at most: each side's logits, gradient, and torch's logarithms


def cross_entropy(way: Callable[..., Callable[[], Pair]], dtype: torch.dtype, rows: int, classes: int) -> Pair:
    """The mean over rows, with labels all over the classes."""
    target = torch.arange(rows) * 7919 % classes
    on_npu = target.to("npu")
    return way(
        lambda x: torch.ops.npu.my_cross_entropy(x, on_npu),
        lambda x: torch.nn.functional.cross_entropy(x, target),
        dtype,
        (rows, classes),
    )()


def row(way: Callable[..., Callable[[], Pair]], moved: int, dtype: torch.dtype, rows: int, classes: int) -> Row:
    """moved: how many matrices are read and written at least."""
    nbytes = rows * classes * dtype.itemsize
    return Row(
        "my_cross_entropy",
        f"{rows}x{classes}",
        name_of(dtype),
        "cross_entropy",
        lambda: cross_entropy(way, dtype, rows, classes),
        way=way.__name__,
        bytes_moved=moved * nbytes if rows > 4 else 0,
        goal=1.0 if dtype == torch.float32 and (rows, classes) in OF_GOALS else None,
        memory=OPERANDS * nbytes,
    )


ROWS = [
    row(way, moved, dtype, *size) for way, moved in ((forward, 1), (backward, 2)) for dtype in DTYPES for size in SIZES
]
