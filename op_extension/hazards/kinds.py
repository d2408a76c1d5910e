# SPDX-License-Identifier: Apache-2.0
"""The kinds of findings: how each is switched, how it is named, and what it means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["DEFAULT_SWITCHES", "KINDS", "SWITCHES", "Kind", "bits_of"]

#: The bit of npuHazardsStart by switch.
SWITCHES = {"order": 1, "unwritten": 2, "overlap": 4, "flag": 8, "range": 16, "vector_order": 32}
DEFAULT_SWITCHES = ("order", "unwritten", "overlap", "flag", "range")


class Kind(NamedTuple):
    """A kind of finding. The headline names the sides as {first} and {second}."""

    switch: str
    headline: str
    help: str


KINDS = {
    "read-after-write": Kind(
        "order",
        "{second} may read bytes before {first} has written them",
        "An instruction reads bytes that another one writes, and nothing makes it wait for them.",
    ),
    "write-after-read": Kind(
        "order",
        "{second} may overwrite bytes before {first} has read them",
        "An instruction overwrites bytes that another one reads, and nothing makes it wait until they are read.",
    ),
    "write-after-write": Kind(
        "order",
        "{second} may write bytes before {first} has written them",
        "Two instructions write the same bytes, and nothing says which of them is the last.",
    ),
    "unwritten-read": Kind(
        "unwritten",
        "{second} reads bytes that nothing has written",
        "On-chip memory holds what an earlier kernel left until the block writes it.",
    ),
    "overlap": Kind(
        "overlap",
        "{second} reads a tile that {first} has overwritten in part, through another tile",
        "Two tiles share bytes, neither contains the other, and both are in use.",
    ),
    "flag-left-set": Kind(
        "flag",
        "a flag is left set at the end",
        "A flag that is set and not waited for stays set: the next wait for it, of another kernel too, passes at once.",
    ),
    "flag-set-again": Kind(
        "flag",
        "a flag is set again before anything has waited for it",
        "A flag is set or not; it does not count. A second set before the wait is lost, and its wait never ends.",
    ),
    "out-of-range": Kind(
        "range",
        "{second} reaches beyond the memory that was asked for",
        "An access of global memory lies outside of the bytes that the program has asked for.",
    ),
    "vector-order": Kind(
        "vector_order",
        "{second} may start before {first} has ended: no pipe_barrier(PIPE_V) stands between",
        "Two instructions of PIPE_V depend on each other without a pipe_barrier(PIPE_V) between them.",
    ),
}


def bits_of(switches: Iterable[str] | str | None) -> int:
    """The bits of some switches, given one by one or as "order,flag"; of the default ones when None.

    Raises:
        ValueError: a name that is no switch, or none at all.
    """
    if switches is None:
        switches = DEFAULT_SWITCHES
    names = [name.strip() for name in switches.split(",")] if isinstance(switches, str) else list(switches)
    for name in names or [""]:
        if name not in SWITCHES:
            raise ValueError(f"kinds: expected some of {', '.join(SWITCHES)}, got {name!r}")
    return sum(SWITCHES[name] for name in set(names))
