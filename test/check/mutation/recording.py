# SPDX-License-Identifier: Apache-2.0
"""What a kernel did: the tape of recorder.hpp, read."""

import ctypes
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from op_extension import kernel
from op_extension.source_lines import call_sites

FOLDER = Path(__file__).resolve().parent
HEADER = "recorder.hpp"
(BEGIN, INSTRUCTION, SET, WAIT, BARRIER, SET_CROSS, WAIT_CROSS, ARRIVE, LEAVE, PLACEMENT, INNER) = range(11)
#: What a call does instead.
LEFT_OUT, MOVED_BY_32, MOVED_BY_TILE = range(1, 4)


def _row(*fields: str) -> np.dtype:
    return np.dtype([(field, np.int64) for field in fields])


#: As Event and Touch of recorder.hpp.
_EVENT = _row(
    *("kind", "is_cube", "block", "sub_block", "pipe", "other", "id", "scope", "name", "call_site"),
    *("keeps_order", "first_access", "access_count", "written"),
)
_TOUCH = _row("space", "is_write", "is_atomic", "begin", "rows", "row_bytes", "pitch_bytes")


def load(source: Path, entry: str, **options) -> kernel.Kernel:
    """The kernel entry of source, which can be recorded; its name is recorded_kernel."""
    unit = source.with_name(f"recorded_{source.stem}.cpp")
    unit.write_text(f'#include "{HEADER}"\n#include "{source.name}"\nRECORDED({entry});\n')
    return kernel.load(
        unit, entry="recorded_kernel", include_dirs=[FOLDER, *options.pop("include_dirs", ())], **options
    )


class Tape:
    """Where a kernel is recorded.

    Attributes:
        events: what its cores did, in order of execution.
        touches: what instructions touch; an event names its own by first_access and access_count.
    """

    def __init__(self, recorded: kernel.Kernel) -> None:
        self._libraries = [ctypes.CDLL(str(path)) for path in recorded.libraries.values()]
        self._first = self._libraries[0]
        self._first.recorder_tape.restype = ctypes.c_void_p
        for library in self._libraries[1:]:
            library.recorder_use(ctypes.c_void_p(self._first.recorder_tape()))
        self.events = np.empty(0, _EVENT)
        self.touches = np.empty(0, _TOUCH)

    def change(self, changes: Iterable[tuple[int, int]]) -> None:
        """Makes calls of the kernel, by number, do something else from now on; all others are as they were written."""
        wanted = list(changes)
        for library in self._libraries:
            library.recorder_restore()
            for call, change in wanted:
                library.recorder_change(ctypes.c_int64(call), ctypes.c_int64(change))

    def record(self, launch) -> None:
        """Calls launch and keeps what it did; what it raises is raised."""
        self._first.recorder_switch(True)
        try:
            launch()
        finally:
            self._first.recorder_switch(False)
            self.events = self._rows("recorder_events", _EVENT)
            self.touches = self._rows("recorder_touches", _TOUCH)

    def _rows(self, function: str, row: np.dtype) -> np.ndarray:
        count = ctypes.c_int64()
        get = getattr(self._first, function)
        get.restype = ctypes.c_void_p
        address = get(ctypes.byref(count))
        return (
            np.frombuffer(ctypes.string_at(address, count.value * row.itemsize), row)
            if count.value
            else np.empty(0, row)
        )

    def lines(self) -> list[str]:
        """The place of each event, "add.cpp:12"."""
        sites = self.events["call_site"].tolist()
        places = call_sites(site for site in sites if site)
        return [places[site] if site else "" for site in sites]
