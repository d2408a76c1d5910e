# SPDX-License-Identifier: Apache-2.0
"""Memory of the devices: a cache over host memory. All sizes are bytes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

from npu_backend.npu.devices import Device, device_count, device_index

_fractions: dict[int, float] = {}


def empty_cache() -> None:
    """Waits for the devices and gives unused memory back to the system."""
    torch.accelerator.empty_cache()


def memory_stats(device: Device = None) -> OrderedDict[str, Any]:
    """Statistics of the allocator, keys as ``torch.accelerator.memory_stats``."""
    return torch.accelerator.memory_stats(device_index(device))


def memory_stats_as_nested_dict(device: Device = None) -> dict[str, Any]:
    """The same, nested."""
    nested: dict[str, Any] = torch._C._accelerator_getDeviceStats(device_index(device))
    return nested


def memory_allocated(device: Device = None) -> int:
    """Bytes that tensors hold."""
    return int(memory_stats(device).get("allocated_bytes.all.current", 0))


def max_memory_allocated(device: Device = None) -> int:
    """Most bytes that tensors held since the start or the last :func:`reset_peak_memory_stats`."""
    return int(memory_stats(device).get("allocated_bytes.all.peak", 0))


def memory_reserved(device: Device = None) -> int:
    """Bytes that the cache holds, tensors included."""
    return int(memory_stats(device).get("reserved_bytes.all.current", 0))


def max_memory_reserved(device: Device = None) -> int:
    """Most bytes that the cache held since the start or the last :func:`reset_peak_memory_stats`."""
    return int(memory_stats(device).get("reserved_bytes.all.peak", 0))


memory_cached = memory_reserved
max_memory_cached = max_memory_reserved


def reset_peak_memory_stats(device: Device = None) -> None:
    """Peaks start anew at the current values."""
    torch.accelerator.reset_peak_memory_stats(device_index(device))


reset_max_memory_allocated = reset_peak_memory_stats
reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Sums start anew at 0."""
    torch.accelerator.reset_accumulated_memory_stats(device_index(device))


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """Free and total bytes of device."""
    free, total = torch._C._accelerator_getMemoryInfo(device_index(device))
    return int(free), int(total)


def set_per_process_memory_fraction(fraction: float, device: Device = None) -> None:
    """Limits what is reserved on device to fraction of its total.

    Raises:
        ValueError: fraction is not in [0, 1].
    """
    if not isinstance(fraction, float) or not 0 <= fraction <= 1:
        raise ValueError(f"set_per_process_memory_fraction: expected a float in [0, 1], got {fraction!r}")
    index = device_index(device)
    _, total = mem_get_info(index)
    _fractions[index] = fraction
    torch.ops.npu_backend.set_memory_limit(index, int(fraction * total))


def get_per_process_memory_fraction(device: Device = None) -> float:
    """The fraction that was set last; 1.0 before."""
    return _fractions.get(device_index(device), 1.0)


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """A table of the statistics of the allocator.

    Args:
        device: the device; the current one when None.
        abbreviated: leave out the rows for small and large blocks.
    """
    stats = memory_stats(device)
    rows: list[tuple[str, ...]] = [("", "current", "peak", "allocated", "freed")]
    for key in ("allocated_bytes", "requested_bytes", "reserved_bytes", "allocation", "segment"):
        for pool in ("all",) if abbreviated else ("all", "small_pool", "large_pool"):
            values = [str(stats.get(f"{key}.{pool}.{column}", 0)) for column in rows[0][1:]]
            rows.append((f"{key}.{pool}", *values))
    lines = [" ".join([f"{row[0]:<28}", *(f"{value:>16}" for value in row[1:])]) for row in rows]
    return "\n".join([f"memory of npu:{device_index(device)}, of {device_count()} devices", *lines])
