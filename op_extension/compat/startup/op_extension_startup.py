# SPDX-License-Identifier: Apache-2.0
"""What each Python of a command under ``op-extension run`` does first.

Its packages come from its own environment, then from the overlay of the run, then from the environment that ``run``
was started in. Only the standard library, and no import of op_extension: a program may bring one of its own.
"""

from __future__ import annotations

import importlib
import json
import os
import site
import sys
from pathlib import Path
from typing import Any

_HERE = str(Path(__file__).absolute().parent)
_begun: list[str] = []  # the overlays that this Python has begun with


def begin() -> None:
    """Arranges ``sys.path``, finds ``torch_npu``, and looks after pip; does nothing outside of a run, nor twice."""
    overlay = os.environ.get("NPU_OVERLAY") or sys.prefix
    record = Path(overlay, "run.json")
    if overlay in _begun or not record.is_file():
        return
    _begun.append(overlay)
    run = json.loads(record.read_text(encoding="utf-8"))
    if run["python"] != list(sys.version_info[:2]):  # nothing in the overlay is for this one
        return
    arrange_path(run)
    repair_variables(run)
    importlib.import_module("op_extension_stand_in").install()
    importlib.import_module("op_extension_pip").install(run)


def arrange_path(run: dict[str, Any]) -> None:
    """Puts the folders of packages in order; ours come last."""
    sys.path[:] = [entry for entry in sys.path if entry != run["root"]]
    # The interpreter of the environment itself: the overlay hides what is in it.
    if os.path.realpath(sys.prefix) == run["prefix"]:
        known = list(sys.path)
        site.addsitedir(run["overlay_site"])
        added = [entry for entry in sys.path if entry not in known]
        first = known.index(_HERE) + 1 if _HERE in known else 0
        sys.path[:] = [*known[:first], *added, *known[first:]]
    elif run["overlay_site"] not in sys.path:
        site.addsitedir(run["overlay_site"])
    for folder in [*run["sites"], run["root"]]:
        if folder not in sys.path:
            site.addsitedir(folder)


def repair_variables(run: dict[str, Any]) -> None:
    """Replaces folders that do not exist: a program's instructions name those of an installed toolkit."""
    given = dict(os.environ)
    for name, folder in run["folders"].items():
        if not Path(given.get(name) or "/none").is_dir():
            os.environ[name] = folder
