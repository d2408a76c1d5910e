# SPDX-License-Identifier: Apache-2.0
"""Stands in for ``torch_npu`` where that is not installed: what custom operators and their tests use of it.

It needs the device (``npu_backend``) and nothing else of op_extension: a program that imports it may bring a package
called ``op_extension`` of its own, with operators of the same names as ours.
"""

from __future__ import annotations

import importlib
import os
import sys

import torch

import npu_backend  # noqa: F401  (brings the device)

from . import utils
from .attention import npu_fused_infer_attention_score
from .formats import get_npu_format, npu_format_cast

__all__ = ["get_npu_format", "npu", "npu_format_cast", "npu_fused_infer_attention_score", "utils"]
__version__ = torch.__version__.split("+")[0]

npu = importlib.import_module("npu_backend.npu")
sys.modules[f"{__name__}.npu"] = npu


def __getattr__(name: str) -> None:
    raise AttributeError(
        f"torch_npu.{name}: expected a name that op_extension's stand-in for torch_npu has ({', '.join(__all__)}), "
        f"got {name}"
    )


if os.environ.get("TORCH_TRANSFER_TO_NPU") == "1":
    importlib.import_module(".contrib.transfer_to_npu", __name__)
