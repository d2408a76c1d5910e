# SPDX-License-Identifier: Apache-2.0
"""The places of a launch's tiles on the chip. :func:`op_extension.check.memory_map` is its face."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

from op_extension import _runtime
from op_extension.source_lines import call_sites

FIELDS = np.dtype(
    [
        ("kernel", object),
        ("core", object),
        ("space", object),
        ("address", np.int64),
        ("bytes", np.int64),
        ("kind", object),
        ("dtype", object),
        ("rows", np.int32),
        ("columns", np.int32),
        ("line", object),
        ("times", np.int64),
    ]
)


class SpaceUse(NamedTuple):
    """What a launch uses of an on-chip space, in bytes."""

    peak: int
    """End of the last tile."""
    covered: int
    """Bytes that lie in at least one tile."""
    capacity: int


class MemoryMap:
    """Tiles by address, and the use of each space.

    Attributes:
        tiles: a numpy structured array, a row for each different place: kernel, core, space, address and bytes (in
            bytes), kind, dtype, rows, columns, line (of the TASSIGN), times (over all blocks).
        spaces: :class:`SpaceUse` by name of the space ("UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"), those in use.
    """

    def __init__(self, placements: list[tuple[Any, ...]]) -> None:
        """Args: placements, as the runtime gives them."""
        lines = call_sites(placement[10] for placement in placements)
        rows = [
            (kernel, core, space, address, size, kind, dtype, tile_rows, columns, lines[site], times)
            for kernel, core, space, kind, dtype, tile_rows, columns, address, size, _, site, times in placements
        ]
        rows.sort(key=lambda row: (row[0], row[1], row[2], row[3], row[4]))
        self.tiles = np.array(rows, dtype=FIELDS)
        capacities = {placement[2]: placement[9] for placement in placements}
        self.spaces = {name: self._use(name, capacity) for name, capacity in sorted(capacities.items())}

    def _use(self, space: str, capacity: int) -> SpaceUse:
        mine = self.tiles[self.tiles["space"] == space]
        covered, reached = 0, 0
        for begin, size in sorted(zip(mine["address"].tolist(), mine["bytes"].tolist(), strict=True)):
            covered += max(0, begin + size - max(begin, reached))
            reached = max(reached, begin + size)
        return SpaceUse(reached, covered, capacity)

    def __str__(self) -> str:
        """A line for each space and each tile."""
        text = []
        for name, use in self.spaces.items():
            text.append(f"{name}: peak {use.peak} of {use.capacity} bytes, {use.covered} in tiles")
            for tile in self.tiles[self.tiles["space"] == name]:
                end = tile["address"] + tile["bytes"]
                shape = f"{tile['rows']}x{tile['columns']}"
                text.append(
                    f"  {tile['address']:#8x} - {end:#8x}  {tile['bytes']:>7} bytes  {tile['kind']} {tile['dtype']} "
                    f"{shape}  {tile['kernel']} ({tile['core']}), {tile['line']}"
                )
        return "\n".join(text) or "no tile was placed"


def synchronize() -> None:
    """Waits for all devices."""
    for device in range(torch.accelerator.device_count()):
        torch.accelerator.synchronize(device)


@contextmanager
def recording() -> Iterator[None]:
    """Records places of tiles and stores of all launches that run inside."""
    synchronize()
    _runtime.memory_map_start()
    try:
        yield
        synchronize()
    finally:
        _runtime.memory_map_stop()


def memory_map(launch: Callable[..., object], *args: object, **options: object) -> MemoryMap:
    """See :func:`op_extension.check.memory_map`."""
    with recording():
        launch(*args, **options)
    found = MemoryMap(_runtime.memory_map_placements())
    print(found)
    return found
