# SPDX-License-Identifier: Apache-2.0
"""Findings that somebody has looked at and wants no more of, each with a reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from op_extension.hazards.finding import Finding
from op_extension.hazards.kinds import KINDS, SWITCHES

__all__ = ["Suppression", "read", "suppression_of"]

_LOCATION = re.compile(r"(?P<file>[^:]+)(?::(?P<first>\d+)(?:-(?P<last>\d+))?)?")


@dataclass(frozen=True)
class Suppression:
    """Findings of a kind at a place are not reported.

    Attributes:
        kind: a kind of finding, "overlap", or a switch that stands for several, "order".
        location: "add.cpp", "add.cpp:12" or "add.cpp:12-20", also with folders before it; either side may lie there.
        reason: why these are none.
    """

    kind: str
    location: str
    reason: str

    def __post_init__(self) -> None:
        """Looks at what was given."""
        for name in ("kind", "location", "reason"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise ValueError(f"Suppression: expected a text as {name}, got {getattr(self, name)!r}")
        if self.kind not in KINDS and self.kind not in SWITCHES:
            known = ", ".join([*KINDS, *SWITCHES])
            raise ValueError(f"Suppression: expected as kind one of {known}, got {self.kind!r}")
        match = _LOCATION.fullmatch(self.location)
        if match is None or (match["last"] and int(match["last"]) < int(match["first"])):
            raise ValueError(
                f"Suppression: expected a location such as add.cpp, add.cpp:12 or add.cpp:12-20, got {self.location!r}"
            )

    def matches(self, finding: Finding) -> bool:
        """Whether the finding is of the kind, and one of its sides at the location."""
        if self.kind not in (finding.kind, KINDS[finding.kind].switch):
            return False
        match = _LOCATION.fullmatch(self.location)
        assert match is not None  # __post_init__
        first = int(match["first"] or 0)
        last = int(match["last"] or first)
        for side in finding.sides:
            file, line = side.file or "", side.line or 0
            if (file == match["file"] or file.endswith("/" + match["file"])) and (not first or first <= line <= last):
                return True
        return False

    def __str__(self) -> str:
        """Kind, location and reason."""
        return f"{self.kind} at {self.location} ({self.reason})"


def suppression_of(finding: Finding, suppressions: Iterable[Suppression]) -> Suppression | None:
    """The first one that matches the finding."""
    return next((suppression for suppression in suppressions if suppression.matches(finding)), None)


def read(path: Path) -> list[Suppression]:
    """The suppressions of a TOML file: tables [[suppression]] with kind, location and reason.

    Raises:
        ValueError: the file is no such file.
        OSError: it cannot be read.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected a file in TOML, got: {error}") from None
    rows = tables.pop("suppression", [])
    if tables or not isinstance(rows, list):
        got = ", ".join(tables) or "one table"
        raise ValueError(f"{path}: expected tables [[suppression]] only, got {got}")
    return [_of_table(path, number, row) for number, row in enumerate(rows, 1)]


def _of_table(path: Path, number: int, row: object) -> Suppression:
    names = ("kind", "location", "reason")
    if not isinstance(row, dict) or sorted(row) != sorted(names):
        got = ", ".join(row) if isinstance(row, dict) and row else repr(row)
        raise ValueError(f"{path}, suppression {number}: expected {', '.join(names)}, got {got}")
    try:
        return Suppression(**row)
    except ValueError as error:
        raise ValueError(f"{path}, suppression {number}: {error}") from None
