# SPDX-License-Identifier: Apache-2.0
"""Softmax and norms on npu against torch's on CPU, forward and backward."""

from collections.abc import Callable

import torch

import op_extension  # noqa: F401  (registers the operators)
from bench.row import Row

Make = Callable[[], tuple[Callable[[], object], Callable[[], object]]]
Function = Callable[..., torch.Tensor]

ours = torch.ops.npu
theirs = torch.nn.functional


def forward(our: Function, their: Function, dtype: torch.dtype, *shapes: tuple[int, ...]) -> Make:
    """Calls without gradients."""

    def make() -> tuple[Callable[[], object], Callable[[], object]]:
        cpu = [torch.randn(shape).to(dtype) for shape in shapes]
        npu = [x.to("npu") for x in cpu]

        def run() -> None:
            our(*npu)
            torch.npu.synchronize()

        return run, lambda: their(*cpu)

    return make


def backward(our: Function, their: Function, dtype: torch.dtype, *shapes: tuple[int, ...]) -> Make:
    """The way back alone, for all operands."""

    def make() -> tuple[Callable[[], object], Callable[[], object]]:
        cpu = [torch.randn(shape).to(dtype).requires_grad_() for shape in shapes]
        npu = [x.detach().to("npu").requires_grad_() for x in cpu]
        z, z_npu = their(*cpu), our(*npu)
        gradient = torch.randn(z.shape).to(dtype)
        gradient_npu = gradient.to("npu")

        def run() -> None:
            torch.autograd.grad(z_npu, npu, gradient_npu, retain_graph=True)
            torch.npu.synchronize()

        return run, lambda: torch.autograd.grad(z, cpu, gradient, retain_graph=True)

    return make


def softmax(dim: int) -> tuple[Function, Function]:
    """Over one dimension."""
    return lambda x: ours.my_softmax(x, dim), lambda x: torch.softmax(x, dim)


def layer_norm() -> tuple[Function, Function]:
    """Over rows, with weight and bias."""
    return (
        lambda x, weight, bias: ours.my_layer_norm(x, weight.shape, weight, bias),
        lambda x, weight, bias: theirs.layer_norm(x, weight.shape, weight, bias),
    )


def rms_norm() -> tuple[Function, Function]:
    """Over rows, with weight."""
    return (
        lambda x, weight: ours.my_rms_norm(x, weight.shape, weight),
        lambda x, weight: theirs.rms_norm(x, weight.shape, weight),
    )


ROWS = []
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    for rows, width in ((1024, 1024), (4, 1), (65536, 10), (256, 8192)):
        size = f"{rows}x{width} {str(dtype)[6:]}"
        for way, times in ((forward, 2), (backward, 3)):
            moved = times * rows * width * dtype.itemsize
            x, row = (rows, width), (width,)
            prefix = f"{way.__name__} of "
            ROWS.append(Row(f"{prefix}my_softmax, {size}", way(*softmax(-1), dtype, x), moved))
            ROWS.append(Row(f"{prefix}my_softmax dim 0, {size}", way(*softmax(0), dtype, x), moved))
            ROWS.append(Row(f"{prefix}my_layer_norm, {size}", way(*layer_norm(), dtype, x, row, row), moved))
            ROWS.append(Row(f"{prefix}my_rms_norm, {size}", way(*rms_norm(), dtype, x, row), moved))
