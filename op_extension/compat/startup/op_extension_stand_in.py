# SPDX-License-Identifier: Apache-2.0
"""Finds ``torch_npu`` in op_extension where no other package of that name is installed.

Only the standard library, and no import of op_extension: it runs at the start of every Python of an environment.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType


class StandIn:
    """The last finder of ``sys.meta_path``, so that an installed original is found first."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification of our package, or None."""
        if name != "torch_npu":
            return None
        # Both packages come from one wheel; one of them may be hidden behind a package of the same name.
        device = importlib.util.find_spec("npu_backend")
        if device is None or device.origin is None:
            return None
        folder = Path(device.origin).absolute().parents[1] / "op_extension" / "compat" / "torch_npu"
        if not folder.is_dir():
            return None
        return importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


def install() -> None:
    """Adds the finder; does nothing the second time."""
    if not any(type(finder).__name__ == StandIn.__name__ for finder in sys.meta_path):
        sys.meta_path.append(StandIn())


install()
