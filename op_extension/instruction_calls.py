# SPDX-License-Identifier: Apache-2.0
"""Which instructions a source calls, with their types and lines, as the compiler sees them.

The source is compiled with nothing inlined, so that each instruction is a function of its own; the calls of its object
file tell the rest.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from op_extension._load import include_path
from op_extension.building import include_paths
from op_extension.errors import CompileError
from op_extension.jit.diagnostics import compile_error
from op_extension.jit.toolchain import Compiler, kernel_flags, run
from op_extension.launch_brackets import line_directive

_PLACE = re.compile(r"^(?P<path>/[^:]*):(?P<line>\d+)(?: \(discriminator \d+\))?$")
_TARGET = re.compile(r"\sR_[A-Z0-9_]+\s+(?P<symbol>_?\w[\w.$]*?)(?:[-+]0x[0-9a-f]+)?$")
# Instructions are always inlined, but for this.
_OWN_FUNCTIONS = ("-O0", "-fno-inline", "-Dalways_inline=noinline", "-w")


class Call(NamedTuple):
    """A call of a function with the symbol ``symbol`` in line ``line`` of ``path``."""

    path: str
    line: int
    symbol: str


class Function(NamedTuple):
    """A function in C++'s spelling: ``pto::TADD``, its template arguments, the types of its parameters."""

    name: str
    template: str
    parameters: tuple[str, ...]


def calls(compiler: Compiler, source: Path, text: str, core: str, flags: Sequence[str], work: Path) -> list[Call]:
    """The calls that the pass ``core`` of a source makes, in order of lines.

    Args:
        compiler: that compiles.
        source: the caller's file.
        text: what is compiled in its place.
        core: a pass of kernel_flags.txt.
        flags: of the caller.
        work: folder for files.

    Raises:
        CompileError: it does not compile.
    """
    unit, made = work / f"{core}.cpp", work / f"{core}.o"
    unit.write_text(f"{line_directive(str(source))}\n{text}", encoding="utf-8")
    folders = [f"-I{folder}" for folder in (source.parent, *include_paths())]
    command = [*compiler.command, *kernel_flags(core), *_OWN_FUNCTIONS, *flags, *folders]
    command += ["-c", str(unit), "-o", str(made)]
    done = run(command)
    if done.returncode:
        foreign = (include_path(), str(work), "/usr/include", "/usr/lib")
        raise compile_error(done.stderr, shlex.join(command), foreign, source.stem, source, core)
    return sorted(set(_of_object(made)))


def _of_object(made: Path) -> list[Call]:
    done = run(["objdump", "--disassemble", "--reloc", "--line-numbers", "--no-show-raw-insn", str(made)])
    if done.returncode:
        raise CompileError(f"objdump: expected the instructions of {made.name}, got: {done.stderr.strip()}")
    shipped = (include_path(), "/usr/")
    found, path, line = [], "", 0
    for text in done.stdout.splitlines():
        place = _PLACE.match(text)
        if place:
            path, line = place["path"], int(place["line"])
            continue
        target = _TARGET.search(text)
        if target and path and not path.startswith(shipped):
            found.append(Call(path, line, target["symbol"]))
    return found


def functions(symbols: Sequence[str]) -> dict[str, Function]:
    """Symbols that are functions outside of classes and of the insides of headers, by symbol."""
    done = run(["c++filt", *symbols]) if symbols else None
    spelled = done.stdout.splitlines() if done else []
    found = {symbol: _function(text) for symbol, text in zip(symbols, spelled, strict=True) if text.endswith(")")}
    return {symbol: function for symbol, function in found.items() if function is not None}


def _function(text: str) -> Function | None:
    """``pto::RecordEvent pto::TADD<A, B, C>(A&, B&, C&)`` in its parts."""
    opening = _opening(text, len(text) - 1)
    head, template = text[:opening], ""
    if head.endswith(">"):
        start = _opening(head, len(head) - 1)
        head, template = head[:start], head[start + 1 : -1]
    name = _last_word(head)
    parts = name.split("::")
    if not all(re.fullmatch(r"\w+", part) for part in parts) or len(parts) > 3:
        return None
    if len(parts) > 1 and (parts[0] != "pto" or "detail" in parts):
        return None
    return Function(name, template, _split(text[opening + 1 : -1]))


def _opening(text: str, closing: int) -> int:
    """Place of the bracket that the one at closing ends. Operators with brackets do not occur in types."""
    depth = 0
    for at in range(closing, -1, -1):
        depth += text[at] in ")>"
        depth -= text[at] in "(<"
        if depth == 0:
            return at
    return 0


def _last_word(text: str) -> str:
    """What stands behind the last space outside of brackets."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += text[at] in ")>"
        depth -= text[at] in "(<"
        if depth == 0 and text[at] == " ":
            return text[at + 1 :]
    return text


def _split(text: str) -> tuple[str, ...]:
    """Parts between commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += letter in "(<["
        depth -= letter in ")>]"
        if letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return tuple([*parts, last] if last else parts)
