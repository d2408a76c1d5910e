# SPDX-License-Identifier: Apache-2.0
"""What figures are taken on."""

import datetime
import os
import platform
import re
from pathlib import Path
from typing import Any

import torch

from op_extension import _version
from op_extension.jit import toolchain

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def machine() -> dict[str, Any]:
    """Processor, software, and how busy the machine is."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)", text, re.MULTILINE)
    family = re.search(r"^cpu family\s*: (\d+)\nmodel\s*: (\d+)", text, re.MULTILINE)
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "cpu": model.group(1) if model else platform.processor() or platform.machine(),
        "family_and_model": [int(number) for number in family.groups()] if family else None,
        "virtual": bool(re.search(r"^flags\s*:.*\bhypervisor\b", text, re.MULTILINE)),
        "cores": os.cpu_count(),
        "caches": caches(),
        "level": toolchain.isa_level(),
        "op_extension": _version.__version__,
        "torch": torch.__version__,
        "torch_threads": torch.get_num_threads(),
        "load_before": os.getloadavg()[0],
    }


def caches() -> dict[str, str]:
    """Sizes of the caches for data, as the system writes them, by level."""
    found = {}
    for folder in sorted(_CACHES.glob("index*")):
        kind, level, size = ((folder / name).read_text(encoding="utf-8").strip() for name in ("type", "level", "size"))
        if kind != "Instruction":
            found[f"L{level}"] = size
    return found
