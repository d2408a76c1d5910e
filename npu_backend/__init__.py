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
    from npu_backend._strict_dtypes import StrictDtypes

__all__ = ["fallback_log", "strict_dtypes"]


def fallback_log() -> FallbackLog:
    """Counts, from now on, which operators of PyTorch run as CPU kernels on memory of npu, and how often.

    ``with npu_backend.fallback_log() as log: ...`` counts in the block; ``log = npu_backend.fallback_log()`` counts
    until ``log.close()``. ``print(log)`` shows a table, ``log["aten::addmm"]`` a number.
    """
    from npu_backend._fallback_log import FallbackLog

    return FallbackLog()


def strict_dtypes(enabled: bool = True) -> StrictDtypes:
    """From now on, refuses operands on npu whose dtype Ascend's operator does not take, or stops to.

    By default operators take what they take on CPU. With this switch they raise a ``NotImplementedError`` (a
    ``RuntimeError``) that names the operator, the dtypes that it takes on Atlas A2 and A3, and the one that it got.
    Operators of which nothing is known take what they take on CPU.

    ``with npu_backend.strict_dtypes(): ...`` is for a block; ``npu_backend.strict_dtypes()`` is until the end. There is
    one switch in the process, for all threads. ``NPU_STRICT_DTYPES=1`` in the environment switches it on at the start.
    """
    from npu_backend._strict_dtypes import StrictDtypes

    return StrictDtypes(enabled)


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
