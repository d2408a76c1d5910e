# SPDX-License-Identifier: Apache-2.0
"""Findings as JSON and JUnit XML."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from xml.etree import ElementTree

from op_extension._version import __version__
from op_extension.hazards.finding import Finding
from op_extension.hazards.outcome import NOT_CHECKED, Outcome
from op_extension.hazards.suppression import Suppression
from op_extension.hazards.text import headline_of, text_of

__all__ = ["Suppressed", "json_of", "junit_of", "unused_sentence"]

Suppressed = Sequence[tuple[Finding, Suppression]]
_NOT_OF_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def unused_sentence(suppression: Suppression) -> str:
    """What is said of a suppression that matches nothing."""
    return f"suppression of {suppression}: expected a finding, got none"


def json_of(
    findings: Sequence[Finding], suppressed: Suppressed, unused: Sequence[Suppression], outcome: Outcome | None
) -> str:
    """An object with findings, suppressed ones, suppressions that were not used, and how the command ended."""
    made = {
        "tool": {"name": "op-extension check", "version": __version__},
        "command": None if outcome is None else outcome._asdict(),
        "findings": [finding.to_dict() for finding in findings],
        "suppressed": [{**finding.to_dict(), "reason": suppression.reason} for finding, suppression in suppressed],
        "unused_suppressions": [vars(suppression) for suppression in unused],
    }
    return json.dumps(made, indent=2)


def _xml(text: str) -> str:
    return _NOT_OF_XML.sub("?", text)


def _case(suite: ElementTree.Element, finding: Finding) -> ElementTree.Element:
    place = f" {finding.sides[0].place}" if finding.sides else ""
    case = ElementTree.SubElement(suite, "testcase", classname=_xml(finding.kernel), name=_xml(finding.kind + place))
    case.set("time", "0")
    if finding.sides and finding.sides[0].file:
        case.set("file", _xml(finding.sides[0].file))
        case.set("line", str(finding.sides[0].line))
    return case


def _about_command(suite: ElementTree.Element, outcome: Outcome) -> None:
    """A test that is skipped without a launch, and one with an error where the command has failed."""
    if not outcome.launches:
        case = ElementTree.SubElement(suite, "testcase", classname="hazards", name="launches", time="0")
        ElementTree.SubElement(case, "skipped", message=NOT_CHECKED)
    if outcome.failure:
        case = ElementTree.SubElement(suite, "testcase", classname="hazards", name="command", time="0")
        ElementTree.SubElement(case, "error", message=outcome.failure, type="exit-code")


def junit_of(
    findings: Sequence[Finding], suppressed: Suppressed, unused: Sequence[Suppression], outcome: Outcome | None
) -> str:
    """A suite with a test for each finding and for what went wrong with the command; else with one that passes."""
    suite = ElementTree.Element("testsuite", {"name": "hazards"})
    for finding in findings:
        failure = ElementTree.SubElement(
            _case(suite, finding), "failure", message=_xml(headline_of(finding)), type=finding.kind
        )
        failure.text = _xml(text_of(finding))
    for finding, suppression in suppressed:
        ElementTree.SubElement(_case(suite, finding), "skipped", message=_xml(suppression.reason))
    if outcome is not None:
        _about_command(suite, outcome)
    if not len(suite):
        ElementTree.SubElement(suite, "testcase", classname="hazards", name="no finding", time="0")
    counted = {"tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error"}
    counted["skipped"] = "testcase/skipped"
    attributes = {name: str(len(suite.findall(path))) for name, path in counted.items()} | {"time": "0"}
    suite.attrib.update(attributes)
    if unused:
        ElementTree.SubElement(suite, "system-out").text = _xml("\n".join(map(unused_sentence, unused)))
    root = ElementTree.Element("testsuites", {"name": "op-extension check", **attributes})
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")
