# SPDX-License-Identifier: Apache-2.0
"""Work that waits for a module of PyTorch which costs seconds to import, until somebody else imports it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

Work = Callable[[ModuleType], None]
_waiting: dict[str, Work] = {}


def _execute_then_work(spec: ModuleSpec) -> None:
    assert spec.loader is not None  # modules found on a path have one
    execute = spec.loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        work = _waiting.pop(spec.name, None)
        if work is not None:
            work(module)

    spec.loader.exec_module = exec_module  # type: ignore[method-assign]


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in _waiting:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None:
            _execute_then_work(spec)
        return spec


def after_import(name: str, work: Work) -> None:
    """Calls work with the module of that name: now when it is there, otherwise right after its import."""
    module = sys.modules.get(name)
    if module is not None:
        work(module)
        return
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    _waiting[name] = work
