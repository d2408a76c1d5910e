# SPDX-License-Identifier: Apache-2.0
"""Pairs of functions that do the same work, ours on npu and torch's on CPU."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from bench.row import Pair

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
Function = Callable[..., Tensor | tuple[Tensor, ...]]
_NORMAL_VALUES = 1_000_000


def name_of(dtype: torch.dtype) -> str:
    """Without its module."""
    return str(dtype).removeprefix("torch.")


def finished(compute: Callable[[], object]) -> Callable[[], None]:
    """``compute``, and a wait for its work."""

    def run() -> None:
        compute()
        torch.npu.synchronize()

    return run


def values(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Normal values; where there are more than a million, the same again, since drawing takes longer than timing."""
    count = math.prod(shape)
    drawn = torch.randn(min(count, _NORMAL_VALUES))
    return drawn.repeat(-(-count // _NORMAL_VALUES))[:count].to(dtype).reshape(shape)


def operands(
    dtype: torch.dtype, torch_dtype: torch.dtype | None, *shapes: tuple[int, ...]
) -> tuple[list[Tensor], list[Tensor]]:
    """Normal values of these shapes on npu, and the same on CPU; there in another dtype if one is given."""
    cpu = [values(shape, dtype) for shape in shapes]
    return [x.to("npu") for x in cpu], [x.to(torch_dtype or dtype) for x in cpu]


def forward(
    ours: Function,
    theirs: Function,
    dtype: torch.dtype,
    *shapes: tuple[int, ...],
    torch_dtype: torch.dtype | None = None,
) -> Callable[[], Pair]:
    """Calls without gradients, on normal values of these shapes; torch's in another dtype if one is given."""

    def make() -> Pair:
        npu, cpu = operands(dtype, torch_dtype, *shapes)
        return finished(lambda: ours(*npu)), lambda: theirs(*cpu)

    return make


def backward(
    ours: Function,
    theirs: Function,
    dtype: torch.dtype,
    *shapes: tuple[int, ...],
    torch_dtype: torch.dtype | None = None,
) -> Callable[[], Pair]:
    """The way back alone, for all operands; the graph is made once."""

    def make() -> Pair:
        npu, cpu = operands(dtype, torch_dtype, *shapes)
        for x in (*npu, *cpu):
            x.requires_grad_()
        z, z_npu = _as_tuple(theirs(*cpu)), _as_tuple(ours(*npu))
        gradients_npu = [values(out.shape, dtype).to("npu") for out in z_npu]
        gradients = [g.cpu().to(torch_dtype or dtype) for g in gradients_npu]
        return (
            finished(lambda: torch.autograd.grad(z_npu, npu, gradients_npu, retain_graph=True)),
            lambda: torch.autograd.grad(z, cpu, gradients, retain_graph=True),
        )

    return make


def _as_tuple(result: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return (result,) if isinstance(result, Tensor) else tuple(result)
