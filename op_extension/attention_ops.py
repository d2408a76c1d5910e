# SPDX-License-Identifier: Apache-2.0
"""The name of op_extension.ops for attention."""

from __future__ import annotations

import torch
from torch import Tensor


def my_flash_attention(
    query: Tensor, key: Tensor, value: Tensor, is_causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """``softmax(scale * query @ key^T) @ value`` for each batch and head, without a matrix of all scores.

    Args:
        query: ``(B, H, L, D)``, float32, float16 or bfloat16, on ``npu`` or ``cpu``. D from 1 to 128. Any strides.
        key: ``(B, H, S, D)``, same dtype and device.
        value: ``(B, H, S, D)``, same dtype and device.
        is_causal: row ``i`` takes the keys 0 to ``i`` alone, as in torch's ``scaled_dot_product_attention``.
        scale: None is ``1 / sqrt(D)``.

    Returns:
        The result, ``(B, H, L, D)``, contiguous, in the dtype of ``query``, zeros where S is 0; and logsumexp,
        ``(B, H, L)`` float32, the logarithm of each row's sum of exponentials. Sums are kept in float32, weights are
        rounded to the dtype before ``value`` is multiplied with them: results are within 1.5 times the precision of
        the dtype of the largest ``abs(value)``, for float32 within ``2^-19`` of it where scores are below 16.
        Differentiable in query, key and value, once, through the result, not through logsumexp; all sums are made in
        one order, whatever the number of threads.

    Raises:
        RuntimeError: sizes do not fit, dtypes or devices differ, or ``NPU_SOC`` is no chip of A2 or A3.
        TypeError: the dtype is another one.
        NotImplementedError: a second derivative.

    Needs beside the results, for each block of 128 rows up to the number of cube cores, 384 KiB (float32; 320 KiB of 16
    bits) for tiles between cores; on the way back 256 KiB (192 KiB) for each 64 rows and 4 bytes for each row. What has
    rows that are not contiguous is copied. Autocast computes in the lower dtype. Runs asynchronously on the current
    stream. Source: PTO ISA, TPUSH, TPOP and TROWEXPANDEXPDIF.
    """
    return torch.ops.npu.my_flash_attention(query, key, value, is_causal, scale)  # type: ignore[no-any-return]
