# SPDX-License-Identifier: Apache-2.0
"""How the command ended whose kernels were checked."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["NOT_CHECKED", "Outcome"]

NOT_CHECKED = "expected a launch of a kernel, got none: nothing was checked"


class Outcome(NamedTuple):
    """What a report tells of a command besides findings."""

    launches: int
    exit_code: int

    @property
    def failure(self) -> str:
        """What is said of a command that did not end well; "" of one that did."""
        return f"expected the command to end with 0, got {self.exit_code}" if self.exit_code else ""
