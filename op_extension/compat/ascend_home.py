# SPDX-License-Identifier: Apache-2.0
"""The folders of Ascend's toolkit that build files and instructions name, made of links to what is shipped."""

from __future__ import annotations

import errno
import fcntl
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from op_extension.compat import environment, isolated
from op_extension.compat.shipped import ROOT, cmake_folder, include_folders, library_folder, rank_library_folder
from op_extension.jit import cache

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


@dataclass(frozen=True)
class Folders:
    """What ASCEND_HOME_PATH and PTO_LIB_PATH name in a run."""

    home: Path
    pto: Path


def make(given_pto: str) -> Folders:
    """The folders of this installation; builds keep their paths, so they are the same in each run.

    Args:
        given_pto: PTO_LIB_PATH of the caller. What lies there stays there, but for headers.
    """
    given_pto = given_pto and str(Path(given_pto).resolve())
    of_a_run = Path(given_pto).parent
    if given_pto and (of_a_run / "home" / "bash_env.sh").is_file():  # a run within a run
        return Folders(of_a_run / "home", of_a_run / "pto")
    sources = (Path(__file__).with_name(f"{name}.py") for name in ("ascend_home", "environment", "isolated", "shipped"))
    facts = [sys.executable, str(ROOT), _torch_folder(), given_pto, *(path.read_text("utf-8") for path in sources)]
    root = cache.folder() / cache.RUNS / cache.digest(*facts)[:16]
    made = Folders(root / "home", root / "pto")
    if root.is_dir():
        return made
    root.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=root.parent))
    try:
        with cache.locked(work, fcntl.LOCK_SH):
            _make_home(work / "home")
            _make_pto(work / "pto", work / "home", given_pto)
            environment.write_scripts(work / "home", made.home, made.pto)
            _name(work, root)
    finally:
        shutil.rmtree(work, ignore_errors=True)  # it is there where it has not got its name
    return made


def _name(work: Path, root: Path) -> None:
    try:
        work.rename(root)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):  # which say that another run was faster
            raise


def _make_home(home: Path) -> None:
    (home / "lib64").mkdir(parents=True)
    _link(home / "include", include_folders()[1])
    for name in ("pkg_inc", "latest", "ascend-toolkit", f"{platform.machine()}-linux"):
        _link(home / name, home / ("include" if name == "pkg_inc" else ""))
    for library in _LIBRARIES:
        _link(home / "lib64" / f"lib{library}.so", library_folder() / "libnpu_runtime.so")
    for library, shipped in _RANK_LIBRARIES.items():
        _link(home / "lib64" / f"lib{library}.so", rank_library_folder() / f"lib{shipped}.so")
    (home / "lib64" / "libtorch_npu.so").write_text(_torch_npu_script(), encoding="utf-8")
    for name in ("lib", "devlib"):
        _link(home / name, home / "lib64")
    for name in _CMAKE_FOLDERS:
        folder = home / name / "tikcpp" / "ascendc_kernel_cmake"
        folder.mkdir(parents=True)
        text = f'include("{cmake_folder()}/ascendc.cmake")\n'
        (folder / "ascendc.cmake").write_text(text, encoding="utf-8")
    for program, module in _PROGRAMS.items():
        write_program(home / "bin" / program, isolated.script(f"op_extension.compat.{module}"))


def _torch_folder() -> str:
    spec = importlib.util.find_spec("torch")
    folders = spec.submodule_search_locations if spec is not None else None
    if not folders:
        raise OSError("op_extension: expected torch in this environment, got none")
    return str(folders[0])


def _torch_npu_script() -> str:
    """For the linker: the device and, as torch_npu's own library brings them, the libraries of torch."""
    torch = " ".join(f'"{_torch_folder()}/lib/lib{name}.so"' for name in ("c10", "torch_cpu", "torch_python"))
    return f'INPUT("{library_folder()}/libnpu_backend.so" AS_NEEDED({torch}))\n'


def _make_pto(folder: Path, home: Path, given: str) -> None:
    """A folder for PTO_LIB_PATH: our headers and libraries, and beside them what a folder that was given has."""
    folder.mkdir(parents=True)
    _link(folder / "include", include_folders()[0])
    (folder / "lib").symlink_to(os.path.relpath(home / "lib64", folder))
    if given and Path(given).is_dir():
        for entry in Path(given).iterdir():
            if entry.name not in ("include", "lib"):
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
