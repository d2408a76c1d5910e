# SPDX-License-Identifier: Apache-2.0
"""Runs a module of this package as a program, without the package itself.

    python -I op_extension/compat/isolated.py op_extension.compat.bisheng ARGUMENT...

Without torch and the device a driver starts in some 50 ms; without the caller's PYTHONPATH a package of his that has
the name of this one does not reach it.
"""

from __future__ import annotations

import importlib
import shlex
import sys
from pathlib import Path
from types import ModuleType


def script(module: str) -> str:
    """Text of an executable file that runs ``main()`` of module with this Python."""
    words = shlex.join([sys.executable, "-I", str(Path(__file__).resolve()), module])
    return f'#!/bin/sh\nexec {words} "$@"\n'


def main(arguments: list[str]) -> int:
    """Runs ``main(arguments)`` of the module that the first argument names."""
    package = ModuleType("op_extension")  # its own __init__ loads the device
    package.__path__ = [str(Path(__file__).resolve().parents[1])]
    sys.modules["op_extension"] = package
    importlib.import_module("op_extension._signals").end_at_interrupt()
    return int(importlib.import_module(arguments[0]).main(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
