# SPDX-License-Identifier: Apache-2.0
"""Devices: how many, which one is current, what they are."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from npu_backend import _library

Device = int | str | torch.device | None
_initialized = False


_wait_for = torch._C._accelerator_synchronizeDevice


def _wait_function() -> Callable[[], int]:
    """A function of C that waits for the current device and returns the runtime's error.

    Programs wait after each step: a call by ctypes, or by pybind11, costs more than to ask whether there is work.
    """
    make = ctypes.PyDLL(str(_library.library_path())).npu_backend_wait_function
    make.restype = ctypes.py_object
    function: Callable[[], int] = make()
    return function


_wait = _wait_function()


def device_index(device: Device, *, optional: bool = True) -> int:
    """Index of a device given as index, name, ``torch.device`` or None for the current one.

    Raises:
        ValueError: the device is none of the existing npu devices.
    """
    if device is None and optional:
        return current_device()
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type != "npu":
            raise ValueError(f"torch.npu: expected an npu device, got {device}")
        index = current_device() if device.index is None else device.index
    elif isinstance(device, int) and not isinstance(device, bool):
        index = device
    else:
        raise ValueError(f"torch.npu: expected an index, a name or a torch.device, got {device!r}")
    if not 0 <= index < device_count():
        raise ValueError(f"torch.npu: expected a device index in [0, {device_count()}), got {index}")
    return index


def is_available() -> bool:
    """Whether there is at least one device."""
    return device_count() > 0


def device_count() -> int:
    """Number of devices: environment variable ``NPU_DEVICE_COUNT``, 2 when unset."""
    return int(torch._C._accelerator_hooks_device_count())


def _is_in_bad_fork() -> bool:
    """Whether this process was forked from one that had used the device."""
    return bool(torch.ops.npu_backend.is_forked())


def is_initialized() -> bool:
    """Whether this process has used the device."""
    return _initialized or bool(torch.ops.npu_backend.is_used())


def _lazy_init() -> None:
    torch.ops.npu_backend.check_process()
    global _initialized
    _initialized = True


def init() -> None:
    """Nothing has to be done before the first use; raises in a forked process as that would."""
    _lazy_init()


def _lazy_call(function: Callable[[], Any], **_: Any) -> None:
    """Calls function at once: the device needs no later initialisation."""
    function()


def current_device() -> int:
    """Index of the current device of this thread."""
    return int(torch._C._accelerator_getDeviceIndex())


def set_device(device: Device) -> None:
    """Makes device the current one of this thread; a negative index changes nothing."""
    if isinstance(device, int) and device < 0:
        return
    torch._C._accelerator_setDeviceIndex(device_index(device, optional=False))


class device:
    """Context in which the given device is the current one; None or a negative index changes nothing."""

    def __init__(self, device: Device) -> None:
        """Args: device, as for :func:`set_device`."""
        unchanged = device is None or (isinstance(device, int) and device < 0)
        self.idx = -1 if unchanged else device_index(device)
        self.prev_idx = -1

    def __enter__(self) -> device:
        """Switches to the device."""
        if self.idx >= 0:
            self.prev_idx = current_device()
            set_device(self.idx)
        return self

    def __exit__(self, *exception: object) -> None:
        """Switches back."""
        if self.prev_idx >= 0:
            set_device(self.prev_idx)


class device_of(device):
    """Context of the device of a tensor or storage; a CPU one changes nothing."""

    def __init__(self, obj: Any) -> None:
        """Args: obj, a tensor or a storage."""
        super().__init__(obj.device.index if obj.device.type == "npu" else -1)


@dataclass(frozen=True)
class DeviceProperties:
    """What the emulated device is. ``multi_processor_count`` is the number of vector cores."""

    name: str
    total_memory: int
    cube_core_num: int
    vector_core_num: int
    multi_processor_count: int
    major: int = 0
    minor: int = 0


def get_device_name(device: Device = None) -> str:
    """Name of the emulated system on chip: environment variable ``NPU_SOC``, Ascend910B1 when unset."""
    device_index(device)
    return str(torch.ops.npu_backend.soc_name())


def get_device_properties(device: Device = None) -> DeviceProperties:
    """Name, memory in bytes and cores of device."""
    index = device_index(device)
    cube, vector = torch.ops.npu_backend.core_count()
    _, total = torch._C._accelerator_getMemoryInfo(index)
    return DeviceProperties(get_device_name(index), total, cube, vector, vector)


def get_device_capability(device: Device = None) -> None:
    """None: Ascend devices have no such number."""
    device_index(device)


def can_device_access_peer(device: Device, peer_device: Device) -> bool:
    """Whether device sees the memory of peer_device: always, but for its own."""
    return device_index(device, optional=False) != device_index(peer_device, optional=False)


def utilization(device: Device = None) -> int:
    """Per cent of time in which a kernel ran: 0, kernels run only while somebody waits for them."""
    device_index(device)
    return 0


def synchronize(device: Device = None) -> None:
    """Waits for all streams of device and raises the fault of a kernel that has run there."""
    if device is not None:
        _wait_for(device_index(device))
    elif error := _wait():
        torch.ops.npu_backend.raise_error(error)
