# SPDX-License-Identifier: Apache-2.0
"""Typed, documented names of the operators in ``torch.ops.npu``."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from op_extension.attention_ops import my_flash_attention
from op_extension.row_ops import my_cross_entropy, my_layer_norm, my_rms_norm, my_softmax, my_topk, sum_to

__all__ = [
    "fused_add_relu",
    "fused_add_relu_mul",
    "my_add",
    "my_add_",
    "my_conv",
    "my_cross_entropy",
    "my_flash_attention",
    "my_gelu",
    "my_gemm",
    "my_layer_norm",
    "my_mul",
    "my_relu",
    "my_relu_",
    "my_rms_norm",
    "my_softmax",
    "my_split",
    "my_topk",
    "sum_to",
]


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

    Needs no memory beside the result. Autocast computes in the widest dtype of the operands.
    Runs asynchronously on the current stream. Source: pto-isa demos/baseline/add.
    """
    return torch.ops.npu.my_add(x, y)  # type: ignore[no-any-return]


def my_add_(x: Tensor, y: Tensor) -> Tensor:
    """Element-wise sum into ``x``, ``x += y``.

    Args:
        x: ``(*)``, a dtype of :func:`my_add`, on ``npu`` or ``cpu``. Any strides, no two elements in one place.
        y: shape that broadcasts to that of ``x``; same dtype and device.

    Returns:
        ``x``. Rounded as :func:`my_add`; differentiable in both.

    Raises:
        RuntimeError: ``y`` does not broadcast to ``x``, dtypes or devices differ, elements of ``x`` share their
            place, ``x`` and ``y`` overlap in part, or ``x`` is a leaf that wants a gradient.
        TypeError: the dtype is another one.

    Needs no memory, but for a copy of ``y`` when it repeats elements of ``x``. Autocast leaves it alone.
    Runs asynchronously on the current stream. Source: PTO ISA, TADD.
    """
    return torch.ops.npu.my_add_(x, y)  # type: ignore[no-any-return]


def my_mul(x: Tensor, alpha: Tensor | float) -> Tensor:
    """Element-wise product with a tensor, which broadcasts, or with a number.

    Args:
        x: ``(*)``, float32, float16, bfloat16, int32 or float64, on ``npu`` or ``cpu``. Any strides.
        alpha: a tensor that broadcasts with ``x``, of the same dtype and device; or a real number, an integer for
            int32.

    Returns:
        ``(*)`` broadcast, contiguous, in the dtype of ``x``. Each element is rounded once, a number is rounded to
        float32 (float64 for float64) before; int32 wraps. Differentiable in the tensors, also twice.

    Raises:
        RuntimeError: shapes do not broadcast, dtypes or devices differ.
        TypeError: the dtype is another one, or the product with the number would have another one.

    Needs no memory beside the result. Autocast computes in the widest dtype of the operands.
    Runs asynchronously on the current stream. Source: PTO ISA, TMUL and TMULS.
    """
    return torch.ops.npu.my_mul(x, alpha)  # type: ignore[no-any-return]


def my_relu(x: Tensor) -> Tensor:
    """``max(x, 0)``.

    Args:
        x: ``(*)``, float32, float16, bfloat16, int32 or float64, on ``npu`` or ``cpu``. Any strides.

    Returns:
        ``(*)``, contiguous. Exact; NaN stays, -0.0 becomes 0.0. Differentiable, also twice; the gradient at 0 is 0.

    Raises:
        TypeError: the dtype is another one.

    Needs no memory beside the result. Autocast leaves it alone. Runs asynchronously on the current stream.
    Source: PTO ISA, TRELU.
    """
    return torch.ops.npu.my_relu(x)  # type: ignore[no-any-return]


def my_relu_(x: Tensor) -> Tensor:
    """``max(x, 0)`` into ``x``.

    Args:
        x: as for :func:`my_relu`, no two elements in one place.

    Returns:
        ``x``. Differentiable.

    Raises:
        RuntimeError: elements of ``x`` share their place, or ``x`` is a leaf that wants a gradient.
        TypeError: the dtype is another one.

    Needs no memory. Autocast leaves it alone. Runs asynchronously on the current stream. Source: PTO ISA, TRELU.
    """
    return torch.ops.npu.my_relu_(x)  # type: ignore[no-any-return]


def my_gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """``x`` times the normal distribution at ``x``.

    Args:
        x: ``(*)``, float32, float16, bfloat16 or float64, on ``npu`` or ``cpu``. Any strides.
        approximate: "none", or "tanh": ``x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``.

    Returns:
        ``(*)``, contiguous. Computed in float32 (float64 for float64), rounded once more to 16-bit dtypes. float32 is
        within 2 units in the last place of ``x``; below zero within ``6 + x**2`` of those of the result.
        Differentiable twice.

    Raises:
        RuntimeError: ``approximate`` is another string.
        TypeError: the dtype is another one.
        NotImplementedError: a third derivative is asked for.

    Needs no memory beside the result. Autocast leaves it alone. Runs asynchronously on the current stream.
    Source: Hendrycks and Gimpel, Gaussian Error Linear Units.
    """
    return torch.ops.npu.my_gelu(x, approximate=approximate)  # type: ignore[no-any-return]


