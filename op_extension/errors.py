# SPDX-License-Identifier: Apache-2.0
"""Exceptions of this package that are not Python's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from op_extension.hazards.finding import Finding

__all__ = ["CompileError", "HazardError"]


class CompileError(RuntimeError):
    """A kernel does not compile, or there is nothing to compile it with.

    Attributes:
        path: file of the first error, the caller's own where an error in a header has a place there; None when unknown.
        line: line in that file, from 1; None when unknown.
        output: all that the compiler wrote.
        command: the command that failed.
    """

    def __init__(
        self, message: str, path: Path | None = None, line: int | None = None, output: str = "", command: str = ""
    ) -> None:
        """Args: as the attributes; message comes first in the text, output after it."""
        super().__init__(f"{message}\n\nThe compiler wrote:\n{output.rstrip()}" if output else message)
        self.path = path
        self.line = line
        self.output = output
        self.command = command


class HazardError(RuntimeError):
    """The hazard checker has found something. The text is the report.

    Attributes:
        findings: what it has found.
    """

    def __init__(self, report: str, findings: Sequence[Finding] = ()) -> None:
        """Args: the readable report, and the findings in it."""
        super().__init__(f"hazards: expected none, got\n{report}")
        self.findings = list(findings)
