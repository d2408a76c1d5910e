# SPDX-License-Identifier: Apache-2.0
"""Findings as SARIF 2.1.0 (OASIS standard), the format of code scanning."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from op_extension._version import __version__
from op_extension.hazards.finding import Finding, Side
from op_extension.hazards.formats import Suppressed, unused_sentence
from op_extension.hazards.kinds import KINDS
from op_extension.hazards.outcome import NOT_CHECKED, Outcome
from op_extension.hazards.suppression import Suppression
from op_extension.hazards.text import headline_of, mends_of, source_line, text_of, why

__all__ = ["sarif_of"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_WARNINGS = {"overlap", "flag", "vector_order"}  # switches: these harm only together with something else


def _level(kind: str) -> str:
    return "warning" if KINDS[kind].switch in _WARNINGS else "error"


def _rule(kind: str) -> dict[str, Any]:
    about = KINDS[kind]
    name = "".join(word.capitalize() for word in kind.split("-"))
    return {
        "id": kind,
        "name": name,
        "shortDescription": {"text": about.help},
        "fullDescription": {"text": about.help},
        "help": {"text": f"{about.help} Switch: {about.switch}. docs/checker.md shows it with its mend."},
        "defaultConfiguration": {"level": _level(kind)},
    }


def _uri(file: str) -> str:
    """Relative to the folder that the report is made in, where the file lies below it."""
    path = Path(file)
    if path.is_absolute():
        if not path.is_relative_to(Path.cwd()):
            return path.as_uri()
        path = path.relative_to(Path.cwd())
    return quote(path.as_posix())


def _location(side: Side, said: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(side.file or side.place.partition("+")[0])}}
    if side.line is not None:
        physical["region"] = {"startLine": side.line}
        source = source_line(side)
        if source is not None:
            physical["region"]["snippet"] = {"text": source}
    return {"physicalLocation": physical, "message": {"text": said}}


def _said(side: Side, space: str) -> str:
    touched = f", {space} {side.begin:#x} - {side.end:#x}" if side.end > side.begin else ""
    return f"{side.instruction} on {side.pipe}, {side.core} core, block {side.block}{touched}"


def _result(finding: Finding, reasons: Sequence[str] | None) -> dict[str, Any]:
    """A result; reasons are those of its suppressions, None where nothing in the run is suppressed."""
    mends = "; ".join(f"{statement} {where}".strip().rstrip(";") for statement, where in mends_of(finding))
    mend = f" Add: {mends}." if mends else f" To mend it: {finding.mend}." if finding.mend else ""
    text = f"{headline_of(finding)}. {why(finding)}{mend}"
    rules = list(KINDS)
    made: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": rules.index(finding.kind),
        "level": _level(finding.kind),
        "message": {"text": text},
        "locations": [_location(side, _said(side, finding.space)) for side in finding.sides[:1]],
        "relatedLocations": [
            {"id": number, **_location(side, _said(side, finding.space))}
            for number, side in enumerate(finding.sides[1:], 1)
        ],
        "occurrenceCount": max(finding.times, 1),
        "properties": {"kernel": finding.kernel, "space": finding.space, "report": text_of(finding)},
    }
    key = "\0".join([finding.kind, finding.kernel, *(source_line(side) or side.place for side in finding.sides)])
    made["partialFingerprints"] = {"hazard/v1": hashlib.sha256(key.encode()).hexdigest()[:32]}
    if reasons is not None:
        made["suppressions"] = [{"kind": "external", "justification": reason} for reason in reasons]
    return made


def _notification(level: str, sentence: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": sentence}}


def _invocation(unused: Sequence[Suppression], outcome: Outcome | None) -> dict[str, Any]:
    notes = [_notification("warning", unused_sentence(suppression)) for suppression in unused]
    if outcome is None:
        return {"executionSuccessful": True, "toolExecutionNotifications": notes}
    if not outcome.launches:
        notes.append(_notification("warning", NOT_CHECKED))
    if outcome.failure:
        notes.append(_notification("error", outcome.failure))
    return {
        "executionSuccessful": not outcome.failure,
        "exitCode": outcome.exit_code,
        "toolExecutionNotifications": notes,
    }


def sarif_of(
    findings: Sequence[Finding], suppressed: Suppressed, unused: Sequence[Suppression], outcome: Outcome | None
) -> str:
    """One run with a rule for each kind; notifications tell of unused suppressions and of what befell the command."""
    none: list[str] | None = [] if suppressed else None  # all results of a run say what suppresses them, or no one does
    run = {
        "tool": {
            "driver": {"name": "op-extension check", "version": __version__, "rules": [_rule(kind) for kind in KINDS]}
        },
        "invocations": [_invocation(unused, outcome)],
        "columnKind": "unicodeCodePoints",
        "results": [
            *(_result(finding, none) for finding in findings),
            *(_result(finding, [suppression.reason]) for finding, suppression in suppressed),
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)
