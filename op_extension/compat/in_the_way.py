# SPDX-License-Identifier: Apache-2.0
"""Originals that are installed, and other packages of our name. Nothing here needs torch."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from op_extension.compat import backend_files, shipped

_TOOLKIT = Path("/usr/local/Ascend")


def original_torch_npu() -> Path | None:
    """Folder of an installed torch_npu that is not ours."""
    folder: Path | None = backend_files.module("_original").torch_npu_folder()
    return folder


def torch_npu_sentence(folder: Path) -> str:
    """What an installed torch_npu means, and what to do."""
    return (
        f"expected no torch_npu in this environment (one process has one device npu), got the one in {folder}; "
        "to use the emulated device: pip uninstall torch-npu, or make an environment without it"
    )


def original_toolkit() -> str:
    """Where an installed toolkit of Ascend lies; empty when none is found."""
    named = Path(os.environ.get("ASCEND_HOME_PATH") or _TOOLKIT)
    if named.is_dir() and not _is_ours(named):
        return str(named)
    if _TOOLKIT.is_dir():
        return str(_TOOLKIT)
    compiler = shutil.which("bisheng")
    return compiler if compiler and not _is_ours(Path(compiler).parent.parent) else ""


def _is_ours(home: Path) -> bool:
    return (home / "bash_env.sh").is_file()


def other_packages() -> list[Path]:
    """Folders on Python's path that hold another package called op_extension, but for the overlay of a run."""
    ours = shipped.ROOT / "op_extension"
    overlay = os.environ.get("NPU_OVERLAY") or "/none"
    found = (Path(entry or os.getcwd(), "op_extension").absolute() for entry in dict.fromkeys(sys.path))
    return [
        folder
        for folder in found
        if (folder / "__init__.py").is_file() and folder.resolve() != ours and not folder.is_relative_to(overlay)
    ]


def package_of_this_folder() -> Path | None:
    """Another package called op_extension in the current folder, as Ascend's own example has one."""
    folder = Path.cwd() / "op_extension"
    return folder if (folder / "__init__.py").is_file() and folder.resolve() != shipped.ROOT / "op_extension" else None
