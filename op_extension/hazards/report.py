# SPDX-License-Identifier: Apache-2.0
"""All findings of some launches, with what suppresses them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from op_extension.hazards import formats
from op_extension.hazards.finding import Finding, merged
from op_extension.hazards.outcome import Outcome
from op_extension.hazards.suppression import Suppression, suppression_of
from op_extension.hazards.text import text_of

__all__ = ["FORMATS", "Report"]

#: The formats by name, and the endings of file names that stand for them.
FORMATS = {"text": (".txt",), "json": (".json",), "junit": (".xml",), "sarif": (".sarif",)}


class Report:
    """Findings, those of them that are suppressed, and suppressions that suppress none.

    While a ``check.hazards()`` is open its report grows; each question waits for the work queued so far.
    """

    def __init__(
        self,
        findings: Iterable[Finding] | Callable[[], list[Finding]],
        suppress: Sequence[Suppression] = (),
        outcome: Outcome | None = None,
    ) -> None:
        """Args: findings, or who gives those so far, suppressions, and how the command ended where one was run."""
        self._read: Callable[[], list[Finding]] | None = findings if callable(findings) else None
        self._all = [] if callable(findings) else merged(findings)
        self._suppress = tuple(suppress)
        self._outcome = outcome

    def close(self) -> None:
        """Takes what has been found so far, and no more."""
        self._all = self._everything()
        self._read = None

    def _everything(self) -> list[Finding]:
        return self._all if self._read is None else merged(self._read())

    @property
    def findings(self) -> list[Finding]:
        """Those that are not suppressed."""
        return [finding for finding in self._everything() if suppression_of(finding, self._suppress) is None]

    @property
    def suppressed(self) -> list[tuple[Finding, Suppression]]:
        """The others, each with its suppression."""
        pairs = ((finding, suppression_of(finding, self._suppress)) for finding in self._everything())
        return [(finding, suppression) for finding, suppression in pairs if suppression is not None]

    @property
    def unused(self) -> list[Suppression]:
        """Suppressions that match no finding."""
        found = self._everything()
        return [suppression for suppression in self._suppress if not any(map(suppression.matches, found))]

    def __bool__(self) -> bool:
        """Whether there are findings that are not suppressed."""
        return bool(self.findings)

    def __len__(self) -> int:
        """How many of them."""
        return len(self.findings)

    def __str__(self) -> str:
        """The same as :meth:`to_text`."""
        return self.to_text()

    def to_text(self) -> str:
        """Each finding with both places, the bytes, the reason and the code to add; then a summary."""
        findings, suppressed = self.findings, self.suppressed
        text = [text_of(finding) + "\n" for finding in findings]
        text += [
            f"suppressed: {finding.kind} at {finding.sides[0].place if finding.sides else finding.kernel}: "
            f"{suppression.reason}"
            for finding, suppression in suppressed
        ]
        text += map(formats.unused_sentence, self.unused)
        counted = "no finding" if not findings else f"{len(findings)} finding{'s' if len(findings) > 1 else ''}"
        if self._outcome is not None:
            text += [self._outcome.failure] if self._outcome.failure else []
            if not self._outcome.launches and not findings:
                counted = "nothing was checked"
        text.append(counted + (f", {len(suppressed)} suppressed" if suppressed else ""))
        return "\n".join(text)

    def to_json(self) -> str:
        """Findings with all fields."""
        return formats.json_of(self.findings, self.suppressed, self.unused, self._outcome)

    def to_junit(self) -> str:
        """JUnit XML: a failed test for each finding, a skipped one for each that is suppressed.

        Of a command also an error where it has failed, and a skipped test where it has launched no kernel.
        """
        return formats.junit_of(self.findings, self.suppressed, self.unused, self._outcome)

    def to_sarif(self) -> str:
        """SARIF 2.1.0, as code scanning reads it."""
        from op_extension.hazards import sarif

        return sarif.sarif_of(self.findings, self.suppressed, self.unused, self._outcome)

    def to_format(self, name: str) -> str:
        """In the format called "text", "json", "junit" or "sarif"."""
        if name not in FORMATS:
            raise ValueError(f"format: expected one of {', '.join(FORMATS)}, got {name!r}")
        made: str = getattr(self, f"to_{name}")()
        return made

    def save(self, path: str | Path) -> None:
        """Writes the report in the format that the name ends with: .txt, .json, .xml (JUnit) or .sarif.

        Raises:
            ValueError: another ending.
            OSError: the file cannot be written.
        """
        suffix = Path(path).suffix.lower()
        for name, suffixes in FORMATS.items():
            if suffix in suffixes:
                Path(path).write_text(self.to_format(name).rstrip("\n") + "\n", encoding="utf-8")
                return
        known = ", ".join(ending for endings in FORMATS.values() for ending in endings)
        raise ValueError(f"save: expected a name that ends with one of {known}, got {str(path)!r}")
