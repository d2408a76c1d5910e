# SPDX-License-Identifier: Apache-2.0
"""Pinned memory of the host. Freed blocks go back to the system at once, unless a copy still uses them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

_STATS = ("allocations", "allocated_bytes", "active_requests", "active_bytes")
_STAT = ("current", "peak", "allocated", "freed")
_TIMES = ("host_alloc_time", "host_free_time")  # microseconds
_TIME = ("total", "max", "min", "count")


def host_empty_cache() -> None:
    """Gives freed blocks back to the system that no copy uses any more."""
    torch._C._accelerator_emptyHostCache()


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """Statistics of pinned memory, nested."""
    numbers = iter(torch.ops.npu_backend.host_memory_statistics())
    nested: dict[str, Any] = {name: {key: next(numbers) for key in _STAT} for name in _STATS}
    nested |= {name: {key: next(numbers) for key in _TIME} for name in _TIMES}
    for name in _TIMES:
        time = nested[name]
        time["avg"] = time["total"] // time["count"] if time["count"] else 0
    nested["num_host_alloc"] = next(numbers)
    nested["num_host_free"] = next(numbers)
    return nested


def host_memory_stats() -> OrderedDict[str, Any]:
    """Statistics of pinned memory, with the keys of ``torch.cuda.host_memory_stats``."""
    flat = {}
    for name, value in host_memory_stats_as_nested_dict().items():
        if isinstance(value, dict):
            flat.update({f"{name}.{key}": number for key, number in value.items()})
        else:
            flat[name] = value
    return OrderedDict(sorted(flat.items()))


def reset_accumulated_host_memory_stats() -> None:
    """Sums of pinned memory start anew at 0."""
    torch.ops.npu_backend.reset_host_memory_statistics(False)


def reset_peak_host_memory_stats() -> None:
    """Peaks of pinned memory start anew at the current values."""
    torch.ops.npu_backend.reset_host_memory_statistics(True)
