# SPDX-License-Identifier: Apache-2.0
"""Builds the packages npu_backend and op_extension; CMake makes the libraries in them.

Environment variables:
    NPU_BUILD_JOBS: compile jobs, 2 when unset.
    NPU_CMAKE_ARGS: further arguments of CMake's configure step.
    NPU_ISA_LEVELS: levels that kernels are built for; when unset, all of the architecture for a
        wheel and the machine's own for an in-place build.
    NPU_WHEEL_FROM_INPLACE: 1 puts the libraries of the in-place build into the wheel.
"""

import importlib.metadata
import os
import platform
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PACKAGES = ("npu_backend", "op_extension")
ISA_LEVELS = {"x86_64": "x86-64-v2;x86-64-v3;x86-64-v4"}


def torch_version() -> str:
    """Version of the installed torch, without its build label."""
    try:
        return importlib.metadata.version("torch").split("+")[0]
    except importlib.metadata.PackageNotFoundError:
        sys.exit(
            "op_extension: expected torch in the environment that builds (the libraries only fit "
            "the torch they were built with), got none; install torch==2.13.0 first, then run: "
            "pip install setuptools wheel cmake ninja pybind11 && pip install --no-build-isolation ."
        )


def version() -> str:
    """Version of this distribution; the package itself is not imported before it is built."""
    return runpy.run_path(str(ROOT / "op_extension" / "_version.py"))["__version__"]


def tool(name: str) -> str | None:
    """Path of a program, of this environment first."""
    scripts = sysconfig.get_path("scripts")
    return shutil.which(name, path=scripts) or shutil.which(name)


def native_sources() -> list[str]:
    """All that CMake reads, relative to this file."""
    files = (path for path in (ROOT / "csrc").rglob("*") if path.is_file())
    return ["CMakeLists.txt", *sorted(path.relative_to(ROOT).as_posix() for path in files)]


class BuildPackages(build_py):
    """Copies the Python files and, with them, what C++ code is compiled against."""

    def run(self) -> None:
        """Copies into a folder that holds nothing from an earlier build."""
        if self.editable_mode:
            super().run()
            return
        for package in PACKAGES:  # not all of the folder: the caller may have named one of his own
            shutil.rmtree(Path(self.build_lib, package), ignore_errors=True)
        super().run()
        include = Path(self.build_lib, "op_extension", "include")
        shutil.copytree(ROOT / "csrc" / "include", include, dirs_exist_ok=True)
        for header in ("npu_runtime.h", "npu_trace.h"):
            shutil.copy2(ROOT / "csrc" / "runtime" / header, include)
        rules = include.parent / "cmake"
        rules.mkdir(exist_ok=True)
        shutil.copy2(ROOT / "csrc" / "cmake" / "ascendc.cmake", rules)


class BuildLibraries(build_ext):
    """Runs CMake: into the source tree for an in-place build, else into the wheel's folder."""

    def run(self) -> None:
        """Builds, and copies the libraries where they are not built in place."""
        from_inplace = os.environ.get("NPU_WHEEL_FROM_INPLACE") == "1"
        if self.inplace or from_inplace:
            folder, packages = ROOT / "build" / "dev", ROOT
            levels = "native"
        else:
            folder = ROOT / "build" / "wheel"
            packages = folder / "packages"
            levels = ISA_LEVELS.get(platform.machine(), "native")
        self.cmake(folder, packages, os.environ.get("NPU_ISA_LEVELS", levels))
        if self.inplace:
            return
        for package in PACKAGES:
            for library in (packages / package).rglob("*.so"):
                target = Path(self.build_lib, library.relative_to(packages))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(library, target)

    def cmake(self, folder: Path, packages: Path, levels: str) -> None:
        """Configures when something about the configuration has changed, then builds."""
        program, ninja = tool("cmake"), tool("ninja")
        if program is None:
            sys.exit("op_extension: expected cmake 3.18 or newer, got none; run: pip install cmake ninja")
        configure = [program, "-S", str(ROOT), "-B", str(folder)]
        configure += [
            f"-DNPU_PACKAGE_DIR={packages}",
            f"-DPython3_EXECUTABLE={sys.executable}",
            f"-DNPU_ISA_LEVELS={levels}",
        ]
        if ninja is not None:
            configure += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
        configure += shlex.split(os.environ.get("NPU_CMAKE_ARGS", ""))
        record = folder / "configured_with.txt"
        wanted = [*configure, torch_version()]
        # CMake remembers: fewer arguments than last time are the same configuration.
        if not record.exists() or not set(wanted) <= set(record.read_text().splitlines()):
            run(configure)
            record.write_text("\n".join(wanted))
        run([program, "--build", str(folder), "--parallel", os.environ.get("NPU_BUILD_JOBS", "2")])

    def get_outputs(self) -> list[str]:
        """The libraries are copied by run(); setuptools has no list to keep of them."""
        return []

    def get_output_mapping(self) -> dict[str, str]:
        """No file of an editable installation is made outside of the source tree."""
        return {}


def run(command: list[str]) -> None:
    """Runs command; ends with its exit code when it fails."""
    done = subprocess.run(command, check=False)
    if done.returncode:
        sys.exit(f"op_extension: {shlex.join(command[:3])} ... ended with {done.returncode}")


setup(
    packages=find_packages(include=[name + suffix for name in PACKAGES for suffix in ("", ".*")]),
    package_data={name: ["py.typed", "*.pyi"] for name in PACKAGES},
    # One extension without sources makes the wheel one for this Python and platform; what it
    # depends on is what a source distribution takes along.
    ext_modules=[Extension("npu_backend.lib", sources=[], depends=native_sources())],
    cmdclass={"build_py": BuildPackages, "build_ext": BuildLibraries},
    # A distribution of its own, which tools/compat_extra makes: an extra can only ask for further ones.
    extras_require={"compat": [f"op_extension_compat=={version()}"]},
    install_requires=[f"torch=={'.'.join(torch_version().split('.')[:2])}.*", "numpy"],
)
