# SPDX-License-Identifier: Apache-2.0
"""Mutants of a kernel: its text with a flag, a barrier or an address changed, in lines that a launch has executed."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from test.check.mutation import recording
from test.check.mutation.oracle import core_of
from test.check.mutation.recording import Tape

_NOTHING = "(void)0"
_KERNEL = re.compile(
    r'extern "C" __global__ AICORE void (\w+)\(.*?\n}\n|^\w+_KERNEL\((\w+),.*?\)\n', re.DOTALL | re.MULTILINE
)


class Call(NamedTuple):
    """A call in the text of a file: where its name starts, and where it ends behind the parenthesis."""

    file: Path
    line: int
    begin: int
    end: int


class Mutant(NamedTuple):
    """What is changed, and into which text: by file, in the lines where it was."""

    name: str
    texts: dict[Path, str]


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


def _calls(names: tuple[str, ...], file: Path, line: int) -> list[Call]:
    """Calls that start in a line; one may go on in the next ones."""
    text = file.read_text()
    begin = sum(map(len, text.splitlines(keepends=True)[: line - 1]))
    end = text.find("\n", begin)
    comment = text.find("//", begin, end)
    end = end if comment == -1 else comment
    calls = []
    for name in names:
        at = text.find(f"{name}", begin, end)
        while at != -1:
            calls.append(Call(file, line, at, _behind_parentheses(text, text.index("(", at))))
            at = text.find(f"{name}", at + 1, end)
    return calls


def _behind_parentheses(text: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    raise ValueError(f"expected a parenthesis that closes, got {text[opening : opening + 80]!r}")


def _changed(edits: list[tuple[Call, str]]) -> dict[Path, str]:
    """The files with calls replaced. Lines stay where they are."""
    texts: dict[Path, str] = {}
    for call, replacement in sorted(edits, key=lambda edit: edit[0].begin, reverse=True):
        text = texts.get(call.file) or call.file.read_text()
        lost = text[call.begin : call.end].count("\n")
        texts[call.file] = text[: call.begin] + replacement + "\n" * lost + text[call.end :]
    return texts


def _where(*calls: Call) -> str:
    return " ".join(f"{call.file.name}:{call.line}" for call in calls)


def _removed(what: str, calls: list[Call]) -> Mutant:
    return Mutant(f"without {what} {_where(*calls)}", _changed([(call, _NOTHING) for call in calls]))


def without_flags(tape: Tape) -> Iterator[Mutant]:
    """Without each set and wait that belong together: both are met by the same cores equally often with each id; and
    without all flags between two pipes."""
    sets, waits = _places(tape, (recording.SET,)), _places(tape, (recording.WAIT,))
    by_pipes: dict[tuple, list[Call]] = defaultdict(list)
    calls = {}
    for name, places in (("set_flag", sets), ("wait_flag", waits)):
        for place, met in places.items():
            for call in _calls((name,), *place):
                calls[name, place] = call
                by_pipes[next(iter(met))[1:3]].append(call)
    for (one, met), (other, met_too) in product(sets.items(), waits.items()):
        if met == met_too and ("set_flag", one) in calls and ("wait_flag", other) in calls:
            yield _removed("flag", [calls["set_flag", one], calls["wait_flag", other]])
    for of_pipes in by_pipes.values():
        if len(of_pipes) > 2:
            yield _removed("flags", of_pipes)


def without_barriers(tape: Tape) -> Iterator[Mutant]:
    """Without each pipe_barrier, and each SYNCALL."""
    for name, kind in (("pipe_barrier", recording.BARRIER), ("SYNCALL", recording.ARRIVE)):
        for place in _places(tape, (kind,)):
            for call in _calls((name,), *place):
                yield _removed(name, [call])


def without_cross_core_flags(tape: Tape) -> Iterator[Mutant]:
    """Without each set and wait of one id."""
    sets = _places(tape, (recording.SET_CROSS,))
    waits = _places(tape, (recording.WAIT_CROSS,))
    for (one, met), (other, met_too) in product(sets.items(), waits.items()):
        if {what[3] for what in met} == {what[3] for what in met_too}:
            calls = [*_calls(("ffts_cross_core_sync",), *one), *_calls(("wait_flag_dev",), *other)]
            yield _removed("cross-core flag", calls)


def with_moved_tiles(tape: Tape) -> Iterator[Mutant]:
    """With each tile 32 bytes, and as many as it has, behind its place."""
    for place in _places(tape, (recording.PLACEMENT,)):
        for call in _calls(("TASSIGN",), *place):
            text = call.file.read_text()[call.begin : call.end]
            tile, address = _arguments(text)
            for name, distance in (("32 bytes", "32"), ("a tile", f"recorder::BytesOf({tile})")):
                moved = f"TASSIGN({tile}, ({address}) + {distance})"
                yield Mutant(f"by {name}: {_where(call)}", _changed([(call, moved)]))


def _arguments(call: str) -> tuple[str, str]:
    """The two arguments of a call."""
    depth = 0
    for at in range(len(call) - 1):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(call[at], 0)
        if call[at] == "," and depth == 1:
            return call[call.index("(") + 1 : at].strip(), call[at + 1 : -1].strip()
    raise ValueError(f"expected a call with two arguments, got {call!r}")


def mutants(tape: Tape) -> Iterator[Mutant]:
    """All of them, each text once."""
    seen = []
    for make in (without_flags, without_barriers, without_cross_core_flags, with_moved_tiles):
        for mutant in make(tape):
            if mutant.texts not in seen:
                seen.append(mutant.texts)
                yield mutant
