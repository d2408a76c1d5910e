# SPDX-License-Identifier: Apache-2.0
"""One line of a benchmark: two ways of doing the same work."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A pair to be timed.

    Attributes:
        name: what is done, with its sizes.
        make: makes the operands and returns (ours, theirs), two functions without arguments. Each
            returns when its work is done: a function that launches on npu ends with
            ``torch.npu.synchronize()``.
        bytes_moved: bytes that one call reads and writes, 0 where that says nothing.
    """

    name: str
    make: Callable[[], tuple[Callable[[], object], Callable[[], object]]]
    bytes_moved: int = 0
