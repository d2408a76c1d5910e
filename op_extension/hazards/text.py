# SPDX-License-Identifier: Apache-2.0
"""A finding as text, in the way of a compiler's message."""

from __future__ import annotations

import contextlib
import functools
import re
from pathlib import Path

from op_extension.compat import shipped
from op_extension.hazards.finding import Finding, Side
from op_extension.hazards.kinds import KINDS

__all__ = ["headline_of", "mends_of", "source_line", "text_of", "why"]

_VERBS = {
    "read-after-write": ("writes", "reads"),
    "write-after-read": ("reads", "writes"),
    "write-after-write": ("writes", "writes"),
    "unwritten-read": ("touches", "reads"),
    "overlap": ("writes", "reads"),
    "out-of-range": ("touches", "touches"),
}
_ORDER = {"read-after-write", "write-after-read", "write-after-write"}
_SETS = re.compile(r"(set_|ffts_)\w+ *\(")
_WAITS = re.compile(r"wait_\w+ *\(")


def headline_of(finding: Finding) -> str:
    """What is wrong, in a line without its place."""
    first, second = (side.instruction if side else "an instruction" for side in (finding.first, finding.second))
    return KINDS[finding.kind].headline.format(first=first, second=second)


def why(finding: Finding) -> str:
    """Why it is a hazard, in a sentence."""
    first, second = finding.first, finding.second
    if finding.kind not in _ORDER or first is None or second is None:
        return KINDS[finding.kind].help
    if first.block != second.block:
        return "Blocks run side by side in any order, and nothing makes one wait for the other."
    if (first.core, first.sub_block) != (second.core, second.sub_block):
        return "The cores of a block run side by side, and no flag between them makes one wait for the other."
    if first.pipe == second.pipe:
        return f"Nothing makes one instruction of {first.pipe} wait for the other."
    return f"{first.pipe} and {second.pipe} run side by side, and no flag makes {second.pipe} wait for {first.pipe}."


def mends_of(finding: Finding) -> list[tuple[str, str]]:
    """Each statement to add, and where: ("set_flag(...);", "behind add.cpp:12")."""
    first, second = finding.first, finding.second
    behind = f"behind {first.place}" if first else ""
    before = f"before {second.place}" if second else behind
    statements = [statement.strip() + ";" for statement in finding.mend.split(";") if statement.strip()]
    if not finding.mend.endswith(";"):  # no code alone mends it
        return []
    if len(statements) == 1 and first and second and not _WAITS.match(statements[0]):
        return [(statements[0], f"{behind}, {before}")]
    return [(text, (behind or before) if _SETS.match(text) else (before or behind)) for text in statements]


@functools.lru_cache(maxsize=64)
def _lines(path: Path, changed: int) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8", errors="replace").splitlines())


def _lines_of(file: str) -> tuple[str, ...]:
    # Kernels of this package are named from the root of its sources.
    for path in (Path(file), shipped.ROOT / file):
        with contextlib.suppress(OSError):
            return _lines(path, path.stat().st_mtime_ns)
    return ()


def source_line(side: Side) -> str | None:
    """The line of the source without its indentation; None where the file is not there."""
    if side.file is None or side.line is None:
        return None
    lines = _lines_of(side.file)
    return lines[side.line - 1].strip() if 0 < side.line <= len(lines) else None


def _side(name: str, verb: str, side: Side, space: str) -> list[str]:
    touched = f"{verb} {space} {side.begin:#x} - {side.end:#x}" if verb and side.end > side.begin else ""
    who = f"{side.core} core" + (f" {side.sub_block}" if side.core == "vector" and side.sub_block else "")
    head = f"  {name}: {side.place}: {side.instruction} on {side.pipe} {touched}".rstrip()
    text = [f"{head} ({who}, block {side.block})"]
    source = source_line(side)
    if source is not None:
        text.append(f"    {side.line} | {source}")
    return text


def _bytes(finding: Finding) -> str:
    size = finding.end - finding.begin
    times = "once" if finding.times == 1 else f"{finding.times} times"
    what = f"{finding.space} {finding.begin:#x} - {finding.end:#x} ({size} bytes), " if size > 0 else ""
    return f"  {what}kernel {finding.kernel}, met {times}"


def text_of(finding: Finding) -> str:
    """The headline, both places with their lines, the bytes, the reason, and the code to add."""
    place = f"{finding.sides[0].place}: " if finding.sides else ""
    text = [f"{place}{finding.kind}: {headline_of(finding)}"]
    verbs = _VERBS.get(finding.kind, ("", ""))
    for name, verb, side in zip(("first", "then"), verbs, (finding.first, finding.second), strict=True):
        if side is not None:
            text += _side(name, verb, side, finding.space)
    text += [_bytes(finding), f"  why: {why(finding)}"]
    mends = mends_of(finding)
    if not mends and finding.mend:
        text.append(f"  to mend it: {finding.mend}")
    if mends:
        width = max(len(statement) for statement, _ in mends)
        text.append("  to mend it, add:")
        text += [f"    {statement:{width}}  {where}".rstrip() for statement, where in mends]
    return "\n".join(text)
