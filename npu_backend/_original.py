# SPDX-License-Identifier: Apache-2.0
"""The package whose place this one takes."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def torch_npu_folder() -> Path | None:
    """Folder of an installed torch_npu; None when there is none, or only the stand-in of op_extension."""
    try:
        spec = importlib.util.find_spec("torch_npu")
    except (ImportError, ValueError):  # half-imported, or without a spec
        return None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).resolve().parent
    return None if folder.parts[-3:-1] == ("op_extension", "compat") else folder
