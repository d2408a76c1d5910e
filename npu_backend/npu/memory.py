# SPDX-License-Identifier: Apache-2.0
"""Memory of the devices: a cache over host memory. All sizes are bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import torch

from npu_backend.npu.devices import Device, device_count, device_index
from npu_backend.npu.host_memory import (
    host_empty_cache,
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    reset_accumulated_host_memory_stats,
    reset_peak_host_memory_stats,
)
from npu_backend.npu.memory_pools import (
    MemPool,
    NPUPluggableAllocator,
    change_current_allocator,
    get_allocator_backend,
    use_mem_pool,
)
from npu_backend.npu.memory_report import memory_snapshot, summary_of

__all__ = [
    "MemPool",
    "NPUPluggableAllocator",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "change_current_allocator",
    "empty_cache",
    "empty_virt_addr_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "host_empty_cache",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
    "use_mem_pool",
]

_fractions: dict[int, float] = {}


def empty_cache() -> None:
    """Waits for the devices and gives unused memory back to the system."""
    torch.accelerator.empty_cache()


def empty_virt_addr_cache() -> None:
    """Nothing: memory is not mapped in pieces here, so no addresses are kept."""


def caching_allocator_alloc(size: int, device: Device = None, stream: torch.Stream | int | None = None) -> int:
    """Address of size bytes of device, 64-byte aligned; 0 for no bytes.

    Args:
        size: bytes.
        device: the device; the current one when None.
        stream: accepted; memory is not bound to a stream here.
    """
    del stream
    return int(torch.ops.npu_backend.allocate(device_index(device), size))


def caching_allocator_delete(mem_ptr: int) -> None:
    """Frees memory of :func:`caching_allocator_alloc`.

    Raises:
        ValueError: mem_ptr is no such address, or freed already.
    """
    torch.ops.npu_backend.free(mem_ptr)


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, int]]:
    if not isinstance(value, dict):
        yield prefix, value
        return
    for key, inner in value.items():
        name = "_".join(map(str, key)) if isinstance(key, tuple) else str(key)
        yield from _flat(f"{prefix}.{name}" if prefix else name, inner)


def memory_stats(device: Device = None) -> OrderedDict[str, Any]:
    """Statistics of the allocator, with the keys of ``torch.cuda.memory_stats``."""
    return OrderedDict(sorted(_flat("", memory_stats_as_nested_dict(device))))


def memory_stats_as_nested_dict(device: Device = None) -> dict[str, Any]:
    """The same, nested."""
    nested: dict[str, Any] = torch._C._accelerator_getDeviceStats(device_index(device))
    return nested


def memory_allocated(device: Device = None) -> int:
    """Bytes that tensors hold."""
    return int(memory_stats_as_nested_dict(device)["allocated_bytes"]["all"]["current"])


def max_memory_allocated(device: Device = None) -> int:
    """Most bytes that tensors held since the start or the last :func:`reset_peak_memory_stats`."""
    return int(memory_stats_as_nested_dict(device)["allocated_bytes"]["all"]["peak"])


def memory_reserved(device: Device = None) -> int:
    """Bytes that the cache holds, tensors included."""
    return int(memory_stats_as_nested_dict(device)["reserved_bytes"]["all"]["current"])


def max_memory_reserved(device: Device = None) -> int:
    """Most bytes that the cache held since the start or the last :func:`reset_peak_memory_stats`."""
    return int(memory_stats_as_nested_dict(device)["reserved_bytes"]["all"]["peak"])


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
        TypeError: fraction is no float.
        ValueError: fraction is not in [0, 1].
    """
    if not isinstance(fraction, float):
        raise TypeError(f"set_per_process_memory_fraction: expected a float, got {fraction!r}")
    if not 0 <= fraction <= 1:
        raise ValueError(f"set_per_process_memory_fraction: expected a fraction in [0, 1], got {fraction!r}")
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
    return summary_of(memory_stats(device), f"npu:{device_index(device)}, of {device_count()} devices", abbreviated)
