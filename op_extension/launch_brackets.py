# SPDX-License-Identifier: Apache-2.0
r"""Rewrites what only the chip's compiler reads to what any C++ compiler reads: launches in brackets above all.

``kernel<T...><<<blocks, l2, stream>>>(arguments);`` becomes a call of ``npu::LaunchBody`` with a lambda that calls the
kernel, ``asm volatile("MOV %0, SYS_CNT\n" : "+l"(x));`` a read of the time. Other text stays, and so do line numbers.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from op_extension import kernel_cores

_INCLUDE = "#include <npu/launch.hpp>"
_OPENING = "([{"
_CLOSING = ")]}"
_BLANK = " \t\r\n\\"  # a line that goes on, too
_LITERAL = re.compile(
    r"""
    //[^\n]* | /\*.*?\*/
    | (?<!\w)(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
    | "(?:\\.|[^"\\\n])*"
    | (?<!\w)(?:u8|[uUL])?'(?:\\.|[^'\\\n])+'  # behind a digit, ' parts digits
    """,
    re.DOTALL | re.VERBOSE,
)

# Reads of the chip's registers in its assembly language.
_REGISTER_READ = re.compile(
    r"""
    \b(?:asm|__asm__)\s+(?:volatile|__volatile__)\s*
    \(\s*"MOV\ %0,\ (?P<register>SYS_CNT|PC)\\n"\s*:\s*"\+l"\s*\(\s*(?P<variable>\w+)\s*\)\s*\)
    """,
    re.VERBOSE,
)
_REGISTER_VALUES = {"SYS_CNT": "get_sys_cnt()", "PC": "0"}


class LaunchSyntaxError(ValueError):
    """A launch in brackets that does not end."""


def rewrite(source: str, name: str = "<source>") -> str:
    """The text of ``source`` with its launches, and its reads of the chip's registers, rewritten.

    Args:
        source: C++ text.
        name: file name for messages and for ``#line``.

    Returns:
        The new text; the old one, unchanged, when it holds neither.

    Raises:
        LaunchSyntaxError: a launch whose brackets do not close.
    """
    source = _REGISTER_READ.sub(_register_value, source)
    code = without_literals(source)
    if "<<<" not in code:
        return source
    text = _without_comments(source)
    declared = kernel_cores.declared_in(code)
    parts: list[str] = []
    done = 0
    for match in re.finditer(r"<<<", code):
        if match.start() < done:
            continue
        start = _kernel_start(code, match.start())
        middle, options = _options(code, text, match.end())
        opening = code.find("(", middle) if middle >= 0 else -1
        closing = _matching(code, opening) if opening >= 0 else -1
        if closing < 0:
            line = code.count("\n", 0, match.start()) + 1
            raise LaunchSyntaxError(f"{name}:{line}: expected a launch kernel<<<...>>>(...), got one that does not end")
        kernel = text[start : match.start()].strip(_BLANK)
        name_of = _quoted(kernel, _macro_parameters(code, start))
        body = f"[=] {{ {kernel}{text[opening : closing + 1]}; }}"
        call = f"::npu::LaunchBody({name_of}, {options[0]}, {options[2]}, {body}{_cores(kernel, declared)})"
        parts += [source[done:start], call]
        parts.append(_newlines(source, start, source.count("\n", start, closing + 1) - call.count("\n")))
        done = closing + 1
    return f"{_INCLUDE}\n{line_directive(name)}\n" + "".join([*parts, source[done:]])


def line_directive(path: str, line: int = 1) -> str:
    """``#line``, for any name of a file."""
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {line} "{quoted}"'


def _register_value(match: re.Match[str]) -> str:
    """An assignment of what a register of the chip holds here; programs are nowhere, so the program counter is 0."""
    return f"{match['variable']} = {_REGISTER_VALUES[match['register']]}" + "\n" * match.group().count("\n")


def _cores(kernel: str, declared: dict[str, tuple[str, ...]]) -> str:
    """The last argument of a launch of a kernel that says which kinds of core it is for."""
    cores = declared.get(re.split(r"<", kernel)[0].rpartition("::")[2].strip())
    return f", {kernel_cores.as_cpp(cores)}" if cores else ""


def _newlines(source: str, at: int, count: int) -> str:
    """``count`` line ends, continued where the launch stands in a macro."""
    end = source.find("\n", at)
    in_macro = end > 0 and source[end - 1] == "\\"
    return ("\\\n" if in_macro else "\n") * max(count, 0)


def without_literals(source: str, keep: str = "") -> str:
    """``source`` with comments, strings and characters blanked, at the same positions; the string ``keep`` stays."""
    return _LITERAL.sub(lambda m: m.group() if m.group() == keep else re.sub(r"[^\n]", " ", m.group()), source)


