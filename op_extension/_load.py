# SPDX-License-Identifier: Apache-2.0
"""Finding and loading the operator library."""

from __future__ import annotations

import ctypes
from pathlib import Path

from op_extension.compat.shipped import include_folder

_PACKAGE = Path(__file__).resolve().parent


def library_path() -> str:
    """Path of ``libop_extension.so``, for :func:`torch.ops.load_library`."""
    return str(_PACKAGE / "lib" / "libop_extension.so")


def include_path() -> str:
    """Folder with the C++ headers: ``pto/pto-inst.hpp``, ``npu_runtime.h``.

    Raises:
        FileNotFoundError: the package holds no headers and is not in a source tree.
    """
    folder = include_folder()
    if not (folder / "pto" / "pto-inst.hpp").is_file():
        raise FileNotFoundError(f"op_extension: expected headers in {folder}, got none")
    return str(folder)


def load() -> None:
    """Loads the device and the operators.

    Raises:
        ImportError: one sentence that says what is missing, in the way, or of another version.
    """
    path = library_path()
    if not Path(path).is_file():
        raise ImportError(
            f"op_extension: expected libop_extension.so in {Path(path).parent}, got a folder without it; "
            "build it with 'make', or leave this folder to use an installed op_extension"
        )
    import torch

    import npu_backend  # noqa: F401  (brings the device, or says why not)

    torch.ops.load_library(path)  # type: ignore[no-untyped-call]
    error = ctypes.CDLL(path).op_extension_error
    error.restype = ctypes.c_char_p
    sentence = error().decode()
    if sentence:
        raise ImportError(sentence)
