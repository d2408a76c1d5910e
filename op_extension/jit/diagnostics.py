# SPDX-License-Identifier: Apache-2.0
"""From what the compiler writes to the place in the caller's own file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from op_extension.errors import CompileError

_PLACE = re.compile(r"^(?P<path>[^\s:][^:]*):(?P<line>\d+):(?:\d+:)?\s*(?P<text>.*)$")
_ERROR = re.compile(r"^(?:fatal )?error: (?P<message>.*)$")
_CAUSED_BY = re.compile(r"required from|required by|in expansion of macro|in 'constexpr' expansion")
_CAUSED_AFTER = re.compile(r"note: .*(in expansion of macro|required (from|by))")


class _Line(NamedTuple):
    path: str
    line: int
    text: str


def _lines(output: str) -> list[_Line]:
    found = (_PLACE.match(line) for line in output.splitlines())
    return [_Line(match["path"], int(match["line"]), match["text"]) for match in found if match]


def _first_error(lines: list[_Line]) -> int | None:
    return next((i for i, line in enumerate(lines) if _ERROR.match(line.text)), None)


def _own_place(lines: list[_Line], error: int, is_own: Iterable[str]) -> _Line | None:
    """The caller's line of an error: where it is, else where the template or macro that holds it is used."""
    folders = tuple(is_own)

    def own(line: _Line) -> bool:
        return not line.path.startswith(folders) and not line.path.startswith("<")

    if own(lines[error]):
        return lines[error]
    for line in reversed(lines[:error]):  # "required from here" stands before, the outermost last
        if _ERROR.match(line.text):
            break
        if own(line) and _CAUSED_BY.search(line.text):
            return line
    for line in lines[error + 1 :]:
        if _ERROR.match(line.text):
            break
        if own(line) and _CAUSED_AFTER.search(line.text):
            return line
    return None


def _source_line(path: Path, line: int) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()[line - 1]
    except (OSError, IndexError):
        return ""


def link_error(output: str, command: str, source: Path) -> CompileError:
    """The exception for what the linker wrote."""
    missing = sorted(set(re.findall(r"undefined reference to [`'](.*?)'$", output, re.MULTILINE)))
    if missing:
        message = f"{source}: expected a definition of {', '.join(missing)}, got none"
    else:
        message = f"{source}: expected the linker to end with 0, got an error"
    return CompileError(message, source, None, output, command)


def _entry_message(sentence: str, entry: str, core: str) -> str:
    """What an error in the generated lines behind the caller's file means for the file."""
    if sentence.startswith("expected "):  # the text of these lines alone is good syntax
        return f"expected a declaration that is whole at the end of the file (a brace is open?), got: {sentence}"
    if "unable to deduce" in sentence and not entry.endswith(">"):
        return (
            f'expected the name of one function, of a template with its arguments (entry="{entry}<float>"), '
            f"got {entry}, which is a template or several functions"
        )
    return (
        f'expected a kernel {entry} (extern "C" __global__ AICORE void {entry}(...)) in the {core} pass, '
        f"got: {sentence}; core= in kernel.load says which passes there are"
    )


def compile_error(
    output: str, command: str, foreign: Iterable[str], entry: str, source: Path, core: str
) -> CompileError:
    """The exception for what the compiler wrote.

    Args:
        output: standard error of the compiler.
        command: the command.
        foreign: folders and files that are not the caller's: shipped headers, the generated unit, system headers.
        entry: the kernel.
        source: the caller's file.
        core: the pass.
    """
    lines = _lines(output)
    error = _first_error(lines)
    if error is None:
        message = f"{source}: expected the compiler to end with 0, got an error without a place"
        return CompileError(message, source, None, output, command)
    text = _ERROR.match(lines[error].text)
    sentence = text["message"] if text else ""
    if lines[error].path == "<entry>":
        return CompileError(f"{source}: {_entry_message(sentence, entry, core)}", source, None, output, command)
    place = _own_place(lines, error, foreign) or lines[error]
    path = Path(place.path)
    message = f"{path}:{place.line}: error: {sentence}\n  {place.line:5} | {_source_line(path, place.line)}"
    if place != lines[error]:
        message += f"\n  (found in {lines[error].path}:{lines[error].line})"
    return CompileError(message, path, place.line, output, command)
