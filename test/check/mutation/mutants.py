# SPDX-License-Identifier: Apache-2.0
"""Mutants of a kernel: a flag, a barrier or an address changed, in lines that a launch has executed.

All of them are compiled once: each call that may change asks recorder.hpp whether it does.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from test.check.mutation import recording
from test.check.mutation.oracle import core_of
from test.check.mutation.recording import LEFT_OUT, MOVED_BY_32, MOVED_BY_TILE, Tape

_KERNEL = re.compile(
    r'extern "C" __global__ AICORE void (\w+)\(.*?\n}\n|^\w+_KERNEL\((\w+),.*?\)\n', re.DOTALL | re.MULTILINE
)
_FLAGS = ("set_flag", "wait_flag", "pipe_barrier", "SYNCALL", "ffts_cross_core_sync", "wait_flag_dev")
_CALL = re.compile(rf"//[^\n]*|^[ \t]*#[^\n]*|\b({'|'.join(_FLAGS)}|TASSIGN(?=\())\b(?:<[^<>()]*>)?\(", re.MULTILINE)


class Call(NamedTuple):
    """A call in the text of a file, and the number by which it is told what to do."""

    name: str
    file: Path
    line: int
    number: int


class Mutant(NamedTuple):
    """What is changed, all at once: calls, and how (recording)."""

    name: str
    changes: tuple[tuple[Call, int], ...]


class Calls:
    """The calls of a kernel that may change, by name and line."""

    def __init__(self) -> None:
        self._count = 0
        self._at: dict[tuple[str, Path, int], list[Call]] = defaultdict(list)

    def add(self, file: Path) -> None:
        """Makes those in file ask. Lines stay where they are."""
        text, made, done = file.read_text(), [], 0
        for found in _CALL.finditer(text):
            if found[1] is None or found.start() < done:
                continue
            end = _behind_parentheses(text, found.end() - 1)
            self._count += 1
            call = Call(found[1], file, text.count("\n", 0, found.start()) + 1, self._count)
            self._at[call.name, call.file, call.line].append(call)
            made += [text[done : found.start()], _asking(text[found.start() : end], call)]
            done = end
        file.write_text("".join(made) + text[done:])

    def at(self, name: str, place: tuple[Path, int]) -> list[Call]:
        """Calls of name that start in a line."""
        return self._at[name, *place]


def _asking(text: str, call: Call) -> str:
    if call.name != "TASSIGN":
        return f"(recorder::IsLeftOut({call.number}) ? (void)0 : (void)({text}))"
    tile, address = _arguments(text)
    moved = f"TASSIGN({tile}, ({address}) + recorder::Distance({call.number}, {tile}))"
    return moved + "\n" * (text.count("\n") - moved.count("\n"))


def with_one_kernel(text: str, entry: str) -> str:
    """The text without other kernels than entry, which take time to compile. Lines stay where they are."""

    def kept(found: re.Match) -> str:
        return found[0] if entry in (found[1], found[2]) else "\n" * found[0].count("\n")

    return _KERNEL.sub(kept, text)


def _places(tape: Tape, kinds: tuple[int, ...]) -> dict[tuple[Path, int], Counter]:
    """Executed lines of events of kinds: how often each core has met which pipes and id there."""
    found: dict[tuple[Path, int], Counter] = defaultdict(Counter)
    for event, place in zip(tape.events, tape.lines(), strict=True):
        file, _, line = place.rpartition(":")
        if event["kind"] in kinds and line.isdigit():
            what = (core_of(event), *(int(event[name]) for name in ("pipe", "other", "id")))
            found[Path(file), int(line)][what] += 1
    return found


def _behind_parentheses(text: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    raise ValueError(f"expected a parenthesis that closes, got {text[opening : opening + 80]!r}")


def _where(calls: Iterable[Call]) -> str:
    return " ".join(f"{call.file.name}:{call.line}" for call in calls)


def _without(what: str, calls: Iterable[Call]) -> Mutant:
    return Mutant(f"without {what} {_where(calls)}", tuple((call, LEFT_OUT) for call in calls))


def without_flags(tape: Tape, calls: Calls) -> Iterator[Mutant]:
    """Without each set and wait that belong together: both are met by the same cores equally often with each id; and
    without all flags between two pipes."""
    sets, waits = _places(tape, (recording.SET,)), _places(tape, (recording.WAIT,))
    by_pipes: dict[tuple, list[Call]] = defaultdict(list)
    for name, places in (("set_flag", sets), ("wait_flag", waits)):
        for place, met in places.items():
            by_pipes[next(iter(met))[1:3]] += calls.at(name, place)
    for (one, met), (other, met_too) in product(sets.items(), waits.items()):
        both = [*calls.at("set_flag", one)[-1:], *calls.at("wait_flag", other)[-1:]]
        if met == met_too and len(both) == 2:
            yield _without("flag", both)
    for of_pipes in by_pipes.values():
        if len(of_pipes) > 2:
            yield _without("flags", of_pipes)


def without_barriers(tape: Tape, calls: Calls) -> Iterator[Mutant]:
    """Without each pipe_barrier, and each SYNCALL."""
    for name, kind in (("pipe_barrier", recording.BARRIER), ("SYNCALL", recording.ARRIVE)):
        for place in _places(tape, (kind,)):
            for call in calls.at(name, place):
                yield _without(name, [call])


def without_cross_core_flags(tape: Tape, calls: Calls) -> Iterator[Mutant]:
    """Without each set and wait of one id."""
    sets = _places(tape, (recording.SET_CROSS,))
    waits = _places(tape, (recording.WAIT_CROSS,))
    for (one, met), (other, met_too) in product(sets.items(), waits.items()):
        if {what[3] for what in met} == {what[3] for what in met_too}:
            yield _without(
                "cross-core flag", [*calls.at("ffts_cross_core_sync", one), *calls.at("wait_flag_dev", other)]
            )


def with_moved_tiles(tape: Tape, calls: Calls) -> Iterator[Mutant]:
    """With each tile 32 bytes, and as many as it has, behind its place."""
    for place in _places(tape, (recording.PLACEMENT,)):
        for call in calls.at("TASSIGN", place):
            for name, change in (("32 bytes", MOVED_BY_32), ("a tile", MOVED_BY_TILE)):
                yield Mutant(f"by {name}: {_where([call])}", ((call, change),))


def _arguments(call: str) -> tuple[str, str]:
    """The two arguments of a call."""
    depth = 0
    for at in range(len(call) - 1):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(call[at], 0)
        if call[at] == "," and depth == 1:
            return call[call.index("(") + 1 : at].strip(), call[at + 1 : -1].strip()
    raise ValueError(f"expected a call with two arguments, got {call!r}")


def mutants(tape: Tape, calls: Calls) -> Iterator[Mutant]:
    """All of them, each once."""
    seen = set()
    for make in (without_flags, without_barriers, without_cross_core_flags, with_moved_tiles):
        for mutant in make(tape, calls):
            if mutant.changes and mutant.changes not in seen:
                seen.add(mutant.changes)
                yield mutant
