# SPDX-License-Identifier: Apache-2.0
"""Fused attention under the name that torch_npu has for inference."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

__all__ = ["npu_fused_infer_attention_score"]

_NAME = "npu_fused_infer_attention_score"
_LAYOUTS = ("BSH", "BSND", "BNSD")
# Of the chip's sparse modes: a whole mask, all of it, and the causal ones that start at either corner.
_MODES = (0, 1, 2, 3)
_FOREVER = 2147483647
_DTYPES = (torch.float16, torch.bfloat16)
_MASKS = (torch.bool, torch.int8, torch.uint8)


def npu_fused_infer_attention_score(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    atten_mask: Tensor | None = None,
    num_heads: int = 1,
    scale: float = 1.0,
    pre_tokens: int = _FOREVER,
    next_tokens: int = _FOREVER,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    sparse_mode: int = 0,
    inner_precise: int = 0,
    softmax_lse_flag: bool = False,
    **others: Any,
) -> tuple[Tensor, Tensor]:
    """Attention of ``query`` over ``key`` and ``value``, by PyTorch's own on the memory of the device.

    Args:
        query: ``(B, S, N*D)``, ``(B, S, N, D)`` or ``(B, N, S, D)``, as the layout says; float16 or bfloat16.
        key: like query, with its own number of rows and of heads.
        value: like key.
        atten_mask: bool, int8 or uint8, broadcasts to ``(B, N, S, S of key)``; what is not 0 is left out.
        num_heads: heads of query.
        scale: factor of the scores.
        pre_tokens: with a mask and sparse mode 0, columns before the diagonal that count.
        next_tokens: with a mask and sparse mode 0, columns behind the diagonal that count. Without a mask all do.
        input_layout: BSH, BSND or BNSD.
        num_key_value_heads: heads of key and value; 0 for those of query.
        sparse_mode: 0 and 1 take the mask as it is, 2 and 3 are causal from the upper left and the lower right corner.
        inner_precise: accepted; sums are in float32 always.
        softmax_lse_flag: whether the second result is asked for.
        others: further arguments of torch_npu, which must be None or their default.

    Returns:
        The result in the layout and dtype of query, and the logarithms of the sums of the exponentials,
        ``(B, N, S, 1)`` in float32; one zero where they are not asked for.

    Raises:
        NotImplementedError: an argument that is not there.
        ValueError: shapes, dtypes or a layout that do not fit.
    """
    _check(query, key, value, input_layout, sparse_mode, others)
    heads = (num_heads, num_key_value_heads or num_heads)
    q, k, v = (
        _split(x, n, input_layout, which)
        for x, n, which in ((query, heads[0], "query"), (key, heads[1], "key"), (value, heads[1], "value"))
    )
    if heads[1] == 0 or heads[0] % heads[1]:
        raise ValueError(f"{_NAME}: expected num_heads a multiple of num_key_value_heads {heads[1]}, got {heads[0]}")
    if k.shape[:3] != v.shape[:3] or q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3]:
        shapes = ", ".join(str(tuple(x.shape)) for x in (query, key, value))
        raise ValueError(f"{_NAME}: expected query, key and value that fit each other, got {shapes}")
    allowed = _allowed(q, k, atten_mask, sparse_mode, (pre_tokens, next_tokens))
    group = heads[0] // heads[1]
    k, v = (x.repeat_interleave(group, 1) if group > 1 else x for x in (k, v))
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed, scale=scale)
    lse = _lse(q, k, allowed, scale) if softmax_lse_flag else torch.zeros(1, device=query.device)
    return _join(out, input_layout).to(query.dtype), lse


def _check(query: Tensor, key: Tensor, value: Tensor, layout: str, mode: int, others: dict[str, Any]) -> None:
    for name, given in others.items():
        if given is not None and not (isinstance(given, int | float) and given == 0):
            found = f"a tensor of shape {tuple(given.shape)}" if isinstance(given, Tensor) else f"{given!r:.60}"
            raise NotImplementedError(f"{_NAME}: expected no argument {name} (it is not emulated), got {found}")
    if layout not in _LAYOUTS:
        raise NotImplementedError(f"{_NAME}: expected {', '.join(_LAYOUTS)} as input_layout, got {layout}")
    if mode not in _MODES:
        raise NotImplementedError(f"{_NAME}: expected one of {_MODES} as sparse_mode, got {mode}")
    dimensions = 3 if layout == "BSH" else 4
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dtype not in _DTYPES or tensor.dtype != query.dtype:
            raise ValueError(f"{_NAME}: expected {name} of one dtype, float16 or bfloat16, got {tensor.dtype}")
        if tensor.dim() != dimensions:
            raise ValueError(f"{_NAME}: expected {name} in layout {layout}, got shape {tuple(tensor.shape)}")


def _split(tensor: Tensor, heads: int, layout: str, which: str) -> Tensor:
    """(B, N, S, D) of a tensor in any layout."""
    if layout == "BSH":
        if heads <= 0 or tensor.shape[2] % heads:
            raise ValueError(f"{_NAME}: expected {which} of {heads} heads, got shape {tuple(tensor.shape)}")
        return tensor.reshape(*tensor.shape[:2], heads, -1).transpose(1, 2)
    found = tensor.transpose(1, 2) if layout == "BSND" else tensor
    if found.shape[1] != heads:
        raise ValueError(f"{_NAME}: expected {which} of {heads} heads, got {found.shape[1]}")
    return found


def _join(out: Tensor, layout: str) -> Tensor:
    if layout == "BNSD":
        return out
    rows = out.transpose(1, 2)
    return rows.flatten(2) if layout == "BSH" else rows.contiguous()


def _allowed(q: Tensor, k: Tensor, mask: Tensor | None, mode: int, tokens: tuple[int, int]) -> Tensor | None:
    """Which scores count, in bool; None for all."""
    rows, columns = q.shape[2], k.shape[2]
    distance = torch.arange(columns).unsqueeze(0) - torch.arange(rows).unsqueeze(1)
    if mode in (2, 3):  # the mask is a fixed pattern that says no more than the mode
        return (distance <= (columns - rows if mode == 3 else 0)).to(q.device)
    if mask is None:
        return None
    allowed = _checked_mask(q, k, mask).to(torch.bool).logical_not()
    if mode == 0:
        within = (distance <= tokens[1]) & (distance >= -tokens[0])
        allowed = allowed & within.to(q.device)
    return allowed


def _checked_mask(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    """A mask that broadcasts to (B, N, S, S of key): of three dimensions, the first is that of the batch."""
    if not isinstance(mask, Tensor) or mask.dtype not in _MASKS or mask.device != q.device:
        found = f"{mask.dtype} on {mask.device}" if isinstance(mask, Tensor) else f"{mask!r:.60}"
        raise ValueError(f"{_NAME}: expected atten_mask in bool, int8 or uint8 on {q.device}, got {found}")
    whole = (*q.shape[:3], k.shape[2])
    spread = mask.unsqueeze(1) if mask.dim() == 3 else mask
    lengths = zip(reversed(spread.shape), reversed(whole), strict=False)
    if spread.dim() > 4 or any(length not in (1, wanted) for length, wanted in lengths):
        raise ValueError(f"{_NAME}: expected atten_mask that broadcasts to {whole}, got {tuple(mask.shape)}")
    return spread


def _lse(q: Tensor, k: Tensor, allowed: Tensor | None, scale: float) -> Tensor:
    scores = (q.float() @ k.float().transpose(2, 3)) * scale
    if allowed is not None:
        scores = scores.masked_fill(allowed.logical_not(), -math.inf)
    return scores.logsumexp(-1, keepdim=True)
