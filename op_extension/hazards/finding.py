# SPDX-License-Identifier: Apache-2.0
"""A finding of the hazard checker, as data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

__all__ = ["Finding", "Side", "merged"]

_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)")


@dataclass(frozen=True)
class Side:
    """One of the two instructions of a finding.

    Attributes:
        instruction: its name: "TADD", "set_flag".
        pipe: "PIPE_V".
        core: "vector" or "cube".
        block: index of its block.
        sub_block: which vector core of the block.
        begin: first byte that it touches, from the start of the space.
        end: the byte behind the last one.
        place: "add.cpp:12"; where no line is known, library and offset: "libk.so+0x1f0".
    """

    instruction: str
    pipe: str
    core: str
    block: int
    sub_block: int
    begin: int
    end: int
    place: str

    @property
    def file(self) -> str | None:
        """The source file; None where only library and offset are known."""
        match = _PLACE.fullmatch(self.place)
        return match["file"] if match else None

    @property
    def line(self) -> int | None:
        """The line in the file, from 1."""
        match = _PLACE.fullmatch(self.place)
        return int(match["line"]) if match else None

    @staticmethod
    def of_tuple(given: tuple[Any, ...], places: Mapping[int, str]) -> Side:
        """From what the runtime gives; places names the lines of call sites."""
        instruction, pipe, core, block, sub_block, begin, end, site = given
        return Side(instruction, pipe, core, block, sub_block, begin, end, places[site])


@dataclass(frozen=True)
class Finding:
    """What the hazard checker has found, once for each kind and pair of places.

    Attributes:
        kind: "read-after-write" and so on: the keys of :data:`op_extension.hazards.kinds.KINDS`.
        kernel: name of the kernel.
        space: "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB" or "GM".
        begin: first byte of the conflict, from the start of the space; of GM, of the allocation.
        end: the byte behind the last one.
        first: the instruction that comes first in the text of the kernel; None where there is one only.
        second: the other one.
        mend: the code to add.
        times: how often it was met.
    """

    kind: str
    kernel: str
    space: str
    begin: int
    end: int
    first: Side | None
    second: Side | None
    mend: str
    times: int

    @property
    def sides(self) -> tuple[Side, ...]:
        """The instructions that are known, the one to report at first."""
        return tuple(side for side in (self.second, self.first) if side is not None)

    def to_dict(self) -> dict[str, Any]:
        """The same in types of JSON; sides have file and line, too."""
        made = asdict(self)
        for name, side in (("first", self.first), ("second", self.second)):
            if side is not None:
                made[name] |= {"file": side.file, "line": side.line}
        return made

    @staticmethod
    def of_tuple(given: tuple[Any, ...], places: Mapping[int, str]) -> Finding:
        """From what the runtime gives; places names the lines of call sites."""
        kind, kernel, space, begin, end, first, second, mend, times = given
        one, other = (side and Side.of_tuple(side, places) for side in (first, second))
        return Finding(kind, kernel, space, begin, end, one, other, mend, times)

    @staticmethod
    def of_dict(given: Mapping[str, Any]) -> Finding:
        """From such a dict; file and line may be left out."""
        made = dict(given)
        for name in ("first", "second"):
            if made[name] is not None:
                made[name] = Side(**{key: made[name][key] for key in Side.__dataclass_fields__})
        return Finding(**{key: made[key] for key in Finding.__dataclass_fields__})

    def __str__(self) -> str:
        """The text of a report, in several lines."""
        from op_extension.hazards.text import text_of

        return text_of(self)


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Findings of one kind at one pair of places become one, which was met as often as all of them."""
    by_key: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        key = (finding.kind, *(side.place if side else "" for side in (finding.first, finding.second)))
        known = by_key.get(key)
        by_key[key] = replace(known, times=known.times + finding.times) if known else finding
    return list(by_key.values())
