# SPDX-License-Identifier: Apache-2.0
"""An operator of one's own, written in Python: ``torch.ops.mylib.my_add``, the broadcasting sum of two tensors.

It computes with the operators in ``torch.ops.npu``, forward and backward, on npu and on cpu.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from torch import Tensor

import op_extension  # noqa: F401  (the operators)


@torch.library.custom_op("mylib::my_add", mutates_args=(), device_types=("npu", "cpu"))
def my_add(x: Tensor, y: Tensor) -> Tensor:
    """``x + y``, with broadcasting.

    Args:
        x: ``(*)``, a dtype of ``torch.ops.npu.my_add``, on npu or cpu.
        y: shape that broadcasts with ``x``; same dtype and device.
    """
    return torch.ops.npu.my_add(x, y)


@my_add.register_fake
def _(x: Tensor, y: Tensor) -> Tensor:
    """The result without values, for torch.compile and torch.export: npu::my_add has such a kernel, too."""
    return torch.ops.npu.my_add(x, y)


def _setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    x, y = inputs
    ctx.shapes = x.shape, y.shape


def _backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    def sum_to(shape: torch.Size) -> Tensor:  # undoes a broadcast
        return gradient if gradient.shape == shape else torch.ops.npu.sum_to(gradient, shape)

    wanted = zip(ctx.shapes, ctx.needs_input_grad, strict=True)
    return tuple(sum_to(shape) if needs else None for shape, needs in wanted)


my_add.register_autograd(_backward, setup_context=_setup_context)


def main() -> None:
    """Fits a plane to points by gradient descent, with the operator in a compiled step."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--device", choices=("npu", "cpu"), default="npu")
    options = parser.parse_args()

    generator = torch.Generator().manual_seed(0)
    points = torch.randn(500, 2, generator=generator)
    heights = (points @ torch.tensor([2.0, -1.0]) + 3).to(options.device)
    points = points.to(options.device)
    slope = torch.zeros(2, device=options.device, requires_grad=True)
    offset = torch.zeros((), device=options.device, requires_grad=True)

    @torch.compile(backend="aot_eager", fullgraph=True)
    def loss() -> Tensor:
        return (my_add(points @ slope, offset) - heights).square().mean()

    optimizer = torch.optim.SGD([slope, offset], lr=0.1)
    for _ in range(options.steps):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    a, b = slope.tolist()
    print(f"fitted on {options.device}: {a:.3f} * x {b:+.3f} * y {offset.item():+.3f}")


if __name__ == "__main__":
    main()
