# SPDX-License-Identifier: Apache-2.0
"""The emulated device ``npu`` for PyTorch.

Importing this package, or only ``torch`` when the package is installed, makes ``torch.device("npu")`` work and gives
:mod:`torch.npu`. The memory of the device is host memory; operators without a kernel of their own run PyTorch's CPU
kernel on it, without a copy.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npu_backend._fallback_log import FallbackLog

__all__ = ["fallback_log"]


def fallback_log() -> FallbackLog:
    """Counts, from now on, which operators of PyTorch run as CPU kernels on memory of npu, and how often.

    ``with npu_backend.fallback_log() as log: ...`` counts in the block; ``log = npu_backend.fallback_log()`` counts
    until ``log.close()``. ``print(log)`` shows a table, ``log["aten::addmm"]`` a number.
    """
    from npu_backend._fallback_log import FallbackLog

    return FallbackLog()


def _inside_import_torch() -> bool:
    spec = getattr(sys.modules.get("torch"), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def _autoload() -> None:
    """Entry point of group ``torch.backends``: PyTorch calls it at the end of ``import torch``.

    Nothing that goes wrong here may break ``import torch`` for those who do not want the device.
    """
    if _importing:  # `import npu_backend` came first and goes on when torch is there
        return
    try:
        from npu_backend import _boot

        _boot.boot()
    except Exception as error:
        # So that a later `import npu_backend` tries again, and raises.
        sys.modules.pop(__name__, None)
        warnings.warn(f"npu_backend is installed, but the device npu is not available: {error}", stacklevel=2)


_importing = not _inside_import_torch()
if _importing:
    from npu_backend import _boot

    _boot.boot()
    _importing = False
