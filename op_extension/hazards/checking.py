# SPDX-License-Identifier: Apache-2.0
"""Checking what runs in this process. :func:`op_extension.check.hazards` is its face."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from op_extension import _runtime, placements
from op_extension.errors import HazardError
from op_extension.hazards.finding import Finding
from op_extension.hazards.kinds import bits_of
from op_extension.hazards.report import Report
from op_extension.hazards.suppression import Suppression
from op_extension.source_lines import call_sites

__all__ = ["hazards", "report"]

_open = False
_of_environment: list[Finding] = []  # found by NPU_CHECK=hazards before the last context, which forgot them


def _is_on_for_good() -> bool:
    return os.environ.get("NPU_CHECK", "").lower() == "hazards"


def _found() -> list[Finding]:
    _runtime.hazards_await()
    given = _runtime.hazards_findings()
    sites = call_sites(side[7] for row in given for side in row[5:7] if side is not None)
    return [Finding.of_tuple(row, sites) for row in given]


def report() -> Report:
    """See :func:`op_extension.check.report`."""
    return Report([*_of_environment, *_found()])


@contextmanager
def hazards(kinds: Iterable[str] | str | None, suppress: Iterable[Suppression], raises: bool) -> Iterator[Report]:
    """See :func:`op_extension.check.hazards`."""
    global _open
    bits = bits_of(kinds)
    given = list(suppress)
    for one in given:
        if not isinstance(one, Suppression):
            raise TypeError(f"suppress: expected check.Suppression, got {one!r}")
    if _open:
        raise RuntimeError("check.hazards: expected no other one that is open in this process, got one inside another")
    placements.synchronize()
    if _is_on_for_good():
        _of_environment.extend(_found())
    _runtime.hazards_start(bits | _runtime.HAZARD_QUIET)
    _open = True
    made = Report(_found, given)
    try:
        yield made
    except BaseException as error:
        _close(made, error)
        raise
    _close(made, None)
    if raises and made:
        raise HazardError(made.to_text(), made.findings)


def _close(made: Report, error: BaseException | None) -> None:
    """Ends the checking; an exception that is on its way takes what was found with it."""
    global _open
    try:
        made.close()
        if error is not None and made:
            error.add_note(made.to_text())
    except Exception:
        if error is None:
            raise
    finally:
        _open = False
        _runtime.hazards_stop()  # with NPU_CHECK=hazards it starts anew
