# SPDX-License-Identifier: Apache-2.0
"""Findings as the runtime gives them, on a source file of the test."""

from op_extension.hazards.finding import Finding

SOURCE = """\
void add() {
  TLOAD(x, x_row);
  TADD(z, x, x);
  TSTORE(z_row, z);
}
"""
FLAGS = "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);"
LOAD = ("TLOAD", "PIPE_MTE2", "vector", 0, 0, 0x0, 0x400, 2)
ADD = ("TADD", "PIPE_V", "vector", 0, 0, 0x100, 0x300, 3)
STORE = ("TSTORE", "PIPE_MTE3", "vector", 3, 1, 0x0, 0x400, 4)
UNKNOWN = ("TADD", "PIPE_V", "vector", 0, 0, 0x0, 0x20, 5)


def finding(kind="read-after-write", first=LOAD, second=ADD, mend=FLAGS, times=1, file="add.cpp", bytes_at=(256, 768)):
    """A finding; the call site of a side is its line in file, or no line at all when it is 5."""
    places = {**{line: f"{file}:{line}" for line in range(1, 5)}, 5: "libk.so+0x1f0"}
    space = "" if kind.startswith("flag") else "UB"
    return Finding.of_tuple((kind, "add", space, *bytes_at, first, second, mend, times), places)
