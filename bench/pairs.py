# SPDX-License-Identifier: Apache-2.0
"""Pairs of functions that do the same work, ours on npu and torch's on CPU."""

from collections.abc import Callable

import torch
from torch import Tensor

Pair = tuple[Callable[[], object], Callable[[], object]]
Function = Callable[..., Tensor]


def finished(compute: Callable[[], object]) -> Callable[[], None]:
    """``compute``, and a wait for its work."""

    def run() -> None:
        compute()
        torch.npu.synchronize()

    return run


def forward(ours: Function, theirs: Function, dtype: torch.dtype, *shapes: tuple[int, ...]) -> Callable[[], Pair]:
    """Calls without gradients, on normal values of these shapes."""

    def make() -> Pair:
        cpu = [torch.randn(shape).to(dtype) for shape in shapes]
        npu = [x.to("npu") for x in cpu]
        return finished(lambda: ours(*npu)), lambda: theirs(*cpu)

    return make


def backward(ours: Function, theirs: Function, dtype: torch.dtype, *shapes: tuple[int, ...]) -> Callable[[], Pair]:
    """The way back alone, for all operands; the graph is made once."""

    def make() -> Pair:
        cpu = [torch.randn(shape).to(dtype).requires_grad_() for shape in shapes]
        npu = [x.detach().to("npu").requires_grad_() for x in cpu]
        z, z_npu = theirs(*cpu), ours(*npu)
        gradient = torch.randn(z.shape).to(dtype)
        gradient_npu = gradient.to("npu")
        return (
            finished(lambda: torch.autograd.grad(z_npu, npu, gradient_npu, retain_graph=True)),
            lambda: torch.autograd.grad(z, cpu, gradient, retain_graph=True),
        )

    return make
