# SPDX-License-Identifier: Apache-2.0
"""Inputs of the operator tests: every kind of number, every kind of layout."""

import math

import torch

SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan)


def random_bits(count: int, dtype: torch.dtype, seed: int) -> torch.Tensor:
    """``count`` values of a 16-bit float dtype with uniformly random bits: subnormals, infinities and NaN included."""
    generator = torch.Generator().manual_seed(seed)
    bits = torch.randint(-(2**15), 2**15, (count,), dtype=torch.int16, generator=generator)
    return bits.view(dtype)


def random_values(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    """Normal floats with special values among them, or integers over the whole range."""
    generator = torch.Generator().manual_seed(seed)
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        return torch.randint(info.min, info.max, shape, dtype=dtype, generator=generator)
    values = torch.randn(shape, dtype=torch.float64, generator=generator).to(dtype)
    flat = values.view(-1)
    special = torch.tensor([*SPECIAL, torch.finfo(dtype).max, torch.finfo(dtype).smallest_normal / 4], dtype=dtype)
    if flat.numel() >= 4 * special.numel():
        places = torch.randperm(flat.numel(), generator=generator)[: special.numel()]
        flat[places] = special
    return values


def layouts(x: torch.Tensor) -> dict[str, torch.Tensor]:
    """``x`` (of four dimensions) with equal values but other strides and offsets."""
    step = x.new_zeros([2 * n for n in x.shape])
    step[::2, ::2, ::2, ::2] = x
    offset = x.new_zeros(x.numel() + 3)
    offset[3:] = x.reshape(-1)
    return {
        "contiguous": x,
        "transposed": x.transpose(1, 3).contiguous().transpose(1, 3),
        "reversed": x.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0),
        "channels_last": x.contiguous(memory_format=torch.channels_last),
        "step_sliced": step[::2, ::2, ::2, ::2],
        "offset": offset[3:].view(x.shape),
    }