def _without_comments(source: str) -> str:
    """``source`` with comments blanked, at the same positions; line ends of macros go on."""

    def blank(match: re.Match[str]) -> str:
        text = match.group()
        return re.sub(r"\\(?!\n)|[^\n\\]", " ", text) if text.startswith(("//", "/*")) else text

    return _LITERAL.sub(blank, source)


def _options(code: str, text: str, start: int) -> tuple[int, list[str]]:
    """Where the options of a launch that start there end, -1 when nowhere, and the three of them.

    ``>>>`` may also end template arguments in an option: the first one counts behind which there are three options, or
    else the first one.
    """
    found: tuple[int, list[str]] = (-1, [])
    depth = 0
    at = start
    while at < len(code) and not (code[at] == ";" and depth == 0) and depth >= 0:
        depth += (code[at] in _OPENING) - (code[at] in _CLOSING)
        if depth == 0 and code.startswith(">>>", at):
            options = _split(code, text, start, at)
            if found[0] < 0 or len(options) >= 3:
                found = (at, options + ["nullptr"] * (3 - len(options)))
            if len(options) >= 3:
                break
            at += 2
        at += 1
    return found


def _kernel_start(code: str, end: int) -> int:
    """Where the name of the kernel that ends before ``end`` starts, its template arguments included."""
    at = end
    while at > 0 and code[at - 1].isspace():
        at -= 1
    if at > 0 and code[at - 1] == ">":
        at = _template_start(code, at)
        while at > 0 and (code[at - 1].isspace() or code[at - 1] == "\\"):
            at -= 1
    while at > 0 and code[at - 1] in ")]":  # a macro that makes the name, or one of an array
        at = _matching_opening(code, at - 1)
    while at > 0:
        if code[at - 1].isalnum() or code[at - 1] in "_#":
            at -= 1
        elif code.startswith("::", at - 2):
            at -= 2
        else:
            break
    return at


def _template_start(code: str, end: int) -> int:
    """Where the template arguments that end before ``end`` start."""
    depth = 0
    at = end
    while at > 0:
        at -= 1
        if code[at] in ")]":
            at = _matching_opening(code, at)
        elif code[at] == ">":
            depth += 1
        elif code[at] == "<":
            depth -= 1
            if depth == 0:
                break
    return at


def _matching_opening(code: str, closing: int) -> int:
    """Position of the bracket that the one at ``closing`` closes; 0 when there is none."""
    depth = 0
    for at in range(closing, -1, -1):
        depth += (code[at] in _CLOSING) - (code[at] in _OPENING)
        if depth == 0:
            return at
    return 0


def _macro_parameters(code: str, at: int) -> list[str]:
    """Parameters of the macro whose definition ``at`` stands in; none outside of one."""
    start = code.rfind("#define", 0, at)
    if start < 0 or re.search(r"[^\\]\n", code[start:at]):
        return []
    match = re.match(r"#define\s+\w+\(([^)]*)\)", code[start:at])
    return [name.strip() for name in match[1].split(",")] if match else []


def _matching(code: str, opening: int) -> int:
    """Position of the bracket that closes the one at ``opening``; -1 when there is none."""
    depth = 0
    for at in range(opening, len(code)):
        if code[at] in _OPENING:
            depth += 1
        elif code[at] in _CLOSING:
            depth -= 1
            if depth == 0:
                return at
    return -1


def _split(code: str, text: str, start: int, end: int) -> list[str]:
    """The launch options from ``start`` to ``end`` of ``text``, split at commas of ``code`` outside of brackets."""
    parts, depth, begin = [], 0, start
    for at in range(start, end):
        depth += (code[at] in _OPENING) - (code[at] in _CLOSING)
        if code[at] == "," and depth == 0:
            parts.append(text[begin:at].strip(_BLANK))
            begin = at + 1
    return [*parts, text[begin:end].strip(_BLANK)]


def _quoted(kernel: str, parameters: list[str]) -> str:
    """The name of the kernel as a C++ string. A macro pastes it of pieces, some of which are its parameters."""
    name = re.sub(r"[\s\\]+", " ", kernel.split("<")[0]).strip()
    pieces = [piece.strip() for piece in name.split("##")]
    return " ".join(f"#{piece}" if piece in parameters else f'"{piece}"' for piece in pieces)


def main() -> int:
    """Rewrites one file to another: ``python -m op_extension.launch_brackets FROM TO``."""
    if len(sys.argv) != 3:
        print("launch_brackets: expected FROM and TO, got " + " ".join(sys.argv[1:]), file=sys.stderr)
        return 2
    source, target = map(Path, sys.argv[1:])
    try:
        target.write_text(rewrite(source.read_text(encoding="utf-8"), str(source)), encoding="utf-8")
    except LaunchSyntaxError as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, UnicodeError) as error:
        print(f"launch_brackets: expected files of UTF-8 text, got {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
