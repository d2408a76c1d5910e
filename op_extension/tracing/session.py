# SPDX-License-Identifier: Apache-2.0
"""Recording. :func:`op_extension.check.trace` is its face."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from op_extension import _runtime, placements
from op_extension.source_lines import call_sites
from op_extension.tracing.layouts import Part
from op_extension.tracing.record import Recorded, Tile, Trace, limit_sentence

__all__ = ["trace"]

_WHERE = "check.trace"
_MOST_BLOCK = (1 << 32) - 1
_MOST_BYTES = (1 << 64) - 1
_T = TypeVar("_T")
_open: list[Trace] = []  # the one that is recorded, if any


def _chosen(what: str, given: Iterable[_T] | _T | None, kind: type[_T]) -> list[_T]:
    """What is to be recorded; nothing: all."""
    if given is None:
        return []
    chosen: list[Any] = [given]
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        chosen = list(given)
    for one in chosen:
        if not isinstance(one, kind) or isinstance(one, bool) or (isinstance(one, int) and not 0 <= one <= _MOST_BLOCK):
            raise ValueError(f"{_WHERE}: expected {what}, got {one!r}")
    if not chosen:
        raise ValueError(f"{_WHERE}: expected {what}, or None for all, got none")
    return chosen


@contextmanager
def trace(
    values: bool,
    kernels: Iterable[str] | str | None,
    blocks: Iterable[int] | int | None,
    instructions: Iterable[str] | str | None,
    limit: int,
) -> Iterator[Trace]:
    """See :func:`op_extension.check.trace`."""
    names = _chosen("names of kernels", kernels, str)
    numbers = _chosen("indices of blocks", blocks, int)
    wanted = _chosen("names of instructions", instructions, str)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit <= _MOST_BYTES:
        raise ValueError(f"{_WHERE}: expected a number of bytes from 1 to {_MOST_BYTES} as limit, got {limit!r}")
    if _open:
        raise RuntimeError(f"{_WHERE}: expected no other trace to be open, got a second one")
    placements.synchronize()
    made = Trace()
    _open.append(made)
    try:
        _runtime.trace_start(values, limit, names, numbers, wanted)
        try:
            yield made
            placements.synchronize()
        except Exception:
            with suppress(RuntimeError):  # what else is queued belongs to the trace, too
                placements.synchronize()
            raise
        finally:
            _runtime.trace_stop()
            made._take(_recorded(values, limit))
            _runtime.trace_forget()
    finally:
        _open.clear()
    if not made.is_whole:
        warnings.warn(limit_sentence(limit), RuntimeWarning, stacklevel=3)


def _recorded(values: bool, limit: int) -> Recorded:
    """What the runtime has, with lines in place of addresses; by launches."""
    rows, tiles = _runtime.trace_steps(), _runtime.trace_tiles()
    lines = call_sites([*(row[10] for row in rows), *(tile[6] for tile in tiles)])

    def operand(row: tuple[Any, ...]) -> tuple[Any, ...]:
        space, is_destination, is_atomic, parts, numbers, found, compact = row
        return space, is_destination, is_atomic, tuple(Part(*part) for part in parts), tuple(numbers), found, compact

    steps = [(*row[:10], lines[row[10]], [operand(found) for found in row[11]]) for row in rows]
    steps.sort(key=lambda row: row[4])
    places = [Tile(*tile[:6], lines[tile[6]], *tile[7:]) for tile in tiles]
    return Recorded(places, steps, values, _runtime.trace_is_whole(), limit)
