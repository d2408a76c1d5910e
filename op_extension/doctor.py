# SPDX-License-Identifier: Apache-2.0
"""What ``op-extension doctor`` looks at. Nothing here needs the libraries to load."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from op_extension._load import include_path, library_path
from op_extension._version import __version__
from op_extension.compat import backend_files, in_the_way

_APART = "op-extension run keeps a program's packages apart"


class Finding(NamedTuple):
    """One line of the report."""

    subject: str
    good: bool
    text: str


def examine() -> list[Finding]:
    """All findings, in the order in which one thing needs the other."""
    findings = [Finding("op_extension", True, f"{__version__} in {Path(library_path()).parents[1]}")]
    for look in (_python, _torch, _device, _operators, _headers, _compiler, _tools, _cache, _in_the_way):
        try:
            findings += look()
        except Exception as error:  # a doctor reports; whatever is wrong is a finding
            findings.append(Finding(look.__name__[1:], False, f"{type(error).__name__}: {error}"))
    return findings


def _python() -> Iterator[Finding]:
    yield Finding("python", True, f"{platform.python_version()} at {sys.executable}, {platform.machine()}")


def _torch() -> Iterator[Finding]:
    library = backend_files.module("_library")
    path = library.library_path()
    built = library.built_for(path) if path.is_file() else None
    try:
        found = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        wanted = f"; install torch=={built.split('+')[0]}" if built else ""
        yield Finding("torch", False, f"not installed{wanted}")
        return
    good = built is None or library.fits(built, found)
    yield Finding("torch", good, f"{found}; the libraries were built for {built or 'none'}")


def _device() -> Iterator[Finding]:
    folder = backend_files.module("_library").library_path().parent
    for name in ("libnpu_runtime.so", "libnpu_backend.so"):
        yield _file(name, folder / name)
    yield _works("device npu", lambda: f"{_count_devices()} devices, {_soc()}")


def _count_devices() -> int:
    import torch

    import npu_backend  # noqa: F401  (brings the device)

    return torch.accelerator.device_count()


def _soc() -> str:
    from op_extension import _runtime

    return _runtime.soc_name()


def _operators() -> Iterator[Finding]:
    library = Path(library_path())
    yield _file(library.name, library)
    levels = sorted(path.stem.removeprefix("libop_kernels_") for path in library.parent.glob("libop_kernels_*.so"))
    yield Finding("kernels built ahead of time", bool(levels), ", ".join(levels) or f"none in {library.parent}")
    yield _works("machine", lambda: _level() or platform.machine())


def _level() -> str:
    from op_extension import _runtime

    return next(iter(_runtime.isa_levels()), "")


def _headers() -> Iterator[Finding]:
    yield _works("headers", include_path)


def _compiler() -> Iterator[Finding]:
    from op_extension.jit import toolchain

    command = toolchain.find_compiler().command
    done = toolchain.run([*command, "--version"])
    answer = (done.stdout or done.stderr or "no answer").splitlines()[0]
    # The preprocessor knows whether it is one of C++; any program may have a version.
    text = toolchain.run([*command, "-x", "c++", "-E", "-P", "-"], text="__cplusplus").stdout
    good = done.returncode == 0 and text.strip().rstrip("L").isdigit()
    yield Finding("compiler", good, answer if good else f"expected a C++ compiler in CXX, got: {answer}")


def _tools() -> Iterator[Finding]:
    found = shutil.which("addr2line")
    yield Finding("addr2line", True, found or "not there (binutils): reports name addresses instead of lines")


def _cache() -> Iterator[Finding]:
    from op_extension.jit.cache import Cache

    cache = Cache()
    count = sum(1 for _ in cache.entries())
    yield Finding("cache", True, f"{count} kernels, {cache.size() / 2**20:.1f} MiB in {cache.root}")


def _in_the_way() -> Iterator[Finding]:
    original = in_the_way.original_torch_npu()
    if original is not None:
        yield Finding("torch_npu", False, in_the_way.torch_npu_sentence(original))
    toolkit = in_the_way.original_toolkit()
    if toolkit:
        yield Finding("toolkit", True, f"{toolkit}; op-extension run takes its place for one command")
    for folder in in_the_way.other_packages():
        yield Finding("another op_extension", False, f"{folder} is on Python's path; {_APART}")
    here = in_the_way.package_of_this_folder()
    if here is not None:
        yield Finding("another op_extension", True, f"{here}: Python that starts in this folder imports it; {_APART}")


def _file(subject: str, path: Path) -> Finding:
    return Finding(subject, path.is_file(), str(path) if path.is_file() else f"expected {path}, got no such file")


def _works(subject: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, True, look())
    except Exception as error:  # a doctor reports
        return Finding(subject, False, str(error))
