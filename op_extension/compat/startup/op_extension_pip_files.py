# SPDX-License-Identifier: Apache-2.0
"""Requirements and constraints files of pip, without the lines that are left out."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

_NESTED = re.compile(
    r"\s*(-r|--requirement|-c|--constraint|-f|--find-links)(?:[\s=]+|(?<=-[rcf]))"
    r"""("[^"]*"|'[^']*'|\S+)"""
)
_EDITABLE = re.compile(r"\s*(?:-e|--editable)[\s=]*(.*)")
_LINKS = ("-f", "--find-links")


class Files:
    """Copies of files that pip is given, for as long as it runs."""

    def __init__(self, stays: Callable[[str, str], bool]) -> None:
        """Args: stays, which says of a requirement and its place whether it stays."""
        self.stays = stays
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        self.reading: list[Path] = []

    def close(self) -> None:
        """Removes the copies."""
        if self.folder is not None:
            self.folder.cleanup()

    def changed(self, name: str) -> str:
        """Path of a copy without what is left out; the file itself where that is nothing."""
        path = Path(name)
        if not path.is_file():
            return name
        # As bytes that need not be text: pip reads the encoding that the file names.
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        self.reading.append(path.resolve())
        kept, is_changed = self._lines(lines, path)
        self.reading.pop()
        return self._copy(path.name, kept) if is_changed else name

    def _copy(self, name: str, lines: list[str]) -> str:
        if self.folder is None:
            self.folder = tempfile.TemporaryDirectory(prefix="op_extension_pip_")
        # The copies of two files of one name, and what is in a folder of its own: its name is in pip's sentences.
        copy = Path(tempfile.mkdtemp(dir=self.folder.name), name)
        copy.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogateescape")
        return str(copy)

    def _lines(self, lines: list[str], path: Path) -> tuple[list[str], bool]:
        """The lines of a copy, with absolute paths, and whether there is to be one."""
        kept: list[str] = []
        is_changed = False
        while len(kept) < len(lines):
            first = len(kept)
            end = first + 1
            while end < len(lines) and lines[end - 1].endswith("\\") and not lines[end - 1].lstrip().startswith("#"):
                end += 1
            whole = " ".join(line.removesuffix("\\") for line in lines[first:end])
            place = f"{path.name}, line {first + 1}"
            nested, editable = _NESTED.match(whole), _EDITABLE.match(whole)
            if nested:
                line, changes = self._nested(nested, whole, path, place)
            else:
                changes = not self.stays(editable[1] if editable else whole, place)
                line = "" if changes else whole
            # As many lines as there were, so that those that follow keep their numbers.
            kept += lines[first:end] if line == whole else [line] + [""] * (end - first - 1)
            is_changed = is_changed or changes
        return kept, is_changed

    def _nested(self, found: re.Match[str], line: str, path: Path, place: str) -> tuple[str, bool]:
        """The line with the absolute path of what it names, or of a copy of that; whether it says something else."""
        option = found[1]
        name = re.sub(r"\$\{[A-Z0-9_]+\}", lambda each: os.path.expandvars(each[0]), found[2].strip("'\""))
        named = (path.parent / name).absolute()
        if not named.exists():  # an address, or pip's own sentence
            return line, False
        if option not in _LINKS and named.resolve() in self.reading:
            print(f"op-extension run: {place}: expected another file, got {name} in itself; left out", file=sys.stderr)
            return "", True
        inner = str(named) if option in _LINKS else self.changed(str(named))
        return f"{option} {shlex.quote(inner)}{line[found.end() :]}", inner != str(named)
