# SPDX-License-Identifier: Apache-2.0
"""Python imports this module at its start in a command under ``op-extension run``: see ``op_extension_startup``."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

importlib.import_module("op_extension_startup").begin()

# The environment may have a module of this name, too.
_others = [entry for entry in sys.path if Path(entry).absolute() != Path(__file__).absolute().parent]
_spec = importlib.machinery.PathFinder.find_spec("sitecustomize", _others)
if _spec is not None and _spec.loader is not None:
    _spec.loader.exec_module(importlib.util.module_from_spec(_spec))
