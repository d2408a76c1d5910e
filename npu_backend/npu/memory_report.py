# SPDX-License-Identifier: Apache-2.0
"""What the allocator holds, as a table and block by block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

import torch

from npu_backend.npu.devices import device_count

_COLUMNS = ("current", "peak", "allocated", "freed")
_POOLS = {"all": "", "large_pool": "  large blocks", "small_pool": "  small blocks"}
_ROWS = {
    "allocated_bytes": "held by tensors",
    "requested_bytes": "asked for by them",
    "active_bytes": "held, or awaited by a stream",
    "reserved_bytes": "taken from the system",
    "inactive_split_bytes": "free in segments in use",
    "allocation": "blocks held",
    "active": "blocks held or awaited",
    "segment": "segments",
    "inactive_split": "free blocks in segments in use",
}
_STATES = ("inactive", "active_allocated", "active_awaiting_free")
_SNAPSHOT_COLUMNS = 8  # kSnapshotColumns in csrc/host/device/block_pool.h


def _size(count: int) -> str:
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def summary_of(stats: Mapping[str, Any], where: str, abbreviated: bool) -> str:
    """The table of :func:`npu_backend.npu.memory.memory_summary`, from its statistics."""
    lines = [
        f"Memory of {where}: {stats['num_ooms']} times out of memory, "
        f"{stats['num_alloc_retries']} requests met only by emptying the cache",
        " ".join([f"{'':<32}", *(f"{column:>12}" for column in _COLUMNS)]),
    ]
    for key, label in _ROWS.items():
        show: Callable[[int], str] = _size if key.endswith("_bytes") else str
        for pool, suffix in _POOLS.items():
            if abbreviated and suffix:
                continue
            values = (f"{show(stats[f'{key}.{pool}.{column}']):>12}" for column in _COLUMNS)
            lines.append(" ".join([f"{suffix or label:<32}", *values]))
    return "\n".join(lines) + "\n"


def _segment(device: int, rows: list[tuple[int, ...]]) -> dict[str, Any]:
    """A segment as a dictionary with the keys of PyTorch's snapshots; rows: its blocks, as the library gives them."""
    blocks = [
        {
            "address": address,
            "size": size,
            "requested_size": requested,
            "state": _STATES[state],
            "frames": [],
        }
        for *_, address, size, requested, state in sorted(rows, key=lambda row: row[4])
    ]
    address, total, is_small, arena = rows[0][:4]

    def bytes_of(*states: str) -> int:
        return sum(int(str(block["size"])) for block in blocks if block["state"] in states)

    return {
        "device": device,
        "address": address,
        "total_size": total,
        "allocated_size": bytes_of("active_allocated"),
        "active_size": bytes_of("active_allocated", "active_awaiting_free"),
        "requested_size": sum(int(str(block["requested_size"])) for block in blocks),
        "stream": 0,
        "segment_type": "small" if is_small else "large",
        "segment_pool_id": (0, arena),
        "is_expandable": False,
        "frames": [],
        "blocks": blocks,
    }


def memory_snapshot(mempool_id: tuple[int, int] | None = None) -> list[dict[str, Any]]:
    """The segments of all devices, each with its blocks, as ``torch.cuda.memory_snapshot`` gives them.

    Args:
        mempool_id: ``id`` of a :class:`MemPool`: only its segments. None: all.

    Returns:
        One dictionary per segment, by device and address. ``frames`` are empty: no call stacks are recorded, and
        ``stream`` is 0: memory is not bound to a stream here.
    """
    segments = []
    for device in range(device_count()):
        numbers = torch.ops.npu_backend.memory_snapshot(device)
        rows = sorted(zip(*[iter(numbers)] * _SNAPSHOT_COLUMNS, strict=True))
        segments += [_segment(device, list(group)) for _, group in groupby(rows, key=lambda row: row[0])]
    return [segment for segment in segments if mempool_id is None or segment["segment_pool_id"] == tuple(mempool_id)]
