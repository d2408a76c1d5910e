# SPDX-License-Identifier: Apache-2.0
"""Inputs and devices of tests."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import npu
from ..formats import check_format

__all__ = ["create_common_tensor", "freeze_rng_state", "get_npu_device", "set_npu_device"]


def get_npu_device() -> str:
    """``npu:`` and the number in SET_NPU_DEVICE, else 0."""
    return f"npu:{os.environ.get('SET_NPU_DEVICE') or 0}"


def set_npu_device() -> None:
    """Makes :func:`get_npu_device` the current one."""
    npu.set_device(get_npu_device())


def create_common_tensor(
    item: Sequence[Any], minValue: float, maxValue: float, device: str | None = None
) -> tuple[Tensor, Tensor]:
    """Equally distributed values, on cpu and on npu.

    Args:
        item: NumPy's dtype, storage format and shape.
        minValue: least value.
        maxValue: what values are less than.
        device: of the second result; :func:`get_npu_device` when None.

    Raises:
        NotImplementedError: a private storage format.
    """
    dtype, storage_format, shape = item
    check_format(storage_format, "create_common_tensor")
    on_cpu = torch.from_numpy(np.asarray(np.random.uniform(minValue, maxValue, shape)).astype(dtype))
    return on_cpu, on_cpu.to(device or get_npu_device())


@contextlib.contextmanager
def freeze_rng_state() -> Iterator[None]:
    """Random numbers go on behind the block as if there had been none in it."""
    on_cpu, on_npu = torch.get_rng_state(), npu.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(on_cpu)
        npu.set_rng_state(on_npu)
