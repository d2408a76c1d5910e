# SPDX-License-Identifier: Apache-2.0
"""Looking at kernels while they run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch

from op_extension import _runtime

__all__ = ["InstructionCount", "InstructionCounts", "count_instructions", "launch_count"]


class InstructionCount(NamedTuple):
    """How often an instruction was executed, and over how many elements in all."""

    executions: int
    elements: int


class InstructionCounts:
    """Counts by name of the instruction: ``counts["TADD"].elements``; zeros for one that was not executed."""

    def __getitem__(self, name: str) -> InstructionCount:
        """Count of the instruction called ``name``, after all work queued so far has run."""
        _synchronize()
        return InstructionCount(*_runtime.instruction_count(name))


@contextmanager
def count_instructions() -> Iterator[InstructionCounts]:
    """Counts the tile instructions that run while the context is open, on all devices and threads.

    Yields:
        The counts. They stay readable until the next ``count_instructions()`` starts from zero.
    """
    _synchronize()
    _runtime.instruction_count_start()
    try:
        yield InstructionCounts()
    finally:
        _synchronize()
        _runtime.instruction_count_stop()


def launch_count(kernel: str) -> int:
    """Launches of the kernel named ``kernel`` (``"my_add_float"``) that have run, in this process."""
    _synchronize()
    return _runtime.launch_count(kernel)


def _synchronize() -> None:
    for device in range(torch.accelerator.device_count()):
        torch.accelerator.synchronize(device)
