# SPDX-License-Identifier: Apache-2.0
"""Tile kernels as PyTorch operators on the emulated device ``npu``.

Importing this package makes ``torch.ops.npu.my_add`` and its neighbours (see :mod:`op_extension.ops`) known, and brings
:mod:`op_extension.kernel`, which compiles and launches C++ tile kernels, and :mod:`op_extension.check`. A C++ library
of one's own is built with what :func:`include_paths`, :func:`library_dirs`, :func:`libraries` and
:func:`kernel_compile_args` name.
"""

from __future__ import annotations

import sys

from op_extension import _command, _load
from op_extension._load import include_path, library_path
from op_extension._version import __version__
from op_extension.building import include_paths, kernel_compile_args, libraries, library_dirs

__all__ = [
    "__version__",
    "check",
    "errors",
    "include_path",
    "include_paths",
    "kernel",
    "kernel_compile_args",
    "libraries",
    "library_dirs",
    "library_path",
    "ops",
]

# What starts another program needs nothing of torch, which takes a second to import.
if not (_command.IS_COMMAND and sys.argv[1:2] in (["run"], ["env"], ["check"])):
    try:
        _load.load()
    except ImportError:
        # `op-extension doctor` says what is wrong, so it must start.
        if not _command.IS_COMMAND:
            raise
    else:
        from op_extension import check, errors, kernel, ops
