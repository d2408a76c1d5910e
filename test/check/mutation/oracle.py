# SPDX-License-Identifier: Apache-2.0
"""Which accesses of a recorded launch nothing orders: all paths of the graph of its events, all pairs of accesses.

Written for being right, not for being fast, from the rules of the chip alone (docs/checker.md), on A2 and A3:
a pipe keeps its order; the scalar unit hands out the instructions of all pipes, so that what it waits for holds back
all that follow, while its own accesses are those of one more pipe; some instructions set and wait for flags by
themselves. In auto mode the text is the order. Both vector cores of a block may store the same bytes by one line.
"""

from collections import defaultdict, deque
from collections.abc import Iterable

import numpy as np

from test.check.mutation import recording
from test.check.mutation.recording import Tape

PIPE_S, PIPE_ALL = 0, 7
PIPES = range(7)
_ALL_BLOCKS, _VECTOR_PAIR, _BLOCK_GROUP, _INTRA_BLOCK = range(4)  # scopes
_GLOBAL = 9  # the space

Core = tuple[int, int, int]  # block, whether it is the cube core, number of the vector core


class Graph:
    """Nodes and, for each, those right before it. Nodes are numbered in order of execution, which no edge turns."""

    def __init__(self, tape: Tape) -> None:
        self.before: list[set[int]] = []
        self.node_of_event: list[int] = []
        self._last: dict[Core, dict[int, int]] = defaultdict(dict)  # node by pipe
        self._hold: dict[Core, int] = {}  # what the scalar unit has waited for
        self._flags: dict[tuple, deque[int]] = defaultdict(deque)
        self._cross = CrossCoreFlags({core_of(event) for event in tape.events})
        self._meetings: dict[tuple, list[int]] = defaultdict(list)
        self._met: dict[tuple, int] = defaultdict(int)
        for event in tape.events:
            does = event["kind"] not in (recording.BEGIN, recording.PLACEMENT)
            self.node_of_event.append(self._add(core_of(event), event) if does else -1)

    def _node(self, before: Iterable[int]) -> int:
        self.before.append(set(before))
        return len(self.before) - 1

    def _on_pipe(self, core: Core, pipe: int, *others: int) -> int:
        """A node of pipe, behind what the pipe has done, and others."""
        last = [self._last[core][pipe]] if pipe in self._last[core] else []
        held = [self._hold[core]] if core in self._hold else []
        self._last[core][pipe] = self._node([*last, *held, *others])
        return self._last[core][pipe]

    def _held_by(self, core: Core, *others: int) -> int:
        """The scalar unit waits for others."""
        held = [self._hold[core]] if core in self._hold else []
        self._hold[core] = self._node([*held, *others])
        return self._on_pipe(core, PIPE_S, self._hold[core])

    def _wait(self, core: Core, pipe: int, earlier: int) -> int:
        """A pipe waits for earlier."""
        return self._held_by(core, earlier) if pipe == PIPE_S else self._on_pipe(core, pipe, earlier)

    def _behind_all(self, core: Core) -> int:
        held = [self._hold[core]] if core in self._hold else []
        return self._node([*self._last[core].values(), *held])

    def _meet(self, core: Core) -> int:
        """All pipes and the scalar unit go on behind all that they have done."""
        node = self._behind_all(core)
        self._hold[core] = node
        self._last[core] = dict.fromkeys(PIPES, node)
        return node

    def _add(self, core: Core, event: np.void) -> int:
        kind, pipe = int(event["kind"]), int(event["pipe"])
        flag = (core, pipe, int(event["other"]), int(event["id"]))
        meeting = (int(event["scope"]), int(event["id"]))
        if kind == recording.SET:
            node = self._on_pipe(core, pipe)
            self._flags[flag].append(node)
            return node
        if kind == recording.WAIT:
            return self._wait(core, flag[2], self._flags[flag].popleft())
        if kind == recording.INNER:
            return self._wait(core, flag[2], self._on_pipe(core, pipe))
        if kind == recording.BARRIER:
            return self._meet(core) if pipe == PIPE_ALL else self._on_pipe(core, pipe)
        if kind == recording.SET_CROSS:
            node = self._behind_all(core) if pipe == PIPE_ALL else self._on_pipe(core, pipe)
            self._cross.set(core, int(event["scope"]), int(event["id"]), node)
            return node
        if kind == recording.WAIT_CROSS:
            return self._held_by(core, *self._cross.take(core, int(event["id"])))
        if kind == recording.ARRIVE:
            node = self._meet(core)
            self._meetings[meeting, self._met[meeting, core]].append(node)
            return node
        if kind == recording.LEAVE:
            number = self._met[meeting, core]
            self._met[meeting, core] += 1
            return self._held_by(core, *self._meetings[meeting, number])
        if event["keeps_order"]:
            self._meet(core)
        return self._on_pipe(core, PIPE_S if pipe == PIPE_ALL else pipe)

    def reachable(self) -> np.ndarray:
        """Row j has a True at i where a path leads from node i to node j."""
        reach = np.zeros((len(self.before), len(self.before)), bool)
        for node, before in enumerate(self.before):
            for earlier in before:
                reach[node] |= reach[earlier]
                reach[node, earlier] = True
        return reach


def core_of(event: np.void) -> Core:
    return int(event["block"]), int(event["is_cube"]), int(event["sub_block"])


