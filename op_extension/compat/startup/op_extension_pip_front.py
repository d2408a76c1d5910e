# SPDX-License-Identifier: Apache-2.0
"""Which arguments of pip stay in a command under ``op-extension run``.

Pins of torch that do not fit are left out, and all of torch-npu, with a sentence for each. pip's own parsers say which
options take a value.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

# By its name on the path of every Python of a run.
_Files = importlib.import_module("op_extension_pip_files").Files
_CHANGED = {"install", "download", "wheel", "uninstall"}
_ARCHIVE = re.compile(
    r"(?:^|[/\\])([A-Za-z0-9][\w.-]*?)-(\d[^/-]*?|\*)(?:-[^/]*\.whl|\.whl|\.tar\.gz|\.tar\.bz2|\.zip)(?:[?#].*)?$"
)


class Front:
    """Arguments of pip, and what of them stays."""

    def __init__(self, torch_version: str) -> None:
        """Of torch the installed version stays."""
        self.torch = torch_version
        self.kept = 0
        self.left_out = 0
        self.command = ""
        self.files = _Files(self._stays)

    def close(self) -> None:
        """Removes the copies that the arguments name."""
        self.files.close()

    def arguments(self, words: list[str]) -> list[str] | None:
        """The arguments to go on with; None where nothing is left to do."""
        from pip._internal.cli.main_parser import create_main_parser

        before = 0
        for option, _, given in _parsed(create_main_parser(), words):
            if not option:
                break
            before += len(given)
        self.command = words[before] if before < len(words) else ""
        if self.command not in _CHANGED:
            return words
        changed = [*words[: before + 1], *self._changed(words[before + 1 :])]
        return None if self.left_out and not self.kept else changed

    def _changed(self, words: list[str]) -> Iterator[str]:
        from pip._internal.commands import create_command

        for option, value, given in _parsed(create_command(self.command).parser, words):
            if option in ("--requirement", "--constraint"):
                self.kept += option == "--requirement"
                changed = self.files.changed(value)
                yield from given if changed == value else (f"-{option[2]}", changed)
            elif option == "--editable":
                yield from given if self._keeps(value) else []
            elif option == "--user":  # the overlay is the place, and pip refuses another in an environment
                continue
            elif option or value == "--":
                yield from given
            elif self._keeps(value):
                yield self._wheel(value)

    def _keeps(self, requirement: str) -> bool:
        stays = self._stays(requirement, "pip")
        self.kept += stays
        return stays

    def _stays(self, line: str, where: str) -> bool:
        name, wanted, given = _requirement(line)
        if name == "torch-npu":
            expected = "no torch-npu (op_extension's own torch_npu stands in for it)"
        elif name == "torch" and self.command != "uninstall" and not _fits(wanted, self.torch):
            expected = f"torch {self.torch} (it is installed, and the libraries of npu are built for it)"
        else:
            return True
        self.left_out += where == "pip"
        print(f"op-extension run: {where}: expected {expected}, got {given}; left out", file=sys.stderr)
        return False

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


def _parsed(parser: Any, words: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """The long name of an option, or none of what is no option; its value; the words that it was given in."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            yield "", word, [word]
            yield from (("", other, [other]) for other in rest)
            return
        name, value = _option(parser, word)
        option = parser.get_option(name) if name else None
        if option is None:
            yield word if name else "", "" if name else word, [word]
        elif option.takes_value() and value is None and rest:
            value = rest.pop(0)
            yield _long(option), value, [word, value]
        else:
            yield _long(option), value or "", [word]


def _option(parser: Any, word: str) -> tuple[str, str | None]:
    """Name of the option in word, as the parser knows it, and the value that is glued to it."""
    if word.startswith("--"):
        name, is_glued, value = word.partition("=")
        known = [option for option in parser._long_opt if option.startswith(name)]
        return (known[0] if len(known) == 1 and name not in known else name), value if is_glued else None
    if not word.startswith("-") or word == "-":
        return "", None
    for index, letter in enumerate(word[1:], 1):  # several in one word: those before the last take no value
        option = parser.get_option(f"-{letter}")
        if option is None or option.takes_value():
            return f"-{letter}", word[index + 1 :] or None
    return word[:2], None


def _long(option: Any) -> str:
    return str(option._long_opts[0] if option._long_opts else option)


def _requirement(text: str) -> tuple[str, str, str]:
    """The project that a requirement, an archive or an address names, how pip would ask for it, and what was given."""
    given = re.split(r"\s#|\s--|;", text.strip())[0].strip()
    archive, egg = _ARCHIVE.search(given), re.search(r"[#&]egg=([\w.-]+)", given)
    found = re.match(r"([A-Za-z0-9][A-Za-z0-9._-]*)", given)
    if archive:
        name = archive[1]
        version = unquote(archive[2]).partition("+")[0]
        wanted = name if version == "*" else f"{name}=={version}"
    elif egg or found:
        name, wanted = (egg or found)[1], given  # type: ignore[index]
    else:
        return "", given, given
    return re.sub(r"[-_.]+", "-", name).lower(), wanted, given


def _fits(requirement: str, version: str) -> bool:
    from pip._vendor.packaging.requirements import InvalidRequirement, Requirement

    try:
        wanted = Requirement(requirement)
    except InvalidRequirement:
        return True  # pip has a sentence of its own
    return wanted.url is None and wanted.specifier.contains(version, prereleases=True)
