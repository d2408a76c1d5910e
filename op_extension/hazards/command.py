# SPDX-License-Identifier: Apache-2.0
"""``op-extension check``: runs a command and reports what the hazard checker found in its kernels."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from op_extension.compat import child
from op_extension.hazards import suppression
from op_extension.hazards.finding import Finding
from op_extension.hazards.kinds import DEFAULT_SWITCHES, bits_of
from op_extension.hazards.outcome import NOT_CHECKED, Outcome
from op_extension.hazards.report import FORMATS, Report
from op_extension.source_lines import lines_at

__all__ = ["Options", "check"]

_USAGE = "usage: op-extension check [OPTION...] COMMAND [ARGUMENT...]"
_WRONG_USAGE = 2
_FOUND = 1


class Options(NamedTuple):
    """What the command line says; None where it is silent."""

    words: list[str]
    format: str | None = None
    output: str | None = None
    kinds: str | None = None
    suppressions: str | None = None


def check(options: Options) -> int:
    """Runs the command, writes the report, and returns the exit code.

    That is 1 with findings, 2 for a wrong usage, and else the exit code of the command.
    """
    command = options.words[1:] if options.words[:1] == ["--"] else options.words
    if command and command[0].endswith(".py") and Path(command[0]).is_file() and not os.access(command[0], os.X_OK):
        command = [sys.executable, *command]
    try:
        if not command:
            raise ValueError(f"expected a command, got none; {_USAGE}")
        made_in = _format(options)
        kinds = options.kinds if options.kinds is not None else ",".join(DEFAULT_SWITCHES)
        bits_of(kinds)
        suppress = suppression.read(Path(options.suppressions)) if options.suppressions is not None else []
        if options.output is not None:
            Path(options.output).open("a").close()
    except (OSError, ValueError) as error:
        _say(f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error))
        return _WRONG_USAGE
    try:
        with child.Signals() as signals, tempfile.TemporaryDirectory(prefix="op_extension_check_") as folder:
            given = {"NPU_CHECK": "hazards", "NPU_HAZARD_KINDS": kinds, "NPU_HAZARD_REPORT": folder}
            code = child.run(command, {**os.environ, **given}, signals, _say)
            processes = list(_processes(Path(folder)))
            findings = list(_findings(processes))
    except child.Ended as end:
        _say(f"expected the command to start, got {signal.Signals(end.number).name}")
        return 128 + end.number
    outcome = Outcome(sum(process["launches"] for process in processes), code)
    if not outcome.launches:
        _say(NOT_CHECKED)
    return _write(Report(findings, suppress, outcome), made_in, options.output) or code


def _format(options: Options) -> str:
    if options.format is not None or options.output is None:
        return options.format or "text"
    suffix = Path(options.output).suffix.lower()
    return next((name for name, suffixes in FORMATS.items() if suffix in suffixes), "text")


def _processes(folder: Path) -> Iterator[dict[str, Any]]:
    """What each process of the command has written."""
    for path in sorted(folder.glob("*.json")):
        made: dict[str, Any] = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        yield made


def _findings(processes: list[dict[str, Any]]) -> Iterator[Finding]:
    rows = [row for process in processes for row in process["findings"]]
    sides = [row[name] for row in rows for name in ("first", "second") if row[name] is not None]
    lines = lines_at((side["library"], side["offset"]) for side in sides)
    for row in rows:
        named = dict(row)
        for name in ("first", "second"):
            if row[name] is not None:
                side = dict(row[name])
                side["place"] = lines[side.pop("library"), side.pop("offset")]
                named[name] = side
        yield Finding.of_dict(named)


def _write(report: Report, made_in: str, output: str | None) -> int:
    text = report.to_format(made_in).rstrip("\n") + "\n"
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        try:
            Path(output).write_text(text, encoding="utf-8")
        except OSError as error:
            _say(f"{output}: {error.strerror}")
            return _WRONG_USAGE
        if made_in != "text":
            _say(report.to_text().splitlines()[-1] + f", see {output}")
    return _FOUND if report else 0


def _say(sentence: str) -> None:
    print(f"op-extension check: {sentence}", file=sys.stderr)
