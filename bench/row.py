# SPDX-License-Identifier: Apache-2.0
"""One line of a benchmark: two ways of doing the same work."""

from collections.abc import Callable
from dataclasses import dataclass

Pair = tuple[Callable[[], object], Callable[[], object]]


class RowUnavailable(Exception):
    """A row that cannot be timed on this machine; the text says why."""


@dataclass(frozen=True)
class Row:
    """A pair to be timed.

    Attributes:
        operator: what is timed.
        size: of its operands.
        dtype: of its operands.
        way: "forward", or "backward" with what it is the gradient of.
        against: what does the same work.
        make: makes the operands and returns (ours, theirs), two functions without arguments. Each
            returns when its work is done: a function that launches on npu ends with
            ``torch.npu.synchronize()``. Raises :class:`RowUnavailable`.
        bytes_moved: the least bytes that the work reads and writes, 0 where that says nothing.
        operations: additions and multiplications of the work, 0 where memory is the limit.
        goal: the ratio of our time to theirs that is not to be exceeded, or None.
        times: how often one call of either function does the work.
        memory: bytes that must be free, where that is in doubt.
    """

    operator: str
    size: str
    dtype: str
    against: str
    make: Callable[[], Pair]
    way: str = "forward"
    bytes_moved: int = 0
    operations: int = 0
    goal: float | None = None
    times: int = 1
    memory: int = 0

    @property
    def name(self) -> str:
        """What tells the row from all others, also between runs."""
        return f"{self.operator}, {self.size} {self.dtype}, {self.way} / {self.against}"
