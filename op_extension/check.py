# SPDX-License-Identifier: Apache-2.0
"""Looking at kernels while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple

from op_extension import _runtime, placements
from op_extension import picture as pictures
from op_extension.hazards import checking
from op_extension.hazards.finding import Finding, Side
from op_extension.hazards.report import Report
from op_extension.hazards.suppression import Suppression
from op_extension.picture import Picture
from op_extension.placements import MemoryMap
from op_extension.tracing import session
from op_extension.tracing.difference import Difference
from op_extension.tracing.record import Operand, Step, Trace

__all__ = [
    "Difference",
    "Finding",
    "InstructionCount",
    "InstructionCounts",
    "MemoryMap",
    "Operand",
    "Picture",
    "Report",
    "Side",
    "Step",
    "Suppression",
    "Trace",
    "count_instructions",
    "hazards",
    "launch_count",
    "memory_map",
    "picture",
    "random_order",
    "report",
    "trace",
]

SEEDS = 1 << 64


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


def picture(launch: Callable[..., object], *args: object, **options: object) -> Picture:
    """Runs a launch, and shows where its kernel places tiles and in which order the pipes of its first block work.

    Args:
        launch: what launches the kernel, as for :func:`memory_map`; of several kernels the first one is shown.
        *args: what launch is called with.
        **options: the same, by name.

    Returns:
        The picture: print it, or save it as SVG.

    Raises:
        RuntimeError: the fault of a kernel.
    """
    return pictures.picture(launch, *args, **options)


def trace(
    values: bool = False,
    *,
    kernels: Iterable[str] | str | None = None,
    blocks: Iterable[int] | int | None = None,
    instructions: Iterable[str] | str | None = None,
    limit: int = 256 << 20,
) -> AbstractContextManager[Trace]:
    """Records the instructions of all launches that start while the context is open, with their operands.

    Args:
        values: whether to record what operands hold: sources before the instruction, destinations after it.
        kernels: names of kernels; None: all.
        blocks: indices of blocks; None: all.
        instructions: their names, as "TADD"; None: all.
        limit: bytes of records at most, values and what describes them, from 1 to 2^64 - 1. When they are used up
            recording ends, the trace is not whole, and leaving the context warns.

    Yields:
        The trace, filled when the context is left, also by an exception: then the instruction that faulted has its
        sources and is not complete.

    Raises:
        ValueError: an empty list, something else than names or indices in it, a limit out of range.
        RuntimeError: within another such context; the fault of a kernel, on leaving.
    """
    return session.trace(values, kernels, blocks, instructions, limit)


def hazards(
    kinds: Iterable[str] | str | None = None, suppress: Iterable[Suppression] = (), raises: bool = True
) -> AbstractContextManager[Report]:
    """Checks all launches that run while the context is open for what a chip would punish.

    Args:
        kinds: what to look for: some of "order", "unwritten", "overlap", "flag", "range" (these when None) and
            "vector_order"; also as "order,flag".
        suppress: findings that are known; see :class:`Suppression`.
        raises: whether leaving the context raises what was found.

    Yields:
        The report, which grows while the context is open.

    Raises:
        op_extension.errors.HazardError: on leaving, when there are findings that are not suppressed.
        ValueError: an unknown kind.
        RuntimeError: within another such context.
    """
    return checking.hazards(kinds, suppress, raises)


def report() -> Report:
    """All findings so far: with NPU_CHECK=hazards of the whole process, else of the last :func:`hazards`.

    Waits for what is queued. What it tells of is not raised any more.

    Raises:
        RuntimeError: a launch has failed, other than by findings.
    """
    return checking.report()


@contextmanager
def random_order(seed: int) -> Iterator[None]:
    """Executes kernels in a random order that their flags allow, while the context is open, on all devices and threads.

    Each pipe of a core keeps the order of its instructions; which pipe, core and block is next says chance, held back
    by nothing but flags, barriers and ``SYNCALL``. A kernel that misses one of those computes wrong numbers under some
    seeds; a right kernel computes the same under all. On-chip memory holds NaN (integers: -1) until it is written.

    Args:
        seed: 0 to 2**64 - 1. One seed is one order of each kernel, in every run.

    Raises:
        ValueError: another seed, or such a context is open already.
        RuntimeError: the fault of a kernel.
    """
    if not 0 <= seed < SEEDS:
        raise ValueError(f"check.random_order: expected a seed from 0 to {SEEDS - 1}, got {seed}")
    placements.synchronize()
    _runtime.random_order_start(seed)
    try:
        yield
    finally:
        try:
            placements.synchronize()
        finally:
            _runtime.random_order_stop()
