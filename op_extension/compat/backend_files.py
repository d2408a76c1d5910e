# SPDX-License-Identifier: Apache-2.0
"""Modules of npu_backend without the package, which brings torch and refuses to be imported without its libraries."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from op_extension.compat import shipped


def module(name: str) -> ModuleType:
    """The module of that name; it must need nothing but the standard library to be imported.

    Raises:
        ImportError: there is no such file.
    """
    path = shipped.ROOT / "npu_backend" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"_npu_backend{name}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ImportError(f"npu_backend: expected {path}, got none")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made
