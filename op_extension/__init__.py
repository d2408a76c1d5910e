# SPDX-License-Identifier: Apache-2.0
"""Tile kernels as PyTorch operators on the emulated device ``npu``.

Importing this package makes ``torch.ops.npu.my_add`` and its neighbours (see :mod:`op_extension.ops`) known.
"""

from __future__ import annotations

from op_extension import _load

_load.load()

from op_extension import check, errors, kernel, ops  # noqa: E402  (they need the library)
from op_extension._load import include_path, library_path  # noqa: E402
from op_extension._version import __version__  # noqa: E402

__all__ = ["__version__", "check", "errors", "include_path", "kernel", "library_path", "ops"]
