# SPDX-License-Identifier: Apache-2.0
"""Where the elements of a tile lie, and which of them the bytes of an operand are."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

__all__ = ["DTYPES", "Fit", "Part", "decoded", "elements_of", "fit", "padded"]

#: Types of elements as numpy keeps them; those that it lacks as their bits. Those of 4 bits lie two in a byte.
DTYPES: dict[str, type[np.generic]] = {
    "float": np.float32,
    "half": np.float16,
    "double": np.float64,
    "bfloat16": np.uint16,
    **{f"{sign}int{bits}": getattr(np, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_BOX_BYTES, _BOX_LINES, _ACC_RUN = 32, 16, 16
_BLOCK_BYTES = 32  # that the chip moves at once
#: Layouts that a tile of a kind may have, the most usual first.
_LAYOUTS = {
    "Vec": ("ND", "DN", "NZ"),
    "Mat": ("NZ", "ZN", "ND", "DN"),
    "Left": ("ZZ", "NZ"),
    "Right": ("ZN", "NZ"),
    "Acc": ("NZ",),
}


class Part(NamedTuple):
    """Rows of bytes, pitch bytes apart; offset from the start of the space.

    In global memory the offset is from the start of the allocation; where nobody knows that, it is the address.
    """

    offset: int
    rows: int
    row_bytes: int
    pitch: int


class Fit(NamedTuple):
    """A layout in which the elements of an operand are a rectangle of its tile."""

    layout: str
    row: int
    column: int
    rows: int
    columns: int
    is_exact: bool
    """Whether instructions that name this rectangle name exactly these bytes in this order."""


class _Order(NamedTuple):
    """Lines of runs of neighbouring elements, as csrc/include/pto/tile_facts.hpp has them."""

    by_rows: bool
    boxed: bool
    along: bool
    lines: int
    length: int
    run: int
    box_lines: int

    def offsets(self, line: Any, at: Any) -> Any:
        """Distance of elements from the start of the tile, in elements."""
        if not self.boxed:
            return line * self.length + at
        box, inside = at // self.run, at % self.run
        if not self.along:
            return box * (self.lines * self.run) + line * self.run + inside
        above = line // self.box_lines * (self.box_lines * self.length)
        return above + box * (self.box_lines * self.run) + line % self.box_lines * self.run + inside


def _lies_by_rows(layout: str) -> bool:
    return layout in ("ND", "NZ", "ZZ")


def _runs_along(layout: str) -> bool:
    return layout in ("ZZ", "NN")


def _order(layout: str, kind: str, rows: int, columns: int, element_bytes: int) -> _Order:
    by_rows = _lies_by_rows(layout)
    lines, length = (rows, columns) if by_rows else (columns, rows)
    if layout in ("ND", "DN"):
        return _Order(by_rows, False, False, lines, length, length, 1)
    run = _ACC_RUN if kind == "Acc" else _BOX_BYTES // element_bytes
    return _Order(by_rows, True, _runs_along(layout), lines, length, min(run, length), min(_BOX_LINES, lines))


@lru_cache(maxsize=64)
def _offsets(layout: str, kind: str, rows: int, columns: int, element_bytes: int) -> np.ndarray[Any, Any]:
    """For each row and column of the tile the place of its element."""
    order = _order(layout, kind, rows, columns, element_bytes)
    row, column = np.arange(rows)[:, None], np.arange(columns)[None, :]
    line, at = (row, column) if order.by_rows else (column, row)
    return np.asarray(np.broadcast_to(order.offsets(line, at), (rows, columns)))


def _places(parts: tuple[Part, ...], begin: int, element_bytes: int) -> np.ndarray[Any, Any] | None:
    """Places of elements in the order of the bytes; None where the parts are none of whole elements."""
    found = []
    for part in parts:
        first, *rest = part.offset - begin, part.row_bytes, part.pitch if part.rows > 1 else 0
        if any(number % element_bytes for number in (first, *rest)):
            return None
        row = np.arange(part.row_bytes // element_bytes)[None, :]
        start = (first + np.arange(part.rows)[:, None] * rest[1]) // element_bytes
        found.append((start + row).reshape(-1))
    return np.concatenate(found)


def _named(order: _Order, begin: int, element_bytes: int, line: int, at: int, lines: int, length: int) -> list[Part]:
    """The parts that instructions name for a rectangle."""
    found: list[Part] = []

    def add(row: int, column: int, rows: int, count: int, pitch: int) -> None:
        offset = begin + order.offsets(row, column) * element_bytes
        found.append(Part(offset, rows, count * element_bytes, pitch * element_bytes))

    if not order.boxed:
        add(line, at, lines, length, order.length)
        return found
    end, end_at = line + lines, at + length
    while line < end:
        group = min(end - line, order.box_lines - line % order.box_lines) if order.along else end - line
        column = at
        while column < end_at:
            count = min(end_at - column, order.run - column % order.run)
            if count == order.run:
                _append_bytes(found, begin + order.offsets(line, column) * element_bytes, group * count * element_bytes)
            else:
                add(line, column, group, count, order.run)
            column += count
        line += group
    return found


def _append_bytes(parts: list[Part], offset: int, size: int) -> None:
    """As AccessList::AddBytes of csrc/include/npu/access_list.hpp does."""
    last = parts[-1] if parts else None
    if last and last.rows == 1 and offset == last.offset + last.row_bytes:
        parts[-1] = Part(last.offset, 1, last.row_bytes + size, last.row_bytes + size)
        return
    if last and size == last.row_bytes and offset > last.offset:
        pitch = offset - last.offset if last.rows == 1 else last.pitch
        if offset == last.offset + last.rows * pitch and pitch >= size:
            parts[-1] = Part(last.offset, last.rows + 1, size, pitch)
            return
    parts.append(Part(offset, 1, size, size))


def possible(kind: str, layout: str, is_compact: bool) -> tuple[str, ...]:
    """Layouts that operands may have of a tile that was placed with this one, the likeliest first.

    TRESHAPE, of which no observer hears, gives a tile another one; no compact tile.
    """
    if is_compact:
        return (layout,)
    return (layout, *(other for other in _LAYOUTS.get(kind, ("ND",)) if other != layout))


def fit(
    layouts: tuple[str, ...], kind: str, dtype: str, rows: int, columns: int, begin: int, parts: tuple[Part, ...]
) -> list[Fit]:
    """Those of layouts in which parts are a rectangle of a tile that lies at begin.

    Args:
        layouts: as "ND".
        kind: of the tile, as "Vec".
        dtype: of the tile, as "half".
        rows: of the tile; of a compact one those among which its elements lie.
        columns: the same.
        begin: bytes from the start of the space.
        parts: what an instruction names.
    """
    element_bytes = np.dtype(DTYPES.get(dtype, np.uint8)).itemsize
    places = _places(parts, begin, element_bytes)
    if places is None or places.min() < 0 or places.max() >= rows * columns:
        return []
    touched = np.zeros(rows * columns, bool)
    touched[places] = True
    found = []
    for layout in layouts:
        area = touched[_offsets(layout, kind, rows, columns, element_bytes)]
        in_rows, in_columns = np.flatnonzero(area.any(axis=1)), np.flatnonzero(area.any(axis=0))
        row, column = int(in_rows[0]), int(in_columns[0])
        height, width = int(in_rows[-1]) - row + 1, int(in_columns[-1]) - column + 1
        if not area[row : row + height, column : column + width].all():
            continue
        order = _order(layout, kind, rows, columns, element_bytes)
        box = (row, column, height, width) if order.by_rows else (column, row, width, height)
        is_exact = tuple(_named(order, begin, element_bytes, *box)) == parts
        found.append(Fit(layout, row, column, height, width, is_exact))
    return found


def elements_of(
    values: bytes, dtype: str, kind: str, rows: int, columns: int, begin: int, parts: tuple[Part, ...], chosen: Fit
) -> np.ndarray[Any, Any]:
    """The values of an operand by row and column of its tile."""
    storage = np.frombuffer(values, DTYPES.get(dtype, np.uint8))
    places = _places(parts, begin, storage.itemsize)
    assert places is not None
    tile = np.zeros(rows * columns, storage.dtype)
    tile[places] = storage
    offsets = _offsets(chosen.layout, kind, rows, columns, storage.itemsize)
    part = (slice(chosen.row, chosen.row + chosen.rows), slice(chosen.column, chosen.column + chosen.columns))
    return np.asarray(tile[offsets[part]])


def padded(layout: str, rows: int, columns: int, element_bytes: int) -> tuple[int, int]:
    """Rows and columns that TLOAD writes of a tile: its lines to the end of their last block."""
    block = _BLOCK_BYTES // element_bytes
    if _lies_by_rows(layout):
        return rows, -(-columns // block) * block
    return -(-rows // block) * block, columns


def decoded(bits: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    """Elements as numbers: those of bfloat16 as float32, which holds them all; of 8 bits and less their bits."""
    if dtype != "bfloat16":
        return bits
    return (bits.astype(np.uint32) << 16).view(np.float32)
