# SPDX-License-Identifier: Apache-2.0
"""Where headers, libraries and build rules lie, in a source tree and installed.

Only the standard library: ``torch_npu`` reads this file where another package called op_extension is imported.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["ROOT", "cmake_folder", "include_folder", "include_folders", "library_folder", "rank_library_folder"]

# The folder of both packages.
ROOT = Path(__file__).resolve().parents[2]


def include_folder() -> Path:
    """Folder of ``pto/pto-inst.hpp``."""
    shipped = ROOT / "op_extension" / "include"
    return shipped if (shipped / "pto" / "pto-inst.hpp").is_file() else ROOT / "csrc" / "include"


def include_folders(for_kernels: bool = False) -> list[Path]:
    """Folders of headers for host code; for kernels, too, if asked."""
    include = include_folder()
    device = [include / "compat" / "device"] if for_kernels else []
    runtime = [] if (include / "npu_runtime.h").is_file() else [ROOT / "csrc" / "runtime"]
    return [include, *device, include / "compat" / "host", *runtime]


def cmake_folder() -> Path:
    """Folder of ``ascendc.cmake``."""
    shipped = ROOT / "op_extension" / "cmake"
    return shipped if shipped.is_dir() else ROOT / "csrc" / "cmake"


def library_folder() -> Path:
    """Folder of the libraries of the device."""
    return ROOT / "npu_backend" / "lib"


def rank_library_folder() -> Path:
    """Folder of ``libmpi.so`` and ``libhcomm.so``."""
    return ROOT / "op_extension" / "lib"
