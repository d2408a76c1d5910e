# SPDX-License-Identifier: Apache-2.0
"""Typed, documented names of the operators in ``torch.ops.npu``."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = [
    "fused_add_relu",
    "fused_add_relu_mul",
    "my_add",
    "my_add_",
    "my_conv",
    "my_cross_entropy",
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


def my_layer_norm(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(variance + eps) * weight + bias`` over the last dimensions, as torch's ``layer_norm``.

    Args:
        x: ``(*, *normalized_shape)``, float32, float16, bfloat16 or float64, on ``npu`` or ``cpu``. Any strides.
        normalized_shape: the last sizes of ``x``, at least one.
        weight: ``normalized_shape``, same dtype and device.
        bias: ``normalized_shape``, same dtype and device.
        eps: what is added to the variance.

    Returns:
        The shape and dtype of ``x``, contiguous. Computed in float32 (float64 for float64) and rounded once: within
        4 times the precision of float32 of ``(abs(x) + mean(abs(x))) / root * abs(weight) + abs(bias)``, root being
        the square root above.
        Differentiable in the tensors, also twice; gradients of weight and bias are sums in float32 in a fixed order.

    Raises:
        RuntimeError: ``normalized_shape`` is not what ``x`` ends with, or shape, dtype or device of weight or bias
            differ from what they are to be.
        TypeError: the dtype is another one.

    Needs no memory beside the result, but for a copy of ``x`` when its last dimensions do not lie behind each other
    without gaps. Autocast computes in float32. Runs asynchronously on the current stream.
    Source: PTO ISA, TROWSUM and TROWEXPANDMUL.
    """
    return torch.ops.npu.my_layer_norm(x, normalized_shape, weight, bias, eps)  # type: ignore[no-any-return]


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


def my_cross_entropy(self: Tensor, target: Tensor, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """Cross entropy of rows and their classes, ``log(sum(exp(self))) - self[row, target[row]]``.

    Args:
        self: ``(N, C)`` logits, float32, float16, bfloat16 or float64, on ``npu`` or ``cpu``. Any strides.
        target: ``(N)`` classes, int64, on the same device. Any strides.
        ignore_index: the label of rows that count for nothing, whatever they hold.
        reduction: ``"none"``, ``"sum"``, or ``"mean"`` over the rows that count.

    Returns:
        ``(N)`` for ``"none"``, else a tensor without dimensions, in the dtype of ``self``. Computed in float32 (float64
        for float64) and rounded once. The mean of no row is NaN. Differentiable in ``self``, in float32 and float64
        also twice: the gradient is ``softmax - onehot``, scaled, and 0 for rows that are ignored if they are finite.

    Raises:
        IndexError: a label on ``cpu`` is neither a class nor ``ignore_index``. On ``npu`` it stops the kernel: a
            RuntimeError when the stream is waited for.
        RuntimeError: sizes do not fit, ``target`` has another dtype or device.
        TypeError: the dtype of ``self`` is another one.
        ValueError: ``reduction`` is another one.

    Needs 4 bytes for each row (8 of float64) beside the result for sums, means and gradients, and a copy of ``self``
    when classes are not contiguous. Autocast computes in float32. Runs asynchronously on the current stream.
    Source: PTO ISA, TROWMAX, TROWEXPANDEXPDIF, TROWSUM and TLOG.
    """
    return torch.ops.npu.my_cross_entropy(self, target, ignore_index, reduction)  # type: ignore[no-any-return]


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


def my_rms_norm(
    x: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """``x / sqrt(mean(x**2) + eps) * weight`` over the last dimensions, as torch's ``rms_norm``.

    Args:
        x: ``(*, *normalized_shape)``, float32, float16, bfloat16 or float64, on ``npu`` or ``cpu``. Any strides.
        normalized_shape: the last sizes of ``x``, at least one.
        weight: ``normalized_shape``, same dtype and device.
        eps: what is added to the mean; None is the precision of the dtype that is computed in.

    Returns:
        The shape and dtype of ``x``, contiguous. Computed in float32 (float64 for float64) and rounded once: within 4
        times the precision of float32 of the exact result. Differentiable in the tensors, also twice; the gradient of
        weight is a sum in float32 in a fixed order.

    Raises:
        RuntimeError: ``normalized_shape`` is not what ``x`` ends with, or shape, dtype or device of weight differ from
            what they are to be.
        TypeError: the dtype is another one.

    Needs no memory beside the result, but for a copy of ``x`` when its last dimensions do not lie behind each other
    without gaps. Autocast computes in float32. Runs asynchronously on the current stream.
    Source: PTO ISA, TROWSUM and TROWEXPANDMUL.
    """
    return torch.ops.npu.my_rms_norm(x, normalized_shape, weight, eps)  # type: ignore[no-any-return]


def my_softmax(x: Tensor, dim: int) -> Tensor:
    """``exp(x - m) / sum(exp(x - m))`` over one dimension, ``m`` the largest ``x`` there.

    Args:
        x: ``(*)``, float32, float16, bfloat16 or float64, on ``npu`` or ``cpu``. Any strides.
        dim: the dimension, from ``-x.dim()`` to ``x.dim() - 1``.

    Returns:
        ``(*)``, contiguous, in the dtype of ``x``. Computed in float32 (float64 for float64) and rounded once: within
        ``4 + m - x`` ulp, and half an ulp more for each 1024 elements of the dimension, each 16 if it is not the
        last; so 0.51 ulp for 16 bits but for very long dimensions. -inf gives 0, NaN, +inf and nothing but -inf give
        NaN for all of the dimension. Differentiable, also twice.

    Raises:
        IndexError: ``x`` has no dimension ``dim``.
        TypeError: the dtype is another one.

    Needs no memory beside the result. Autocast computes in float32. Runs asynchronously on the current stream.
    Source: PTO ISA, TROWMAX, TROWEXPANDEXPDIF and TROWSUM; TCOLMAX and its neighbours over other dimensions.
    """
    return torch.ops.npu.my_softmax(x, dim)  # type: ignore[no-any-return]


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


def my_topk(self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The ``k`` largest or smallest elements along a dimension, and their indices.

    Args:
        self: ``(*)``, float32, float16 or bfloat16, on ``npu`` or ``cpu``. Any strides.
        k: how many, from 0 to the size of the dimension.
        dim: the dimension, counted from the end when negative.
        largest: False for the smallest ones.
        sorted: results are in order in any case.

    Returns:
        Values in the dtype of ``self`` and int64 indices, contiguous, of size ``k`` in ``dim``. NaN counts as the
        largest. Of equal elements, to which the two zeros and all NaN belong, the lowest index goes first: the same
        as of a stable sort. Differentiable in the values, also twice.

    Raises:
        IndexError: ``self`` has no dimension ``dim``.
        RuntimeError: ``k`` is out of range, or the dimension has 2^31 elements or more.
        TypeError: the dtype is another one.

    Needs no memory beside the results along a contiguous dimension, else a copy of ``self``, and of the results unless
    ``dim`` is the last one. Time grows with each 2048 of ``k``. Runs asynchronously on the current stream.
    Source: PTO ISA, TCMPS, TSORT32 and TMRGSORT.
    """
    return torch.ops.npu.my_topk(self, k, dim, largest, sorted)  # type: ignore[no-any-return]


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
