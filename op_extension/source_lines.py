# SPDX-License-Identifier: Apache-2.0
"""From addresses in kernels to lines of their sources."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable

from op_extension._load import include_path

__all__ = ["call_sites", "lines_at"]

_FROM_BUILD = re.compile(r"^build/(\.\./)+")  # how a compiler cache names sources of this package


def call_sites(return_addresses: Iterable[int]) -> dict[int, str]:
    """The line of each call, ``add.cpp:12``: of the kernel's own file, not of the headers that were inlined into it.

    Where binutils' addr2line is not there, or the library has no line tables, the library and the offset in it.
    """
    from op_extension import _runtime

    addresses = sorted(set(return_addresses))
    places = {address: _runtime.locate(address - 1) for address in addresses}  # the call stands before its return
    lines = lines_at(places.values())
    return {address: lines[place] for address, place in places.items()}


def lines_at(places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """The same for places in libraries: path and offset."""
    by_library: dict[str, list[int]] = defaultdict(list)
    for library, offset in sorted(set(places)):
        by_library[library].append(offset)
    lines: dict[tuple[str, int], str] = {}
    for library, offsets in by_library.items():
        for offset, inlined in zip(offsets, _frames(library, offsets), strict=True):
            lines[library, offset] = _own_frame(inlined) or f"{library or 'unknown'}+{offset:#x}"
    return lines


def _frames(library: str, offsets: list[int]) -> list[list[str]]:
    """For each offset the lines from the innermost inlined function outwards."""
    tool = shutil.which("addr2line")
    if tool is None or not library:
        return [[] for _ in offsets]
    command = [tool, "-a", "-i", "-e", library, *(hex(offset) for offset in offsets)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    frames: list[list[str]] = []
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            frames.append([])
        elif frames and not line.startswith("?") and not line.endswith(":?"):
            frames[-1].append(_FROM_BUILD.sub("", line.split(" (discriminator")[0]))
    return frames if len(frames) == len(offsets) else [[] for _ in offsets]


def _own_frame(frames: list[str]) -> str | None:
    shipped = (include_path(), "csrc/include/", "/usr/include/")
    own = [frame for frame in frames if not frame.startswith(shipped)]
    return own[0] if own else (frames[-1] if frames else None)
