# SPDX-License-Identifier: Apache-2.0
"""The names of op_extension.ops for operators over dimensions: they reduce, normalise or order what lies along one."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


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
