# SPDX-License-Identifier: Apache-2.0
"""An operator of one's own, ``torch.ops.my_ops.scaled_add``, made of a tile kernel of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import op_extension  # noqa: F401  (first: it brings the device and the libraries that _C.so links to)

__all__ = ["scaled_add"]

torch.ops.load_library(Path(__file__).with_name("_C.so"))


def scaled_add(x: Tensor, y: Tensor, alpha: float) -> Tensor:
    """``x + alpha * y``.

    Args:
        x: ``(*)``, float32, on npu or cpu. Any strides; a tensor that is not contiguous is copied.
        y: same shape, dtype and device.
        alpha: a number.

    Returns:
        ``(*)``, contiguous. Differentiable in ``x`` and ``y``, also twice.
    """
    return torch.ops.my_ops.scaled_add(x, y, alpha)


def _setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, float], output: Tensor) -> None:
    ctx.alpha = inputs[2]


def _backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    of_y = torch.ops.npu.my_mul(gradient, ctx.alpha) if ctx.needs_input_grad[1] else None
    return gradient, of_y, None


torch.library.register_autograd("my_ops::scaled_add", _backward, setup_context=_setup_context)
