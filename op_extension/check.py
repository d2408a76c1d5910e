# SPDX-License-Identifier: Apache-2.0
"""Looking at kernels while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from op_extension import _runtime, placements
from op_extension.placements import MemoryMap

__all__ = ["InstructionCount", "InstructionCounts", "MemoryMap", "count_instructions", "launch_count", "memory_map"]


class InstructionCount(NamedTuple):
    """How often an instruction was executed, and over how many elements in all."""

    executions: int
    elements: int


class InstructionCounts:
    """Counts by name of the instruction: ``counts["TADD"].elements``; zeros for one that was not executed."""

    def __getitem__(self, name: str) -> InstructionCount:
        """Count of the instruction called ``name``, after all work queued so far has run."""
        placements.synchronize()
        return InstructionCount(*_runtime.instruction_count(name))


@contextmanager
def count_instructions() -> Iterator[InstructionCounts]:
    """Counts the tile instructions that run while the context is open, on all devices and threads.

    Yields:
        The counts. They stay readable until the next ``count_instructions()`` starts from zero.
    """
    placements.synchronize()
    _runtime.instruction_count_start()
    try:
        yield InstructionCounts()
    finally:
        try:
            placements.synchronize()
        finally:
            _runtime.instruction_count_stop()


def launch_count(kernel: str) -> int:
    """Launches of the kernel named ``kernel`` (``"my_add_float"``) that have run, in this process."""
    placements.synchronize()
    return _runtime.launch_count(kernel)


def memory_map(launch: Callable[..., object], *args: object, **options: object) -> MemoryMap:
    """Runs a launch, and prints and returns where its kernels place tiles on the chip.

    Args:
        launch: ``kernel[block_dim]``, an operator (``torch.ops.npu.my_add``), or any function that launches kernels.
        *args: what launch is called with.
        **options: the same, by name.

    Returns:
        Tiles, addresses, bytes, and peak per space. Launches of other threads count, too.

    Raises:
        RuntimeError: the fault of a kernel.
    """
    return placements.memory_map(launch, *args, **options)
