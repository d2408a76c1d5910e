# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators of ``torch.ops.npu`` against torch's on CPU, forward and backward."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

import op_extension  # noqa: F401  (registers the operators)
from bench.compiled import compiled
from bench.pairs import DTYPES, Function, backward, forward, name_of
from bench.row import Row

npu = torch.ops.npu
SIZES = {4: "4", 40960: "40960", 1_000_000: "1M", 64_000_000: "64M"}
_BIG = 64_000_000
_MOST_ARRAYS = 16  # that live at a time: operands and results of both sides, and vectors of the limit


@dataclass(frozen=True)
class Case:
    """An operator and what torch has for the same.

    Attributes:
        operands: how many vectors go in.
        moved: how many vectors forward and backward read and write at least; 0 for a way that computes nothing.
        goal: of the way forward from 40960 elements up, for float32 and for 16 bits.
        goal_of_call: of the way forward for 4 elements.
        in_place: the first operand is changed.
    """

    operator: str
    ours: Function
    theirs: Function
    against: str
    operands: int
    moved: tuple[int, int]
    goal: Mapping[int, float] = field(default_factory=dict)
    goal_of_call: float | None = None
    in_place: bool = False


def goals(float32: float, sixteen_bits: float) -> dict[int, float]:
    """By bytes of an element."""
    return {4: float32, 2: sixteen_bits}


def on_copy(function: Function) -> Function:
    """What changes its first operand, for a graph: a leaf cannot be changed."""
    return lambda x, *others: function(x.clone(), *others)


def three_calls(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """What fused_add_relu_mul does."""
    return torch.relu(x + y) * z


def my_gelu(approximate: str) -> tuple[Function, Function]:
    """Ours and torch's."""
    return (
        lambda x: npu.my_gelu(x, approximate=approximate),
        lambda x: functional.gelu(x, approximate=approximate),
    )


CASES = (
    Case("my_add", npu.my_add, torch.add, "x + y", 2, (3, 0), goals(1 / 0.65, 1.0), goal_of_call=2.0),
    Case("my_add_", npu.my_add_, Tensor.add_, "x += y", 2, (3, 0), in_place=True),
    Case("my_mul", npu.my_mul, torch.mul, "x * y", 2, (3, 5)),
    Case("my_mul", lambda x: npu.my_mul(x, 1.5), lambda x: x * 1.5, "x * 1.5", 1, (2, 2)),
    Case("my_relu", npu.my_relu, torch.relu, "relu", 1, (2, 3)),
    Case("my_relu_", npu.my_relu_, torch.relu_, "relu_", 1, (2, 3), in_place=True),
    Case("fused_add_relu", npu.fused_add_relu, lambda x, y: torch.relu(x + y), "relu(x + y)", 2, (3, 3)),
    Case(
        "fused_add_relu_mul",
        npu.fused_add_relu_mul,
        three_calls,
        "relu(x + y) * z",
        3,
        (4, 6),
        goals(1 / 1.3, 1 / 1.3),
    ),
    Case("my_gelu", *my_gelu("tanh"), "gelu by tanh", 1, (2, 3), goals(0.5, 0.5)),
    Case("my_gelu", *my_gelu("none"), "gelu", 1, (2, 3)),
    Case(
        "my_split",
        lambda x: npu.my_split(x, 0),
        lambda x: tuple(half.clone() for half in x.chunk(2)),
        "clones of x.chunk(2)",
        1,
        (2, 2),
    ),
)


def rows_of(case: Case) -> list[Row]:
    """Both ways, all dtypes and sizes, 64M forward only."""
    rows = []
    for way, moved in zip((forward, backward), case.moved, strict=True):
        functions = [case.ours, case.theirs]
        if way is backward and case.in_place:
            functions = [on_copy(function) for function in functions]
        for dtype in DTYPES:
            for n, size in SIZES.items():
                if way is backward and n == _BIG:
                    continue  # operands, gradients and first uses of memory take half of all the time
                row = Row(
                    case.operator,
                    size,
                    name_of(dtype),
                    case.against,
                    way(*functions, dtype, *[(n,)] * case.operands),
                    way=way.__name__,
                    bytes_moved=moved * n * dtype.itemsize if n > 4 else 0,
                    goal=goal_of(case, n, dtype) if way is forward else None,
                    memory=_MOST_ARRAYS * n * dtype.itemsize if n == _BIG else 0,
                )
                rows.append(row)
    return rows


def goal_of(case: Case, n: int, dtype: torch.dtype) -> float | None:
    """For the way forward."""
    return case.goal_of_call if n == 4 else case.goal.get(dtype.itemsize)


def further(against: str, case: Case, theirs: Callable[[int, torch.dtype], Function], goal: float | None) -> list[Row]:
    """The way forward beside something else; theirs makes it, given the number of elements and the dtype."""
    return [
        Row(
            case.operator,
            size,
            name_of(dtype),
            against,
            lambda n=n, dtype=dtype: forward(case.ours, theirs(n, dtype), dtype, *[(n,)] * case.operands)(),
            bytes_moved=case.moved[0] * n * dtype.itemsize if n > 4 else 0,
            goal=goal if n > 4 else None,
            memory=_MOST_ARRAYS * n * dtype.itemsize if n == _BIG else 0,
        )
        for dtype in DTYPES
        for n, size in SIZES.items()
    ]


def add_into(n: int, dtype: torch.dtype) -> Function:
    """torch.add without its allocation."""
    z = torch.empty(n, dtype=dtype)
    return lambda x, y: torch.add(x, y, out=z)


def three_calls_compiled(n: int, dtype: torch.dtype) -> Function:
    """One loop, by inductor."""
    return compiled(three_calls, *(torch.empty(n, dtype=dtype) for _ in range(3)))


_BY_NAME = {case.operator: case for case in CASES}
ROWS = [row for case in CASES for row in rows_of(case)]
ROWS += further("torch.add(out=)", _BY_NAME["my_add"], add_into, None)
ROWS += further("torch.compile", _BY_NAME["fused_add_relu_mul"], three_calls_compiled, 1.0)
