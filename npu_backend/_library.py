# SPDX-License-Identifier: Apache-2.0
"""Finding, checking and loading ``libnpu_backend.so``."""

from __future__ import annotations

import ctypes
import mmap
import re
from pathlib import Path

_FOLDER = Path(__file__).absolute().parent / "lib"
_NAME = "libnpu_backend.so"


def library_path() -> Path:
    """Where the library lies, or should lie."""
    return _FOLDER / _NAME


def built_for(path: Path) -> str:
    """Version of torch that the library was compiled against.

    It is read from the file's text, because a library for another version may fail to load.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        found = re.search(rb"npu_backend built for torch ([^\x00]+)\x00", text)
        return found.group(1).decode() if found else "an unknown version"


def fits(built: str, installed: str) -> bool:
    """Whether a library for one version of torch works with another: its C++ ABI lasts for a minor version."""
    return built.split("+")[0].split(".")[:2] == installed.split("+")[0].split(".")[:2]


def _check_version(built: str, installed: str) -> None:
    if not fits(built, installed):
        raise ImportError(
            f"npu_backend: expected torch {built}, for which it was built, got torch {installed}; "
            f"install torch=={built.split('+')[0]}, or build npu_backend again with this torch"
        )


def load() -> None:
    """Loads the library and checks that it has registered the device.

    Raises:
        ImportError: no library, a library for another torch, or a process in which the device is taken.
    """
    path = library_path()
    if not path.is_file():
        raise ImportError(
            f"npu_backend: expected {_NAME} in {_FOLDER}, got a folder without a library; "
            "build it with `make` or leave the source folder"
        )
    import torch

    _check_version(built_for(path), torch.__version__)
    try:
        torch.ops.load_library(str(path))  # type: ignore[no-untyped-call]
    except OSError as error:
        raise ImportError(f"npu_backend: expected {path} to load, got: {error}") from error
    device_error = ctypes.CDLL(str(path)).npu_backend_device_error
    device_error.restype = ctypes.c_char_p
    sentence = device_error().decode()
    if sentence:
        raise ImportError(sentence)
