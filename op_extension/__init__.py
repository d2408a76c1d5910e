# SPDX-License-Identifier: Apache-2.0
"""Tile kernels as PyTorch operators on the emulated device ``npu``.

Importing this package makes ``torch.ops.npu.my_add`` and its neighbours (see :mod:`op_extension.ops`) known, and brings
:mod:`op_extension.kernel`, which compiles and launches C++ tile kernels, and :mod:`op_extension.check`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from op_extension import _load
from op_extension._load import include_path, library_path
from op_extension._version import __version__

__all__ = ["__version__", "check", "errors", "include_path", "kernel", "library_path", "ops"]

try:
    _load.load()
except ImportError:
    # `op-extension doctor` says what is wrong, so it must start.
    if Path(sys.argv[0]).name != "op-extension":
        raise
else:
    from op_extension import check, errors, kernel, ops
