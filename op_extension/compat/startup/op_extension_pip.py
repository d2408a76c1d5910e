# SPDX-License-Identifier: Apache-2.0
"""What pip does in a command under ``op-extension run``.

It installs into the overlay what :class:`op_extension_pip_front.Front` leaves of its arguments.
Only the standard library, and pip where it runs.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_MAIN = "pip._internal.cli.main"


class PipFinder:
    """Stands first on ``sys.meta_path`` and wraps the function that each way of calling pip goes through."""

    def __init__(self, run: dict[str, Any]) -> None:
        """For the run that ``run.json`` describes."""
        self.run = run

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification of pip's main module with another loader; None for all other modules."""
        if name != _MAIN:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.run)  # type: ignore[assignment]
        return spec


class _Loader:
    def __init__(self, loader: Any, run: dict[str, Any]) -> None:
        self.loader = loader
        self.run = run

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        module.main = _wrap(module.main, self.run)  # type: ignore[attr-defined]


def install(run: dict[str, Any]) -> None:
    """Adds the finder; does nothing the second time."""
    if not any(type(finder).__name__ == PipFinder.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, PipFinder(run))


def _wrap(main: Callable[[list[str]], int], run: dict[str, Any]) -> Callable[..., int]:
    def wrapped(arguments: list[str] | None = None) -> int:
        words = sys.argv[1:] if arguments is None else arguments
        if os.path.realpath(sys.prefix) == run["prefix"]:  # not into the environment that the run was started in
            return subprocess.call([run["overlay_python"], "-m", "pip", *words])
        os.environ["PIP_USER"] = "0"  # the overlay is the place, whatever a configuration says
        front = importlib.import_module("op_extension_pip_front").Front(run["torch"])
        try:
            changed = front.arguments(words)
            return 0 if changed is None else main(changed)
        finally:
            front.close()

    return wrapped
