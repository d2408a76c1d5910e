# SPDX-License-Identifier: Apache-2.0
"""Traces in files: a numpy archive (.npz) of two arrays, the text of a JSON object and the values' bytes."""

from __future__ import annotations

import json
import os
import secrets
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from op_extension.tracing.layouts import Part
from op_extension.tracing.record import Recorded, Tile

__all__ = ["load", "save"]

_FORMAT, _VERSION = "op_extension.trace", 2


def save(recorded: Recorded, path: Path) -> None:
    """See :meth:`op_extension.tracing.record.Trace.save`."""
    blocks: list[bytes] = []
    size = 0

    def place(values: bytes | None) -> list[int] | None:
        nonlocal size
        if values is None:
            return None
        blocks.append(values)
        size += len(values)
        return [size - len(values), len(values)]

    steps = [
        [*row[:11], [[*operand[:5], place(operand[5]), operand[6]] for operand in row[11]]] for row in recorded.steps
    ]
    text = json.dumps(
        {
            "format": _FORMAT,
            "version": _VERSION,
            "has_values": recorded.has_values,
            "is_whole": recorded.is_whole,
            "limit": recorded.limit,
            "tiles": recorded.tiles,
            "steps": steps,
        }
    )
    header = np.frombuffer(text.encode(), np.uint8)
    values = np.frombuffer(b"".join(blocks), np.uint8)
    _write(path, header=header, values=values)


def _write(path: Path, **arrays: np.ndarray[Any, Any]) -> None:
    """Beside path first, so that there is never a part of it."""
    name = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    handle = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)  # less what the umask takes away
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # the stubs take a name for allow_pickle
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def load(path: Path) -> Recorded:
    """See :meth:`op_extension.tracing.record.Trace.load`."""
    expected = f"Trace.load: expected a file that Trace.save has written, got {str(path)!r}"
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(archive["header"].tobytes())
            values = archive["values"].tobytes()
    except OSError:
        raise
    except (
        ValueError,
        KeyError,
        EOFError,
        TypeError,
        AttributeError,
        zipfile.BadZipFile,
        NotImplementedError,
    ) as error:
        raise ValueError(f"{expected}, which is another or damaged ({error})") from None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ValueError(f"{expected}, which holds no trace")
    if header.get("version") != _VERSION:
        raise ValueError(f"{expected}, of version {header.get('version')!r} (this release reads version {_VERSION})")
    try:
        return _recorded(header, values)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{expected}, which is damaged ({error})") from None


def _recorded(header: dict[str, Any], values: bytes) -> Recorded:
    tiles = [Tile(*row) for row in header["tiles"]]

    def operand(row: list[Any]) -> tuple[Any, ...]:
        space, is_destination, is_atomic, parts, numbers, place, (rows, columns) = row
        if any(not 0 <= number < len(tiles) for number in numbers):
            raise ValueError(f"a tile below {len(tiles)} expected, got one of {numbers}")
        named = tuple(Part(*part) for part in parts)
        found = None if place is None else values[place[0] : place[0] + place[1]]
        if found is not None and len(found) != sum(part.rows * part.row_bytes for part in named):
            raise ValueError(f"values at {place} expected, got {len(values)} bytes in all")
        return space, is_destination, is_atomic, named, tuple(numbers), found, (int(rows), int(columns))

    steps = [(*row[:11], [operand(found) for found in row[11]]) for row in header["steps"]]
    if any(len(step) != 12 for step in steps):
        raise ValueError("steps of 12 fields expected")
    return Recorded(tiles, steps, bool(header["has_values"]), bool(header["is_whole"]), int(header["limit"]))
