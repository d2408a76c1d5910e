# SPDX-License-Identifier: Apache-2.0
"""Typed, documented names of the operators in ``torch.ops.npu``."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["my_add", "sum_to"]


def my_add(x: Tensor, y: Tensor) -> Tensor:
    """Element-wise sum, ``z = x + y``, with broadcasting.

    Args:
        x: ``(*)``, float32, float16, bfloat16, int32 or float64, on ``npu`` or ``cpu``. Any strides.
        y: shape that broadcasts with ``x``; same dtype and device.

    Returns:
        ``(*)`` broadcast, contiguous. Each element is rounded once (nearest even), int32 wraps. Differentiable in
        both, also twice; float64 is an extension of the emulator that no chip has.

    Raises:
        RuntimeError: shapes do not broadcast, dtypes or devices differ.
        TypeError: the dtype is another one.
        NotImplementedError: float64 on ``npu`` while ``npu_backend.strict_dtypes`` is on.

    Under autocast it computes in the dtype of its operands. Runs asynchronously on the current stream. Source: pto-isa
    demos/baseline/add.
    """
    return torch.ops.npu.my_add(x, y)  # type: ignore[no-any-return]


def sum_to(x: Tensor, size: Sequence[int]) -> Tensor:
    """Sum of ``x`` over the dimensions in which ``size`` has extent 1 or no dimension; undoes a broadcast.

    Args:
        x: ``(*)``, float32, float16, bfloat16 or float64, on ``npu`` or ``cpu``. Any strides.
        size: a size that broadcasts to that of ``x``.

    Returns:
        ``size``, contiguous, in the dtype of ``x``. Sums are kept in float32 (float64 for float64) and rounded once.
        Differentiable.

    Raises:
        RuntimeError: ``size`` does not broadcast to the size of ``x``, or the dtype is int32.
        TypeError: the dtype is another one.

    Runs asynchronously on the current stream. It is the gradient of broadcasting in :func:`my_add`.
    """
    return torch.ops.npu.sum_to(x, size)  # type: ignore[no-any-return]
