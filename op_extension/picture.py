# SPDX-License-Identifier: Apache-2.0
"""What one block of a kernel does, pipe by pipe. :func:`op_extension.check.picture` is its face."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from op_extension import _runtime, placements
from op_extension.placements import MemoryMap
from op_extension.source_lines import call_sites

__all__ = ["Lane", "Picture", "Step", "picture"]

#: Pipes in the order in which data passes them.
_PIPES = ("PIPE_S", "PIPE_MTE2", "PIPE_MTE1", "PIPE_M", "PIPE_V", "PIPE_FIX", "PIPE_MTE3", "PIPE_ALL")
_BLOCK = 0
_COLUMN = 20  # letters of a pipe in the text


class Step(NamedTuple):
    """An instruction, a flag or a barrier. pipe is where it stands: of a flag the one that sets it or waits."""

    kind: str
    name: str
    kernel: str
    core: str
    sub_block: int
    pipe: str
    source: str
    destination: str
    id: int
    line: str

    @property
    def label(self) -> str:
        """What is written in the picture: "TADD", "set MTE2>V 0"."""
        if self.kind in ("set_flag", "wait_flag"):
            way = f"{self.source}>{self.destination}".replace("PIPE_", "")
            return f"{self.name.removesuffix('_flag')} {way} {self.id}"
        if self.kind in ("set_cross_core_flag", "wait_cross_core_flag"):
            return f"{'set' if self.kind.startswith('set') else 'wait'} cores {self.id}"
        return "barrier" if self.kind == "barrier" else self.name


class Lane(NamedTuple):
    """A pipe of a core."""

    core: str
    sub_block: int
    pipe: str


class Picture:
    """The tiles of a kernel and the steps of its first block.

    Attributes:
        kernel: its name.
        memory: where its tiles lie, as :func:`op_extension.check.memory_map` has it.
        steps: what the cores of the block did, in order.
        arrows: indices of steps: of a set_flag and of the wait that it ends.
        is_whole: False when there were more steps than are recorded.
    """

    def __init__(self, tiles: list[tuple[Any, ...]], recorded: list[tuple[Any, ...]]) -> None:
        """Args: placements and steps as the runtime gives them; those of the first kernel count."""
        self.kernel: str = recorded[0][2] if recorded else (tiles[0][0] if tiles else "")
        self.memory = MemoryMap([tile for tile in tiles if tile[0] == self.kernel])
        lines = call_sites(row[8] for row in recorded)
        self.steps = [_step(row, lines[row[8]]) for row in recorded if row[2] == self.kernel]
        self.arrows = _arrows(self.steps)
        self.is_whole = len(recorded) < _runtime.MAX_RECORDED_STEPS

    @property
    def lanes(self) -> list[Lane]:
        """The pipes that have steps, core by core."""
        used = {Lane(step.core, step.sub_block, step.pipe) for step in self.steps}
        named = {lane for lane in used if lane.pipe != "PIPE_ALL"} or used
        cores = list(dict.fromkeys((step.core, step.sub_block) for step in self.steps))
        return sorted(named, key=lambda lane: (cores.index(lane[:2]), _PIPES.index(lane.pipe)))

    def to_text(self) -> str:
        """The map, then a line for each step, in the column of its pipe."""
        lanes = self.lanes
        text = [f"kernel {self.kernel}, block {_BLOCK}", str(self.memory), ""]
        text.append("      " + "".join(f"{_heading(lane):{_COLUMN}}" for lane in lanes).rstrip())
        for number, step in enumerate(self.steps, 1):
            lane = Lane(step.core, step.sub_block, step.pipe)
            column = lanes.index(lane) if lane in lanes else _first_of(lanes, step)
            label = f"{step.label} (all)" if lane not in lanes else step.label
            row = f"{number:4}  {'':{column * _COLUMN}}{label}"
            text.append(f"{row:{6 + len(lanes) * _COLUMN}}{step.line.rpartition('/')[2]}")
        if not self.is_whole:
            text.append("      and more, which is not recorded")
        return "\n".join(text)

    def to_svg(self) -> str:
        """The same as a drawing, with an arrow from each set_flag to the wait that it ends."""
        from op_extension import picture_svg

        return picture_svg.svg_of(self)

    def __str__(self) -> str:
        """The same as :meth:`to_text`."""
        return self.to_text()

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def save(self, path: str | Path) -> None:
        """Writes the picture: .svg or .txt.

        Raises:
            ValueError: another ending.
            OSError: the file cannot be written.
        """
        makers = {".svg": self.to_svg, ".txt": self.to_text}
        suffix = Path(path).suffix.lower()
        if suffix not in makers:
            raise ValueError(f"save: expected a name that ends with .svg or .txt, got {str(path)!r}")
        Path(path).write_text(makers[suffix]() + "\n", encoding="utf-8")


def _heading(lane: Lane) -> str:
    pipe = lane.pipe.removeprefix("PIPE_")
    return f"{pipe} ({lane.core} {lane.sub_block})" if lane.core == "vector" else f"{pipe} ({lane.core})"


def _first_of(lanes: list[Lane], step: Step) -> int:
    mine = (number for number, lane in enumerate(lanes) if lane[:2] == (step.core, step.sub_block))
    return next(mine, 0)


def _step(row: tuple[Any, ...], line: str) -> Step:
    kind, name, kernel, core, sub_block, source, destination, number, _ = row
    stands = destination if kind == "wait_flag" else source
    return Step(kind, name, kernel, core, sub_block, stands, source, destination, number, line)


def _arrows(steps: list[Step]) -> list[tuple[int, int]]:
    """A wait takes the oldest set that is left; of flags between cores each core takes its own."""
    found = []
    within: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    between: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    cores = {(step.core, step.sub_block) for step in steps}
    for number, step in enumerate(steps):
        core = (step.core, step.sub_block)
        flag = (*core, step.source, step.destination, step.id)
        if step.kind == "set_flag":
            within[flag].append(number)
        elif step.kind == "wait_flag" and within[flag]:
            found.append((within[flag].pop(0), number))
        elif step.kind == "set_cross_core_flag":
            for other in cores - {core}:
                between[other, step.id].append(number)
        elif step.kind == "wait_cross_core_flag" and between[core, step.id]:
            found.append((between[core, step.id].pop(0), number))
    return found


def picture(launch: Callable[..., object], *args: object, **options: object) -> Picture:
    """See :func:`op_extension.check.picture`."""
    _runtime.steps_start(_BLOCK)
    try:
        with placements.recording():
            launch(*args, **options)
    finally:
        _runtime.steps_stop()
    return Picture(_runtime.memory_map_placements(), _runtime.steps())
