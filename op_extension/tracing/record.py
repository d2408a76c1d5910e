# SPDX-License-Identifier: Apache-2.0
"""A trace: steps, what they read and what they wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from op_extension.tracing import layouts
from op_extension.tracing.layouts import Fit, Part

if TYPE_CHECKING:
    from op_extension.tracing.difference import Difference

__all__ = ["Operand", "Recorded", "Step", "Tile", "Trace"]


class Tile(NamedTuple):
    """A tile where TASSIGN placed it.

    Attributes:
        kind: "Vec".
        dtype: "half".
        rows: of its whole extent.
        columns: the same.
        address: in bytes from the start of the space.
        size: in bytes; of a compact tile up to the end of the valid region that it had then.
        line: of the TASSIGN.
        layout: as :attr:`Operand.layout`.
        is_compact: whether its elements lie as if its valid region, up to whole boxes, were its extent.
    """

    kind: str
    dtype: str
    rows: int
    columns: int
    address: int
    size: int
    line: str
    layout: str
    is_compact: bool


class Reading(NamedTuple):
    """A tile, the rows and columns among which its elements lie, and the rectangle of them that an operand is."""

    tile: Tile
    extent: tuple[int, int]
    fit: Fit


@dataclass(frozen=True)
class Operand:
    """What an instruction reads or writes.

    Attributes:
        space: "GM", "UB", "L1", "L0A", ...
        is_destination: whether the instruction writes it.
        is_atomic: whether it adds to what is there.
        parts: its bytes: rows of row_bytes, pitch bytes apart, offset from the start of the space, or of the memory;
            where nobody knows the memory, the address.
        tile: the tile that it is part of; None in global memory, and where no TASSIGN of the core placed one.
        layout: order of the elements of the tile: "ND", "DN", "NZ", "ZN", "ZZ" or "NN"; "" where there is no tile.
        start: row and column of the tile where the operand starts.
        shape: rows and columns of the operand; without a tile lines and elements (or bytes) of a line.
        dtype: of the elements: "half"; "" where nobody knows, then the values are bytes.
        others: (dtype, layout) that the same bytes may have as well. What decides is, in this order: that instructions
            name just these bytes for the rectangle; that the tile starts where the operand starts; that it was placed
            last; how many accesses to the tile agree with the layout; that it was placed with it. Of the tiles that
            hold the operand the 8 that were placed last are looked at.
        bits: elements as they are stored, of bfloat16 as uint16; None without values.
    """

    space: str
    is_destination: bool
    is_atomic: bool
    parts: tuple[Part, ...]
    tile: Tile | None
    layout: str
    start: tuple[int, int]
    shape: tuple[int, ...]
    dtype: str
    others: tuple[tuple[str, str], ...]
    bits: np.ndarray[Any, Any] | None

    @property
    def values(self) -> np.ndarray[Any, Any] | None:
        """The elements by row and column, whatever the layout; bfloat16 as float32. None without values."""
        return None if self.bits is None else layouts.decoded(self.bits, self.dtype)

    @property
    def mask(self) -> np.ndarray[Any, Any] | None:
        """The bits as bools, lowest first, a row of them for each row: of a tile that TCMP has written."""
        if self.bits is None:
            return None
        rows = np.ascontiguousarray(self.bits).view(np.uint8)
        return np.unpackbits(rows, axis=-1, bitorder="little").astype(bool)

    def __str__(self) -> str:
        """As "UB Vec half ND 16x64 at 0x400"."""
        shape = "x".join(map(str, self.shape))
        if self.tile is None:
            return f"{self.space} {self.dtype or 'bytes'} {shape}"
        text = f"{self.space} {self.tile.kind} {self.dtype} {self.layout} {shape} at {self.tile.address:#x}"
        return text if self.start == (0, 0) else f"{text} from row {self.start[0]}, column {self.start[1]}"


@dataclass(frozen=True)
class Step:
    """An instruction of a core.

    Attributes:
        name: "TADD".
        kernel: its name.
        launch: counts the launches of the trace from 0, in the order in which they started.
        block: index of the block.
        core: "vector" or "cube".
        sub_block: of the core in its block.
        pipe: "PIPE_V".
        number: of the instruction in its block, from 1, as in the sentences of faults. An access of the scalar unit to
            an element of a tile has that of the instruction before it.
        order: of execution, from 1 (numbers may be missing); 0: it was not executed.
        is_complete: False when it did not end: it faulted, or the kernel stopped before it.
        line: path, as the compiler was given it, and line: "/kernels/add.cpp:12"; library and offset where that is not
            known.
        operands: destinations and sources in the order in which the instruction names them.
    """

    name: str
    kernel: str
    launch: int
    block: int
    core: str
    sub_block: int
    pipe: str
    number: int
    order: int
    is_complete: bool
    line: str
    operands: tuple[Operand, ...]

    @property
    def destinations(self) -> list[Operand]:
        """What it writes, with values as they were after it.

        TLOAD writes whole blocks of 32 bytes: of a tile whose lines end within one the operand has the padding, too,
        and is longer than the source.
        """
        return [operand for operand in self.operands if operand.is_destination]

    @property
    def sources(self) -> list[Operand]:
        """What it reads, with values as they were before it."""
        return [operand for operand in self.operands if not operand.is_destination]

    def __str__(self) -> str:
        """As in the sentences of faults: "add_float, block 0, instruction 3: TADD (add.cpp:12)"."""
        core = f"{self.core} {self.sub_block}" if self.core == "vector" else self.core
        return (
            f"{self.kernel}, launch {self.launch}, block {self.block} ({core}), instruction {self.number}: "
            f"{self.name} ({self.line})"
        )


class Recorded(NamedTuple):
    """What the runtime has recorded, with lines in place of addresses; all that a file holds."""

    tiles: list[Tile]
    steps: list[tuple[Any, ...]]
    """name, kernel, core, pipe, launch, block, sub-block, number, order, is complete, line, operands: each with space,
    is destination, is atomic, parts, numbers of tiles, values, rows and columns of a compact tile (else 0)."""
    has_values: bool
    is_whole: bool
    limit: int


class Trace:
    """The instructions of some launches.

    Attributes:
        steps: launch by launch, in the order in which the cores came to them.
        has_values: whether operands have values.
        is_whole: False when the limit of the recorded bytes was reached: what came later is missing.
        limit: that limit, in bytes.
    """

    def __init__(self, recorded: Recorded | None = None) -> None:
        """Args: recorded, as the runtime gives it; None: nothing yet."""
        self._take(recorded or Recorded([], [], False, True, 0))

    def _take(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self.has_values, self.is_whole, self.limit = recorded.has_values, recorded.is_whole, recorded.limit
        self.__dict__.pop("steps", None)

    @cached_property
    def steps(self) -> list[Step]:
        """See the class."""
        return _Reader(self.recorded.tiles).steps(self.recorded.steps)

    def compare(
        self,
        reference: Trace | Callable[..., Any] | Mapping[str, Callable[..., Any]],
        *,
        rtol: float = 0.0,
        atol: float = 0.0,
        max_ulp: int = 0,
    ) -> Difference:
        """The first instruction, in the order of execution, whose destination is not what the reference says.

        Args:
            reference: another trace of the same kernels; or a function that is called with each step and the values of
                its sources and returns the expected destination (of several a sequence; of TLOAD with its padding or
                without), or None where it does not know; or such functions of the sources alone, by name of the
                instruction: ``{"TADD": np.add}``.
            rtol: as in :func:`torch.isclose`.
            atol: as in :func:`torch.isclose`.
            max_ulp: distance that is accepted, in units of the last place of the destination's dtype.

        Returns:
            The difference: false, with a sentence as its text, when there is one, and when no destination was compared.
            NaN equals NaN.

        Raises:
            ValueError: a trace without values; a name that no instruction of the trace has; a function that raises
                ValueError, TypeError, IndexError or RuntimeError; an expected destination of another shape.
            TypeError: another reference.
        """
        from op_extension.tracing import difference

        return difference.compare(self, reference, difference.Tolerance(rtol, atol, max_ulp))

    def save(self, path: str | Path) -> None:
        """Writes the trace, whole or not at all.

        Raises:
            OSError: the file cannot be written.
        """
        from op_extension.tracing import files

        files.save(self.recorded, Path(path))

    @staticmethod
    def load(path: str | Path) -> Trace:
        """The trace that :meth:`save` has written.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is no trace, is damaged, or was written by a newer release.
        """
        from op_extension.tracing import files

        return Trace(files.load(Path(path)))

    def __len__(self) -> int:
        """Number of steps."""
        return len(self.recorded.steps)

    def __str__(self) -> str:
        """A line for each step, with its operands."""
        text, heading = [], ("", -1)
        for step in self.steps:
            if (step.kernel, step.launch) != heading:
                heading = (step.kernel, step.launch)
                text.append(f"launch {step.launch}: kernel {step.kernel}")
            text.append(_line_of(step))
        if not self.is_whole:
            text.append(limit_sentence(self.limit))
        return "\n".join(text) or "no instruction was executed"


def limit_sentence(limit: int) -> str:
    """What is said of a trace that is not whole."""
    return (
        f"check.trace: expected at most {limit} recorded bytes, got more: later instructions are missing; "
        "name kernels, blocks or instructions, or a higher limit"
    )


def _line_of(step: Step) -> str:
    core = f"{step.core} {step.sub_block}" if step.core == "vector" else step.core
    to = ", ".join(map(str, step.destinations))
    sources = ", ".join(map(str, step.sources))
    end = "" if step.is_complete else "  (did not end)"
    place = f"{step.number:4}  block {step.block}  {core:8}  {step.pipe.removeprefix('PIPE_'):4}"
    return f"{place}  {step.name:12}  {step.line}  {to} <- {sources}{end}"


class _Reader:
    """Makes operands of bytes: finds the tile and the layout of each."""

    def __init__(self, tiles: list[Tile]) -> None:
        self.tiles = tiles
        self.votes: Counter[tuple[int, str]] = Counter()  # operands of a tile that a layout agrees with
        self.known: dict[tuple[int, tuple[Part, ...], tuple[int, int]], list[Reading]] = {}

    def steps(self, rows: list[tuple[Any, ...]]) -> list[Step]:
        for row in rows:
            for operand in row[11]:
                for number in operand[4]:
                    for found in self._fits(number, operand[3], operand[6]):
                        self.votes[number, found.fit.layout] += found.fit.is_exact
        return [self._step(row) for row in rows]

    def _fits(self, number: int, parts: tuple[Part, ...], compact: tuple[int, int]) -> list[Reading]:
        found = self.known.get((number, parts, compact))
        if found is None:
            tile = self.tiles[number]
            extent = compact if tile.is_compact else (tile.rows, tile.columns)
            possible = layouts.possible(tile.kind, tile.layout, tile.is_compact)
            fits = layouts.fit(possible, tile.kind, tile.dtype, *extent, tile.address, parts)
            found = [Reading(tile, extent, each) for each in fits]
            self.known[number, parts, compact] = found
        return found

    def _readings(self, numbers: tuple[int, ...], parts: tuple[Part, ...], compact: tuple[int, int]) -> list[Reading]:
        """All that the bytes may be, the likeliest first."""
        ranked = []
        for age, number in enumerate(numbers):
            tile = self.tiles[number]
            for place, found in enumerate(self._fits(number, parts, compact)):
                starts_elsewhere = tile.address != parts[0].offset
                votes = self.votes[number, found.fit.layout]
                ranked.append(((not found.fit.is_exact, starts_elsewhere, age, -votes, place), found))
        ranked.sort(key=lambda pair: pair[0])
        exact = [reading for _, reading in ranked if reading.fit.is_exact]
        return exact or [reading for _, reading in ranked]

    def _step(self, row: tuple[Any, ...]) -> Step:
        name, kernel, core, pipe, launch, block, sub_block, number, order, is_complete, line, operands = row
        readings = [self._readings(operand[4], operand[3], operand[6]) for operand in operands]
        in_tiles = [found[0].tile.dtype for found in readings if found]
        made = tuple(
            _in_tile(operand, found) if found else _without_tile(operand, in_tiles)
            for operand, found in zip(operands, readings, strict=True)
        )
        return Step(name, kernel, launch, block, core, sub_block, pipe, number, order, is_complete, line, made)


def _in_tile(row: tuple[Any, ...], readings: list[Reading]) -> Operand:
    space, is_destination, is_atomic, parts, _, values, _ = row
    tile, extent, found = readings[0]
    bits = None
    if values is not None:
        place = (tile.kind, *extent, tile.address, parts, found)
        bits = layouts.elements_of(values, tile.dtype, *place)
    first = (tile.dtype, found.layout)
    others = dict.fromkeys(
        (other.tile.dtype, other.fit.layout) for other in readings[1:] if _differs(other, readings[0])
    )
    others.pop(first, None)
    shape, start = (found.rows, found.columns), (found.row, found.column)
    return Operand(
        space, is_destination, is_atomic, parts, tile, found.layout, start, shape, tile.dtype, tuple(others), bits
    )


def _differs(one: Reading, other: Reading) -> bool:
    """Whether the same bytes would show other values, or these in another order."""
    is_line = min(one.fit.rows, one.fit.columns) == 1 and one.fit[1:5] == other.fit[1:5]
    return one.tile.dtype != other.tile.dtype or not is_line


def _without_tile(row: tuple[Any, ...], dtypes: list[str]) -> Operand:
    """Lines of bytes; of the type of the instruction's only tile, where they are whole elements of it."""
    space, is_destination, is_atomic, parts, _, values, _ = row
    dtype = dtypes[0] if len(set(dtypes)) == 1 and dtypes[0] in layouts.DTYPES else ""
    storage = np.dtype(layouts.DTYPES.get(dtype, np.uint8))
    if any(part.row_bytes % storage.itemsize for part in parts):
        dtype, storage = "", np.dtype(np.uint8)
    lengths = {part.row_bytes // storage.itemsize for part in parts}
    lines = sum(part.rows for part in parts)
    total = sum(part.rows * part.row_bytes for part in parts) // storage.itemsize
    shape = (lines, lengths.pop()) if len(lengths) == 1 else (total,)
    bits = None if values is None else np.frombuffer(values, storage).reshape(shape)
    return Operand(space, is_destination, is_atomic, parts, None, "", (0, 0), shape, dtype, (), bits)
