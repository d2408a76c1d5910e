# SPDX-License-Identifier: Apache-2.0
"""Methods of PyTorch that look at memory without a dispatcher call, and so must wait for the device here.

Queued kernels run when somebody waits. Operators, copies and ``item`` wait by themselves; an address handed to other
code does not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.utils.dlpack
from torch.utils.dlpack import DLDeviceType


def _wait_for(owner: Any) -> None:
    device = owner.device
    if device.type == "npu":
        torch.ops.npu_backend.drain(device.index)


def _waiting(function: Callable[..., Any]) -> Callable[..., Any]:
    """function, with a wait for the device of its first argument before it."""

    @functools.wraps(function)
    def wrapper(owner: Any, *args: Any, **kwargs: Any) -> Any:
        if not getattr(owner, "is_cpu", False):
            _wait_for(owner)
        return function(owner, *args, **kwargs)

    wrapper._npu_backend_patch = True  # type: ignore[attr-defined]
    return wrapper


def _patch(owner: Any, name: str) -> None:
    function = getattr(owner, name)
    if not getattr(function, "_npu_backend_patch", False):
        setattr(owner, name, _waiting(function))


def _patch_dlpack_device() -> None:
    """PyTorch compares the type of the device with "privateuse1", which it is not called after the renaming."""
    original = torch.Tensor.__dlpack_device__
    if getattr(original, "_npu_backend_patch", False):
        return

    @functools.wraps(original)
    def wrapper(self: torch.Tensor) -> tuple[Any, int]:
        if self.device.type == "npu":
            return (DLDeviceType.kDLExtDev, self.device.index)
        return original(self)

    wrapper._npu_backend_patch = True  # type: ignore[attr-defined]
    torch.Tensor.__dlpack_device__ = wrapper  # type: ignore[method-assign]


def _check_index_of_npu(owner: type) -> None:
    """PyTorch keeps the low 8 bits of a device index: ``x.npu(256)`` would move to device 0."""
    original = owner.npu  # type: ignore[attr-defined]
    if getattr(original, "_npu_backend_patch", False):
        return

    @functools.wraps(original)
    def wrapper(self: Any, device: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(device, int) and not 0 <= device < torch.accelerator.device_count():
            count = torch.accelerator.device_count()
            raise RuntimeError(f"npu: expected a device index in [0, {count}), got {device}")
        return original(self, device, *args, **kwargs)

    wrapper._npu_backend_patch = True  # type: ignore[attr-defined]
    owner.npu = wrapper  # type: ignore[attr-defined]


def _let_lazy_modules_move() -> None:
    """PyTorch names the methods that may move a parameter without a size yet; ``npu`` is not among them."""
    mixin = torch.nn.parameter.UninitializedTensorMixin  # type: ignore[attr-defined]
    original = getattr(torch.Tensor.npu, "__wrapped__", torch.Tensor.npu)  # type: ignore[attr-defined]
    if original not in mixin._allowed_methods:
        mixin._allowed_methods.append(original)


def apply() -> None:
    """Installs the patches, once per process."""
    _patch(torch.Tensor, "data_ptr")
    _patch(torch.Tensor, "__dlpack__")
    _patch(torch.UntypedStorage, "data_ptr")
    _patch(torch.utils.dlpack, "to_dlpack")
    if hasattr(torch, "to_dlpack"):
        torch.to_dlpack = torch.utils.dlpack.to_dlpack  # type: ignore[attr-defined]
    _patch_dlpack_device()
    for owner in (torch.Tensor, torch.nn.Module, torch.UntypedStorage):
        _check_index_of_npu(owner)
    _let_lazy_modules_move()