class CrossCoreFlags:
    """Flags between cores: whose sets the next wait of a core takes."""

    def __init__(self, cores: set[Core]) -> None:
        self._cores = cores
        self._arrived: dict[tuple, deque[int]] = defaultdict(deque)
        self._set: dict[tuple, deque[list[int]]] = defaultdict(deque)

    def set(self, core: Core, scope: int, number: int, node: int) -> None:
        block, is_cube, _ = core
        if scope == _INTRA_BLOCK:
            raise NotImplementedError("oracle: expected a kernel of A2 or A3, got a flag within a block")
        if scope == _BLOCK_GROUP and is_cube:
            for vector in (0, 1):
                self._set[(block, 0, vector), number].append([node])
            return
        same_kind = [other for other in self._cores if other[1] == is_cube]
        group = same_kind if scope == _ALL_BLOCKS else [other for other in same_kind if other[0] == block]
        if scope == _BLOCK_GROUP:
            group = [(block, 0, 0), (block, 0, 1)]
        self._arrived[core, scope, number].append(node)
        if not all(self._arrived[other, scope, number] for other in group):
            return
        nodes = [self._arrived[other, scope, number].popleft() for other in group]
        for other in [(block, 1, 0)] if scope == _BLOCK_GROUP else group:
            self._set[other, number].append(nodes)

    def take(self, core: Core, number: int) -> list[int]:
        return self._set[core, number].popleft()


class Places:
    """Memories of a launch: global memory, and the spaces of its cores."""

    def __init__(self, tape: Tape) -> None:
        self._spaces: dict[Core, list[tuple[int, int, tuple]]] = defaultdict(list)
        for event in tape.events[tape.events["kind"] == recording.BEGIN]:
            core = core_of(event)
            for touch in touches_of(tape, event):
                begin = int(touch["begin"])
                self._spaces[core].append((begin, begin + int(touch["row_bytes"]), (core, int(touch["space"]))))

    def of(self, event: np.void, touch: np.void) -> tuple | None:
        """The memory that touch lies in, of its core or another one of the block; None: in none that can be told."""
        if touch["space"] == _GLOBAL:
            return ("GM",)
        address, own = int(touch["begin"]), core_of(event)
        others = [core for core in self._spaces if core[0] == own[0] and core != own]
        for core in (own, *others):
            for begin, end, place in self._spaces[core]:
                if begin <= address < end:
                    return place
        return None


def touches_of(tape: Tape, event: np.void) -> np.ndarray:
    first = int(event["first_access"])
    return tape.touches[first : first + int(event["access_count"])]


def _intervals(touch: np.void) -> list[tuple[int, int]]:
    begin, rows, length, pitch = (int(touch[name]) for name in ("begin", "rows", "row_bytes", "pitch_bytes"))
    if rows <= 0 or length <= 0:
        return []
    if pitch == length:
        return [(begin, begin + rows * length)]
    return [(begin + row * pitch, begin + row * pitch + length) for row in range(rows)]


def _overlaps(touches: list[np.void]) -> np.ndarray:
    """Which pairs share a byte: over cells, which are what lies between neighbouring ends of rows."""
    rows = [_intervals(touch) for touch in touches]
    ends = np.unique([end for intervals in rows for interval in intervals for end in interval])
    cells = np.zeros((len(rows), len(ends)), np.float32)
    for number, intervals in enumerate(rows):
        for begin, end in intervals:
            cells[number, np.searchsorted(ends, begin) : np.searchsorted(ends, end)] = 1
    return cells @ cells.T > 0


def unordered(tape: Tape) -> set[tuple[str, str]]:
    """Pairs of lines whose accesses conflict and that no path orders; the smaller name first."""
    graph, places, lines = Graph(tape), Places(tape), tape.lines()
    reach = graph.reachable()
    in_memory: dict[tuple, list[tuple[int, np.void]]] = defaultdict(list)
    for number, event in enumerate(tape.events):
        if event["kind"] != recording.INSTRUCTION:
            continue
        for touch in touches_of(tape, event):
            place = places.of(event, touch)
            if place is not None:
                in_memory[place].append((number, touch))
    found = set()
    for accesses in in_memory.values():
        for (one, touch), (other, touch_too) in _conflicts(graph, reach, accesses):
            repeats = lines[one] == lines[other] and touch == touch_too
            if not (repeats and _write_the_same(tape.events[one], tape.events[other])):
                found.add(tuple(sorted((lines[one], lines[other]))))
    return found


def _write_the_same(one: np.void, other: np.void) -> bool:
    """Both vector cores of a block leave the same bytes in global memory."""
    (block, is_cube, sub_block), (block_too, is_cube_too, sub_block_too) = core_of(one), core_of(other)
    are_both = block == block_too and not is_cube and not is_cube_too and sub_block != sub_block_too
    return are_both and one["written"] == other["written"]


def _conflicts(graph: Graph, reach: np.ndarray, accesses: list) -> list[tuple]:
    """Pairs of accesses, each with the number of its event."""
    numbers = np.array([number for number, _ in accesses])
    nodes = np.array([graph.node_of_event[number] for number in numbers])
    writes = np.array([bool(touch["is_write"]) for _, touch in accesses])
    atomic = np.array([bool(touch["is_atomic"]) for _, touch in accesses])
    bad = _overlaps([touch for _, touch in accesses])
    bad &= writes[:, None] | writes[None, :]
    bad &= ~(atomic[:, None] & atomic[None, :])
    ordered = reach[np.ix_(nodes, nodes)]
    bad &= ~(ordered | ordered.T)
    bad &= nodes[:, None] < nodes[None, :]
    return [(accesses[i], accesses[j]) for i, j in zip(*np.nonzero(bad), strict=True)]
