# SPDX-License-Identifier: Apache-2.0
"""What pip does in a command under ``op-extension run``.

It installs into the overlay, leaves out pins of torch that do not fit, and all of torch-npu, with a sentence for each.
Only the standard library, and pip where it runs.
"""

from __future__ import annotations

import importlib.machinery
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

_MAIN = "pip._internal.cli.main"
_INSTALLING = {"install", "download", "wheel"}
_REQUIREMENT = ("-r", "--requirement")
_WITH_VALUE = {
    *("-c", "--constraint", "-e", "--editable", "-t", "--target", "-d", "--dest", "-w", "--wheel-dir", "-f"),
    *("--find-links", "-i", "--index-url", "--extra-index-url", "--prefix", "--root", "--src", "--log", "--proxy"),
    *("--cache-dir", "--trusted-host", "--platform", "--python-version", "--implementation", "--abi", "--python"),
}


class PipFinder:
    """Stands first on ``sys.meta_path`` and wraps the function that each way of calling pip goes through."""

    def __init__(self, run: dict[str, Any]) -> None:
        """For the run that ``run.json`` describes."""
        self.run = run

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification of pip's main module with another loader; None for all other modules."""
        if name != _MAIN:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.run)  # type: ignore[assignment]
        return spec


class _Loader:
    def __init__(self, loader: Any, run: dict[str, Any]) -> None:
        self.loader = loader
        self.run = run

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        module.main = _wrap(module.main, self.run)  # type: ignore[attr-defined]


def install(run: dict[str, Any]) -> None:
    """Adds the finder; does nothing the second time."""
    if not any(type(finder).__name__ == PipFinder.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, PipFinder(run))


def _wrap(main: Callable[[list[str]], int], run: dict[str, Any]) -> Callable[..., int]:
    def wrapped(arguments: list[str] | None = None) -> int:
        words = sys.argv[1:] if arguments is None else arguments
        if os.path.realpath(sys.prefix) == run["prefix"]:  # not into the environment that the run was started in
            return subprocess.call([run["overlay_python"], "-m", "pip", *words])
        changed = Front(run["torch"]).arguments(words)
        return 0 if changed is None else main(changed)

    return wrapped


class Front:
    """Arguments of pip, and what of them stays."""

    def __init__(self, torch_version: str) -> None:
        """Of torch the installed version stays."""
        self.torch = torch_version
        self.kept = 0

    def arguments(self, words: list[str]) -> list[str] | None:
        """The arguments to go on with; None where nothing is left to do."""
        command = next((word for word in words if not word.startswith("-")), "")
        if command not in {*_INSTALLING, "uninstall"}:
            return words
        before, behind = words[: words.index(command) + 1], words[words.index(command) + 1 :]
        changed = [*before, *self._changed(command, behind)]
        left_out = len(changed) < len(words)
        return None if left_out and not self.kept else changed

    def _changed(self, command: str, words: list[str]) -> Iterator[str]:
        rest = iter(words)
        for word in rest:
            if word in _REQUIREMENT:
                yield from (word, self._requirements(next(rest, "")))
            elif word.startswith("--requirement="):
                yield "--requirement=" + self._requirements(word.partition("=")[2])
            elif word in _WITH_VALUE:
                self.kept += word in ("-e", "--editable")
                yield from (word, *([value] if (value := next(rest, None)) is not None else []))
            elif word.startswith("-"):
                yield word
            elif command == "uninstall" or self._stays(word, "pip"):
                self.kept += 1
                yield self._wheel(word)

    def _stays(self, line: str, where: str) -> bool:
        found = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)", line)
        name = re.sub(r"[-_.]+", "-", found[1]).lower() if found else ""
        wanted = re.split(r"\s#|\s--|;", line.strip())[0].strip()
        if name == "torch-npu":
            expected = "no torch-npu (op_extension's own torch_npu stands in for it)"
        elif name == "torch" and not _fits(wanted, self.torch):
            expected = f"torch {self.torch} (it is installed, and the libraries of npu are built for it)"
        else:
            return True
        print(f"op-extension run: {where}: expected {expected}, got {wanted}; left out", file=sys.stderr)
        return False

    def _requirements(self, name: str) -> str:
        """Path of a copy of a requirements file without what is left out; the file itself where that is nothing."""
        self.kept += 1
        path = Path(name)
        if not path.is_file():
            return name
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        kept = [self._line(line, path, number) for number, line in enumerate(lines, 1)]
        if kept == lines:
            return name
        with tempfile.NamedTemporaryFile("w", suffix=f"_{path.name}", delete=False, encoding="utf-8") as file:
            file.write("\n".join(kept) + "\n")
        return file.name

    def _line(self, line: str, path: Path, number: int) -> str:
        nested = re.match(r"\s*(?:-r|--requirement)[\s=]+(\S+)", line)
        if nested:
            inner = path.parent / nested[1]
            return f"-r {self._requirements(str(inner.absolute()))}" if inner.is_file() else line
        return line if self._stays(line, f"{path.name}, line {number}") else ""

    def _wheel(self, word: str) -> str:
        """The one wheel of that project and version in the folder, where instructions name one for another Python."""
        path = Path(word)
        if path.suffix != ".whl" or path.exists():
            return word
        found = sorted(path.parent.glob("-".join(path.name.split("-")[:2]) + "-*.whl"))
        if len(found) != 1:
            return word
        print(f"op-extension run: expected {path.name}, got {found[0].name} in its folder; taken", file=sys.stderr)
        return str(found[0])


def _fits(requirement: str, version: str) -> bool:
    from pip._vendor.packaging.requirements import InvalidRequirement, Requirement

    try:
        wanted = Requirement(requirement)
    except InvalidRequirement:
        return True  # pip has a sentence of its own
    return wanted.url is None and wanted.specifier.contains(version, prereleases=True)
