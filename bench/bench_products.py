# SPDX-License-Identifier: Apache-2.0
"""``my_gemm`` and ``my_conv`` on npu against torch on CPU, forward and backward."""

from collections.abc import Callable, Iterator

import torch
from torch.nn import functional

import op_extension  # noqa: F401  (registers the operators)
from bench.pairs import DTYPES, backward, finished, forward, name_of, values
from bench.row import Pair, Row

npu = torch.ops.npu
HALVES = (torch.float16, torch.bfloat16)
# Forward and goal for 1024^3 float16, by the dtype of torch.
GOAL_OF_GEMM = {torch.float32: 1 / 0.7, torch.float16: 1 / 25}


def gemm(size: int, dtype: torch.dtype, torch_dtype: torch.dtype, goal: float | None = None) -> Iterator[Row]:
    """Square matrices, both ways."""
    shapes = (size, size), (size, size)
    for way, products in ((forward, 1), (backward, 2)):
        yield Row(
            "my_gemm",
            f"{size}^3",
            name_of(dtype),
            f"torch.mm of {name_of(torch_dtype)}",
            way(npu.my_gemm, torch.mm, dtype, *shapes, torch_dtype=torch_dtype),
            way=way.__name__,
            operations=products * 2 * size**3,
            goal=goal if way is forward else None,
        )


def my_conv(
    images: int, channels: int, outputs: int, side: int, dtype: torch.dtype, torch_dtype: torch.dtype, way: str
) -> Callable[[], Pair]:
    """A window of 3 x 3 with padding 1. way: forward, or the gradient of "input" or "weight"."""

    def make() -> Pair:
        shapes = (images, channels, side, side), (outputs, channels, 3, 3), (images, outputs, side, side), (outputs,)
        cpu = [values(shape, dtype) for shape in shapes]
        x_npu, w_npu, g_npu, b_npu = (t.npu() for t in cpu)
        x, w, g, b = (t.to(torch_dtype) for t in cpu)
        if way == "forward":
            return finished(lambda: npu.my_conv(x_npu, w_npu, b_npu, 1, 1)), lambda: functional.conv2d(x, w, b, 1, 1)
        if way == "input":
            ours = finished(lambda: npu.my_conv_backward_input(g_npu, w_npu, (side, side), 1, 1))
            return ours, lambda: torch.nn.grad.conv2d_input(x.shape, w, g, 1, 1)
        ours = finished(lambda: npu.my_conv_backward_weight(g_npu, x_npu, (3, 3), 1, 1))
        return ours, lambda: torch.nn.grad.conv2d_weight(x, w.shape, g, 1, 1)

    return make


def conv(
    images: int, channels: int, outputs: int, side: int, dtype: torch.dtype, torch_dtype: torch.dtype
) -> list[Row]:
    """The three ways."""
    is_goal = torch_dtype == torch.float32
    return [
        Row(
            "my_conv",
            f"{images}x{channels}x{side}x{side} to {outputs}",
            name_of(dtype),
            f"conv2d of {name_of(torch_dtype)}",
            my_conv(images, channels, outputs, side, dtype, torch_dtype, way),
            way="forward" if way == "forward" else f"backward, {way}",
            operations=2 * images * side * side * outputs * channels * 9,
            goal=2.0 if way == "forward" and is_goal else None,
        )
        for way in ("forward", "input", "weight")
    ]


ROWS: list[Row] = []
for n in (16, 64, 256, 1024):
    for dtype in DTYPES:
        goal = GOAL_OF_GEMM[torch.float32] if (n, dtype) == (1024, torch.float16) else None
        ROWS += gemm(n, dtype, torch.float32, goal)
for dtype in HALVES:
    ROWS += [row for row in gemm(1024, dtype, dtype, GOAL_OF_GEMM.get(dtype)) if row.way == "forward"]
for sizes in ((8, 32, 32, 32), (64, 1, 16, 8), (64, 16, 32, 8)):
    for dtype in DTYPES:
        ROWS += conv(*sizes, dtype, torch.float32)
for dtype in HALVES:
    ROWS += [row for row in conv(8, 32, 32, 32, dtype, dtype) if row.way == "forward"]
