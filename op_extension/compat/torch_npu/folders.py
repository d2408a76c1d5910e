# SPDX-License-Identifier: Apache-2.0
"""Where headers and libraries lie; by file, because another package called op_extension may be the imported one."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def _shipped() -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "shipped.py"
    spec = importlib.util.spec_from_file_location("_op_extension_shipped", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"torch_npu: expected {path}, got no such file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_SHIPPED = _shipped()


def include_folders() -> list[str]:
    """Folders of headers for host code."""
    return [str(folder) for folder in _SHIPPED.include_folders()]


def library_folder() -> str:
    """Folder of the libraries of the device."""
    return str(_SHIPPED.library_folder())
