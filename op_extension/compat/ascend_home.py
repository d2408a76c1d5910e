# SPDX-License-Identifier: Apache-2.0
"""The folders of Ascend's toolkit that build files and instructions name, made of links to what is shipped."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from op_extension.compat import isolated
from op_extension.compat.shipped import cmake_folder, include_folders, library_folder, rank_library_folder

# Their functions are those of libnpu_runtime.so, or none.
_LIBRARIES = (
    *("ascendcl", "acl_op_compiler", "ascendalog", "ascend_dump", "ascend_hal", "c_sec", "dcmi", "error_manager"),
    *("ge_common_base", "graph", "graph_base", "hccl_fwk", "mmpa", "msprofiler", "nnopbase"),
    *("opapi", "platform", "profapi", "pto", "register", "runtime", "runtime_camodel", "tiling_api", "unified_dlog"),
)
# Those of programs with one process per rank.
_RANK_LIBRARIES = {"hccl": "hcomm", "hcomm": "hcomm", "mpi": "mpi"}
_CMAKE_FOLDERS = ("tools", "compiler")
_PROGRAMS = {
    **{"bisheng": "bisheng", "npu-smi": "npu_smi", "npu_smi": "npu_smi"},
    **dict.fromkeys(("mpirun", "mpiexec"), "mpirun"),
}


def make(home: Path) -> None:
    """Makes the folders in home, which must not exist."""
    (home / "lib64").mkdir(parents=True)
    _link(home / "include", include_folders()[1])
    for name in ("pkg_inc", "latest", "ascend-toolkit", f"{platform.machine()}-linux"):
        _link(home / name, home / ("include" if name == "pkg_inc" else ""))
    for library in _LIBRARIES:
        _link(home / "lib64" / f"lib{library}.so", library_folder() / "libnpu_runtime.so")
    for library, shipped in _RANK_LIBRARIES.items():
        _link(home / "lib64" / f"lib{library}.so", rank_library_folder() / f"lib{shipped}.so")
    _link(home / "lib64" / "libtorch_npu.so", library_folder() / "libnpu_backend.so")
    for name in ("lib", "devlib"):
        _link(home / name, home / "lib64")
    for name in _CMAKE_FOLDERS:
        folder = home / name / "tikcpp" / "ascendc_kernel_cmake"
        folder.mkdir(parents=True)
        text = f'include("{cmake_folder()}/ascendc.cmake")\n'
        (folder / "ascendc.cmake").write_text(text, encoding="utf-8")
    for program, module in _PROGRAMS.items():
        write_program(home / "bin" / program, isolated.script(f"op_extension.compat.{module}"))


def make_pto(folder: Path, given: str) -> None:
    """A folder for PTO_LIB_PATH: our headers, and beside them what a folder that was given before has."""
    folder.mkdir(parents=True)
    _link(folder / "include", include_folders()[0])
    if given and Path(given).is_dir():
        for entry in Path(given).iterdir():
            if entry.name != "include":
                _link(folder / entry.name, entry)


def write_program(path: Path, text: str) -> None:
    """Writes an executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def _link(path: Path, target: Path) -> None:
    """A link that stays right when the whole tree is moved, where the target is within it."""
    inside = target.is_relative_to(path.parent)
    path.symlink_to(os.path.relpath(target, path.parent) if inside else target.absolute())
