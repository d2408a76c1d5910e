# SPDX-License-Identifier: Apache-2.0
"""The comparison of ``assertRtolEqual``."""

from __future__ import annotations

import torch
from torch import Tensor

_LIKE_FLOAT32 = (torch.float32, torch.float64, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
# What keeps the denominator from being 0.
_EPSILON_16 = 6e-8
_EPSILON = 1e-9


def rtol_sentence(x: Tensor, y: Tensor, prec: float, prec16: float, auto_trans_dtype: bool) -> str:
    """What is wrong with x, empty when it is near enough to y."""
    if auto_trans_dtype:
        x = x.to(y.dtype)
    if x.shape != y.shape:
        return f"expected shape {tuple(y.shape)}, got {tuple(x.shape)}"
    if x.dtype != y.dtype:
        return f"expected dtype {y.dtype}, got {x.dtype}"
    if x.dtype == torch.bool:
        return "" if torch.equal(x, y) else f"expected equal bools, got {int((x != y).sum())} of {x.numel()} different"
    if x.dtype == torch.bfloat16:
        near = torch.allclose(x.float(), y.float(), rtol=prec16, atol=prec16, equal_nan=True)
        return "" if near else f"expected values within {prec16}, got one that is off by {_greatest(x, y):.3g}"
    if x.dtype == torch.float16:
        return _sentence(x, y, prec16, _EPSILON_16)
    if x.dtype in _LIKE_FLOAT32:
        return _sentence(x, y, prec, _EPSILON)
    return f"expected a dtype of bool, integers or real floats, got {x.dtype}"


def _sentence(x: Tensor, y: Tensor, precision: float, epsilon: float) -> str:
    if not torch.equal(x.isnan(), y.isnan()):
        return f"expected NaN in the same places, got {int((x.isnan() != y.isnan()).sum())} different ones"
    # Integers and 16-bit floats without loss; infinities of one sign are equal.
    got, expected = x.double(), y.double()
    same = (got == expected) | got.isnan()
    error = torch.where(same, 0.0, (got - expected).abs())
    relative = torch.where(same, 0.0, error / (torch.maximum(got.abs(), expected.abs()) + epsilon)).nan_to_num(1.0)
    wrong_relative, wrong = relative > precision, error > precision
    allowed = x.numel() * precision
    both = bool((wrong_relative & wrong).any())
    if not (both and wrong_relative.sum() > allowed and wrong.sum() > allowed):
        return ""
    return (
        f"expected at most a share {precision} of the elements off by more than {precision}, got "
        f"{int(wrong_relative.sum())} of {x.numel()} relatively and {int(wrong.sum())} absolutely; "
        f"greatest error {float(error.max()):.3g}, relatively {float(relative.max()):.3g}"
    )


def _greatest(x: Tensor, y: Tensor) -> float:
    return float((x.double() - y.double()).abs().nan_to_num(torch.inf).max())
