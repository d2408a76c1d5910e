# SPDX-License-Identifier: Apache-2.0
"""From addresses in kernels to lines of their sources."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable

from op_extension import _runtime
from op_extension._load import include_path

__all__ = ["call_sites"]


def call_sites(return_addresses: Iterable[int]) -> dict[int, str]:
    """The line of each call, ``add.cpp:12``: of the kernel's own file, not of the headers that were inlined into it.

    Where binutils' addr2line is not there, or the library has no line tables, the library and the offset in it.
    """
    by_library: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for address in sorted(set(return_addresses)):
        library, offset = _runtime.locate(address - 1)  # the call stands before the address it returns to
        by_library[library].append((address, offset))
    lines: dict[int, str] = {}
    for library, places in by_library.items():
        frames = _frames(library, [offset for _, offset in places])
        for (address, offset), inlined in zip(places, frames, strict=True):
            lines[address] = _own_frame(inlined) or f"{library or 'unknown'}+{offset:#x}"
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
            frames[-1].append(line.split(" (discriminator")[0])
    return frames if len(frames) == len(offsets) else [[] for _ in offsets]


def _own_frame(frames: list[str]) -> str | None:
    shipped = (include_path(), "csrc/include/", "/usr/include/")
    own = [frame for frame in frames if not frame.startswith(shipped)]
    return own[0] if own else (frames[-1] if frames else None)
