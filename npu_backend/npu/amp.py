# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: ``torch.amp`` with the device filled in."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.amp


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Dtypes that autocast may choose."""
    return [torch.float16, torch.bfloat16, torch.float32]


def is_bf16_supported(including_emulation: bool = False) -> bool:
    """Whether tensors of dtype bfloat16 can be computed with: yes."""
    del including_emulation
    return True


def is_autocast_enabled() -> bool:
    """Whether autocast is on for npu in this thread."""
    return torch.is_autocast_enabled("npu")


def set_autocast_enabled(enabled: bool) -> None:
    """Turns autocast for npu in this thread on or off."""
    torch.set_autocast_enabled("npu", enabled)


def get_autocast_dtype() -> torch.dtype:
    """The dtype that autocast chooses on npu in this thread."""
    return torch.get_autocast_dtype("npu")


def set_autocast_dtype(dtype: torch.dtype) -> None:
    """Sets the dtype that autocast chooses on npu in this thread."""
    torch.set_autocast_dtype("npu", dtype)


class autocast(torch.amp.autocast):
    """``torch.amp.autocast`` for npu."""

    def __init__(self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True) -> None:
        """Args: as for ``torch.amp.autocast``."""
        super().__init__("npu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    """``torch.amp.GradScaler`` for npu."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        """Args: as for ``torch.amp.GradScaler``."""
        super().__init__("npu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


custom_fwd: Callable[..., Any] = functools.partial(torch.amp.custom_fwd, device_type="npu")
custom_bwd: Callable[..., Any] = functools.partial(torch.amp.custom_bwd, device_type="npu")