def my_split(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Copies of the two halves of ``x`` along a dimension; the first half has the odd element.

    Args:
        x: ``(*)`` of at least one dimension, float32, float16, bfloat16, int32 or float64, on ``npu`` or ``cpu``. Any
            strides.
        dim: the dimension, counted from the end when negative.

    Returns:
        Two contiguous tensors. Differentiable, any number of times.

    Raises:
        IndexError: there is no such dimension.
        RuntimeError: ``x`` has no dimension.
        TypeError: the dtype is another one.

    Needs no memory beside the results. Autocast leaves it alone. Runs asynchronously on the current stream.
    Source: PTO ISA, TMOV.
    """
    return torch.ops.npu.my_split(x, dim)  # type: ignore[no-any-return]


def fused_add_relu(x: Tensor, y: Tensor) -> Tensor:
    """``max(x + y, 0)`` in one kernel, with broadcasting.

    Args:
        x: ``(*)``, float32, float16, bfloat16, int32 or float64, on ``npu`` or ``cpu``. Any strides.
        y: shape that broadcasts with ``x``; same dtype and device.

    Returns:
        ``(*)`` broadcast, contiguous. The sum is rounded once; NaN stays. Differentiable in both, also twice.

    Raises:
        RuntimeError: shapes do not broadcast, dtypes or devices differ.
        TypeError: the dtype is another one.

    Needs no memory beside the result. Autocast computes in the widest dtype of the operands.
    Runs asynchronously on the current stream. Source: PTO ISA, TADD and TRELU.
    """
    return torch.ops.npu.fused_add_relu(x, y)  # type: ignore[no-any-return]


def fused_add_relu_mul(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """``max(x + y, 0) * z`` in one kernel, with broadcasting.

    Args:
        x: ``(*)``, float32, float16, bfloat16, int32 or float64, on ``npu`` or ``cpu``. Any strides.
        y: shape that broadcasts with ``x``; same dtype and device.
        z: likewise.

    Returns:
        ``(*)`` broadcast, contiguous. float16 and bfloat16 are computed in float32 and rounded once, at the end.
        Differentiable in all three, also twice.

    Raises:
        RuntimeError: shapes do not broadcast, dtypes or devices differ.
        TypeError: the dtype is another one.

    Needs no memory beside the result; its gradient computes ``max(x + y, 0)`` again. Autocast computes in the widest
    dtype of the operands. Runs asynchronously on the current stream. Source: pto-isa kernels/custom/fused_add_relu_mul.
    """
    return torch.ops.npu.fused_add_relu_mul(x, y, z)  # type: ignore[no-any-return]


def my_gemm(a: Tensor, b: Tensor) -> Tensor:
    """Product of matrices, ``c = a b``, on the cube core.

    Args:
        a: ``(m, k)``, float32, float16, bfloat16 or float64, on ``npu`` or ``cpu``. Any strides.
        b: ``(k, n)``, same dtype and device. Any strides.

    Returns:
        ``(m, n)``, contiguous, zeros for ``k = 0``. An element is a sum in float32 (float64 for float64), in the order
        of ``k``, that is rounded once to the dtype: it is off by at most ``(k + 1) / 2`` ulp of float32 of
        ``abs(a) abs(b)``, and half an ulp of the dtype. Differentiable in both, also twice; float64 is an extension of
        the emulator that no chip has, and goes by the vector cores.

    Raises:
        RuntimeError: an operand is no matrix, the columns of ``a`` are not the rows of ``b``, dtypes or devices differ.
        TypeError: the dtype is another one.

    Needs no memory beside the result, but for a copy of an operand that is contiguous neither along rows nor along
    columns. Autocast computes in its dtype.
    Runs asynchronously on the current stream. Source: pto-isa kernels/manual, gemm.
    """
    return torch.ops.npu.my_gemm(a, b)  # type: ignore[no-any-return]


def my_conv(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
) -> Tensor:
    """Convolution of images with a window, on the cube core; neither dilated nor in groups.

    Args:
        input: ``(n, c, h, w)``, float32, float16, bfloat16 or float64, on ``npu`` or ``cpu``. Any strides.
        weight: ``(co, c, kh, kw)``, same dtype and device. Any strides.
        bias: ``(co)``, same dtype and device.
        stride: of the window, one positive number or two, vertical first.
        padding: zeros around the images, one number or two.

    Returns:
        ``(n, co, (h + 2 padding - kh) // stride + 1, ...)``, contiguous. Sums are kept in float32 (float64 for float64)
        and rounded once: an element is off by at most as many halves of an ulp of float32 as it has terms plus one, of
        the sum of their absolute values, and half an ulp of the dtype. Differentiable in all three, also twice.

    Raises:
        RuntimeError: dimensions or channels do not fit, the stride is not positive, the padding is negative, the window
            is larger than the padded images, dtypes or devices differ.
        TypeError: the dtype is another one.

    Needs at most 2^20 elements beside the result, or as many as the window sees from one row of its places (``c * kh *
    kw`` times the width of the output; at stride 1, or where an image fits the core, one padded image and its output)
    where that is more, a copy of ``weight`` or 128 KiB, and at a stride above 1 one of ``input`` unless its rows are
    contiguous. So do its gradients, that of ``weight`` with what the window sees of one channel (``n * kh * kw`` times
    the plane of the output). Autocast computes in its dtype.
    Runs asynchronously on the current stream. Source: torch.nn.functional.conv2d.
    """
    return torch.ops.npu.my_conv(input, weight, bias, stride, padding)  # type: ignore[no-any-return]
