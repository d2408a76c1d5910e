# SPDX-License-Identifier: Apache-2.0
"""What the checker says of mutants, beside what the oracle and random orders say."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

from op_extension import check
from op_extension.hazards.kinds import KINDS
from test.check.mutation import oracle, recording
from test.check.mutation.mutants import Calls, mutants, with_one_kernel

SEEDS = 20


class Subject(NamedTuple):
    """A kernel to make mutants of. arguments makes those of a launch, tensors of the CPU among them."""

    source: Path
    entry: str
    arguments: Callable[[], tuple]
    blocks: int = 1
    options: Mapping[str, Any] = MappingProxyType({})


class Verdict(NamedTuple):
    """Of one mutant: pairs of lines that are unordered, those that the checker names, its findings of other kinds, and
    whether random orders compute different results."""

    name: str
    unordered: frozenset
    reported: frozenset
    other_kinds: frozenset
    orders_differ: bool

    @property
    def is_missed(self) -> bool:
        """It is unordered, and no right pair is named."""
        return bool(self.unordered) and not self.unordered & self.reported

    @property
    def is_wrong(self) -> bool:
        """A pair is named that is ordered."""
        return not self.reported <= self.unordered


@dataclass
class Tally:
    """Verdicts of kernels and their mutants; those that do not run, mostly for a flag that nobody sets, have none."""

    verdicts: list[Verdict] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        self.verdicts += other.verdicts
        self.stopped += other.stopped

    @property
    def unordered(self) -> list[Verdict]:
        return [one for one in self.verdicts if one.unordered]

    @property
    def missed(self) -> list[Verdict]:
        return [one for one in self.verdicts if one.is_missed]

    @property
    def wrong(self) -> list[Verdict]:
        return [one for one in self.verdicts if one.is_wrong]

    @property
    def contradictions(self) -> list[Verdict]:
        """Where random orders differ though the oracle calls all ordered."""
        return [one for one in self.verdicts if one.orders_differ and not one.unordered]

    def __str__(self) -> str:
        kinds = Counter(kind for one in self.verdicts for kind in one.other_kinds)
        others = ", ".join(f"{kind} in {count}" for kind, count in sorted(kinds.items())) or "none"
        return (
            f"{len(self.verdicts)} texts ({len(self.stopped)} more do not run), {len(self.unordered)} unordered, "
            f"{len(self.unordered) - len(self.missed)} reported at the right lines, {len(self.missed)} missed, "
            f"{len(self.wrong)} reported wrongly; {sum(one.orders_differ for one in self.verdicts)} differ in random "
            f"order; other kinds: {others}"
        )


class Trial:
    """A kernel, or one of its mutants, which its tape chooses."""

    def __init__(self, subject: Subject, source: Path) -> None:
        self._subject = subject
        self._kernel = recording.load(source, subject.entry, **subject.options)
        self.tape = recording.Tape(self._kernel)

    def launch(self) -> tuple:
        arguments = self._subject.arguments()
        self._kernel[self._subject.blocks](*arguments)
        return arguments

    def record(self) -> None:
        self.tape.record(self.launch)

    def findings(self) -> tuple[frozenset, frozenset]:
        """What the checker reports: pairs of lines without an order, and other kinds."""
        with check.hazards(raises=False) as report:
            self.launch()
        of_order = [one for one in report.findings if KINDS[one.kind].switch == "order"]
        pairs = frozenset(tuple(sorted((one.first.place, one.second.place))) for one in of_order)
        return pairs, frozenset(one.kind for one in report.findings if one not in of_order)

    def orders_differ(self, seeds: int) -> bool:
        results = []
        for seed in range(seeds):
            with check.random_order(seed):
                try:
                    arguments = self.launch()
                except RuntimeError:  # of an index, say, that was not there yet
                    arguments = ("fault",)
            results.append([one.numpy().tobytes() if isinstance(one, torch.Tensor) else one for one in arguments])
            if results[-1] != results[0]:
                return True
        return False

    def verdict(self, name: str, seeds: int) -> Verdict:
        self.record()
        unordered = frozenset(oracle.unordered(self.tape))
        return Verdict(name, unordered, *self.findings(), self.orders_differ(seeds))


def judge(subject: Subject, seeds: int = SEEDS) -> Tally:
    """Verdicts of the kernel itself, first, and of its mutants."""
    tally, calls = Tally(), Calls()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "kernel"
        shutil.copytree(subject.source.parent, home)
        source = home / subject.source.name
        source.write_text(with_one_kernel(source.read_text(), subject.entry))
        for file in sorted({source, *home.rglob("*.h"), *home.rglob("*.hpp")}):
            if file.name != recording.HEADER:
                calls.add(file)
        trial = Trial(subject, source)
        tally.verdicts.append(trial.verdict(f"{subject.entry} as it is", seeds))
        for mutant in list(mutants(trial.tape, calls)):
            trial.tape.change((call.number, change) for call, change in mutant.changes)
            _judge_mutant(trial, f"{subject.entry} {mutant.name}", seeds, tally)
    return tally


def _judge_mutant(trial: Trial, name: str, seeds: int, tally: Tally) -> None:
    try:
        trial.launch()
    except RuntimeError as error:
        tally.stopped.append(f"{name}: {error}")
        return
    tally.verdicts.append(trial.verdict(name, seeds))
