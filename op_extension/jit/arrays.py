# SPDX-License-Identifier: Apache-2.0
"""Launches with numpy arrays among the arguments: copied in, and out where the kernel may write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from op_extension import _runtime

if TYPE_CHECKING:
    from op_extension.kernel import Kernel, Parameter

_OVERLAP_WORK = 10_000  # candidates that numpy looks at; views that need more count as overlapping


def launch(kernel: Kernel, run: Callable[..., bool], block_dim: int, stream: int, args: tuple[Any, ...]) -> None:
    """Runs a kernel to its end with arrays replaced by tensors on the device of the other arguments.

    Raises:
        TypeError: an argument for a pointer is no tensor, array or None.
        ValueError: an array of another byte order; one that the kernel may write shares memory with another argument,
            and is not the same.
    """
    device = next((arg.device for arg in args if isinstance(arg, torch.Tensor)), torch.device("cpu"))
    arrays = _Arrays(kernel.name, device)
    tensors = list(args)
    for index, (parameter, arg) in enumerate(zip(kernel.signature, args, strict=True)):
        if not parameter.is_pointer or arg is None:
            continue
        where = f"argument {index} ({parameter.type})"
        if isinstance(arg, np.ndarray):
            tensors[index] = arrays.tensor_for(arg, parameter, where)
        elif isinstance(arg, torch.Tensor):
            if arg.device.type not in ("npu", "cpu"):
                raise ValueError(f"{kernel.name}: {where}: expected a tensor on npu or cpu, got one on {arg.device}")
        else:
            got = f"{type(arg).__name__} {arg!r:.80}"
            raise TypeError(f"{kernel.name}: {where}: expected a tensor, an array or None, got {got}")
    arrays.check_overlaps(args)
    run(block_dim, stream, kernel.launch_flags, tuple(tensors))
    if device.type == "npu":
        torch.accelerator.synchronize(device)
    arrays.copy_back()


@dataclass
class _Copy:
    """An array that is passed, maybe as several arguments, and its one copy on the device."""

    array: np.ndarray[Any, Any]
    tensor: torch.Tensor
    where: str
    is_written: bool = False


class _Arrays:
    """The arrays of a launch."""

    def __init__(self, kernel: str, device: torch.device) -> None:
        self._kernel = kernel
        self._device = device
        self._copies: dict[tuple[Any, ...], _Copy] = {}

    def tensor_for(self, array: np.ndarray[Any, Any], parameter: Parameter, where: str) -> torch.Tensor:
        """The copy of array: the same one for each argument that is this array."""
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype)
        copy = self._copies.get(key)
        if copy is None:
            tensor = _tensor_of(array, f"{self._kernel}: {where}").to(self._device)
            copy = self._copies[key] = _Copy(array, tensor, where)
        copy.is_written |= not parameter.is_const and array.flags.writeable
        # The bits of bfloat16, which numpy lacks, may come as uint16.
        if parameter.kind == _runtime.TYPE_BFLOAT16 and (array.dtype == np.uint16 or array.dtype.name == "bfloat16"):
            return copy.tensor.reshape(-1).view(torch.bfloat16)
        return copy.tensor

    def check_overlaps(self, args: tuple[Any, ...]) -> None:
        """Raises where an array that the kernel may write shares memory with another argument that is not the same."""
        copies = list(self._copies.values())
        for index, copy in enumerate(copies):
            others = [other for other in copies[index + 1 :] if copy.is_written or other.is_written]
            for other in others:
                if _share_memory(copy.array, other.array):
                    self._raise_overlap(other.where, copy.where)
            if copy.is_written:
                for position, arg in enumerate(args):
                    if isinstance(arg, torch.Tensor) and _shares_memory_with(copy.array, arg):
                        self._raise_overlap(copy.where, f"argument {position}, a tensor")

    def _raise_overlap(self, where: str, other: str) -> None:
        raise ValueError(
            f"{self._kernel}: {where}: expected an array that shares no memory with other arguments, "
            f"got one that overlaps {other}"
        )

    def copy_back(self) -> None:
        """Brings what the kernel may have written back into the arrays."""
        for copy in self._copies.values():
            if copy.is_written:
                np.copyto(copy.array, _bytes_of(copy.tensor).view(copy.array.dtype).reshape(copy.array.shape))


def _share_memory(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    try:
        return np.shares_memory(a, b, max_work=_OVERLAP_WORK)  # type: ignore[arg-type]  # narrower in the stubs
    except np.exceptions.TooHardError:
        return True


def _shares_memory_with(array: np.ndarray[Any, Any], tensor: torch.Tensor) -> bool:
    """Whether array lies in the storage of tensor, wholly or partly."""
    try:
        storage = tensor.untyped_storage()
        begin, end = storage.data_ptr(), storage.data_ptr() + storage.nbytes()
    except (RuntimeError, NotImplementedError):
        return False  # without memory, which the launch refuses
    reaches = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True)]
    low = array.__array_interface__["data"][0] + sum(min(reach, 0) for reach in reaches)
    high = array.__array_interface__["data"][0] + sum(max(reach, 0) for reach in reaches) + array.itemsize
    return array.size > 0 and low < end and begin < high


def _tensor_of(array: np.ndarray[Any, Any], where: str) -> torch.Tensor:
    """A copy of array."""
    if not array.dtype.isnative:
        raise ValueError(
            f"{where}: expected an array in the byte order of this machine, got one of dtype {array.dtype}"
        )
    copy = np.array(array, order="C")
    try:
        return torch.from_numpy(copy)
    except TypeError:
        pass
    if copy.dtype.hasobject or copy.dtype.kind in "mM":
        raise TypeError(f"{where}: expected an array of numbers, got one of dtype {copy.dtype}")
    # Structured, or of a type that torch gives no array: for GM_ADDR and pointers to structs.
    return torch.from_numpy(copy.reshape(-1).view(np.uint8))


def _bytes_of(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    flat = tensor.cpu().reshape(-1)
    return flat.view(torch.uint8).numpy() if flat.numel() else np.empty(0, np.uint8)
