# SPDX-License-Identifier: Apache-2.0
"""``npu-smi info`` for the emulated devices: their number, and the name of the chip."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from op_extension import _runtime
from op_extension._version import __version__

_DEVICES = "2"  # of the runtime, where NPU_DEVICE_COUNT is not set


def info() -> list[str]:
    """Lines of a table. ``Ascend`` and the name are what build files take as SOC_VERSION."""
    name = _runtime.soc_name().removeprefix("Ascend")
    rule = "+" + "-" * 12 + "+" + "-" * 20 + "+" + "-" * 12 + "+"
    rows = [("NPU", "Name", "Health")]
    rows += [(str(index), name, "Emulated") for index in range(int(os.environ.get("NPU_DEVICE_COUNT") or _DEVICES))]
    lines = [f"| {row[0]:<10} | {row[1]:<18} | {row[2]:<10} |" for row in rows]
    return [f"npu-smi of op_extension {__version__}", rule, lines[0], rule, *lines[1:], rule]


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code."""
    if list(arguments) not in ([], ["info"], ["info", "-l"]):
        print(f"npu-smi: expected 'info', got {' '.join(arguments)!r}", file=sys.stderr)
        return 2
    try:
        print("\n".join(info()))
    except (RuntimeError, ValueError) as error:  # a wrong NPU_SOC, or number
        print(f"npu-smi: {error}", file=sys.stderr)
        return 1
    return 0
