# SPDX-License-Identifier: Apache-2.0
"""``my_gemm`` and ``my_conv`` on npu against torch on CPU, forward and backward."""

from collections.abc import Callable

import torch
from torch.nn import functional

import op_extension  # noqa: F401  (registers the operators)
from bench.pairs import Pair, finished
from bench.row import Row

FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def my_gemm(size: int, dtype: torch.dtype, dtype_of_torch: torch.dtype) -> Callable[[], Pair]:
    """Square matrices."""

    def make() -> Pair:
        a, b = torch.randn(size, size).to(dtype), torch.randn(size, size).to(dtype)
        a_npu, b_npu = a.npu(), b.npu()
        a, b = a.to(dtype_of_torch), b.to(dtype_of_torch)
        return finished(lambda: torch.ops.npu.my_gemm(a_npu, b_npu)), lambda: a @ b

    return make


def my_conv(images: int, channels: int, outputs: int, side: int, dtype: torch.dtype, way: str) -> Callable[[], Pair]:
    """A window of 3 x 3 with padding 1. way: forward, or the gradient of "input" or "weight"."""

    def make() -> Pair:
        x, w = torch.randn(images, channels, side, side).to(dtype), torch.randn(outputs, channels, 3, 3).to(dtype)
        g, b = torch.randn(images, outputs, side, side).to(dtype), torch.randn(outputs).to(dtype)
        x_npu, w_npu, g_npu, b_npu = (t.npu() for t in (x, w, g, b))
        npu = torch.ops.npu
        if way == "forward":
            return finished(lambda: npu.my_conv(x_npu, w_npu, b_npu, 1, 1)), lambda: functional.conv2d(x, w, b, 1, 1)
        if way == "input":
            ours = finished(lambda: npu.my_conv_backward_input(g_npu, w_npu, (side, side), 1, 1))
            return ours, lambda: torch.nn.grad.conv2d_input(x.shape, w, g, 1, 1)
        ours = finished(lambda: npu.my_conv_backward_weight(g_npu, x_npu, (3, 3), 1, 1))
        return ours, lambda: torch.nn.grad.conv2d_weight(x, w.shape, g, 1, 1)

    return make


ROWS = [
    *(Row(f"my_gemm, {n}^3 {str(t)[6:]}", my_gemm(n, t, torch.float32)) for n in (16, 64, 256, 1024) for t in FLOATS),
    Row("my_gemm, 1024^3 float16, torch in float16", my_gemm(1024, torch.float16, torch.float16)),
    *(
        Row(f"my_conv {way}, ({n}, {c}, {s}, {s}) to {co} {str(t)[6:]}", my_conv(n, c, co, s, t, way))
        for n, c, co, s in ((8, 32, 32, 32), (64, 1, 16, 8), (64, 16, 32, 8))
        for t in (torch.float32, torch.float16)
        for way in ("forward", "input", "weight")
    ),
]
