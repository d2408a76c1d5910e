# SPDX-License-Identifier: Apache-2.0
"""Launches with numpy arrays among the arguments: copied in, and out where the kernel may write."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from op_extension.kernel import Kernel, Parameter

_BFLOAT16 = 5  # NPU_TYPE_BFLOAT16


def launch(kernel: Kernel, run: Callable[..., bool], block_dim: int, stream: int, args: tuple[Any, ...]) -> None:
    """Runs a kernel to its end with arrays replaced by tensors on the device of the other arguments.

    Raises:
        TypeError: an argument for a pointer is no tensor, array or None.
    """
    device = next((arg.device for arg in args if isinstance(arg, torch.Tensor)), torch.device("cpu"))
    tensors = list(args)
    back = []
    for index, (parameter, arg) in enumerate(zip(kernel.signature, args, strict=True)):
        if not parameter.is_pointer or arg is None or isinstance(arg, torch.Tensor):
            continue
        where = f"{kernel.name}: argument {index} ({parameter.type})"
        if not isinstance(arg, np.ndarray):
            raise TypeError(f"{where}: expected a tensor, an array or None, got {type(arg).__name__} {arg!r:.80}")
        tensors[index] = _tensor_of(arg, parameter, where).to(device)
        if not parameter.is_const and arg.flags.writeable:
            back.append((arg, tensors[index]))
    run(block_dim, stream, kernel.launch_flags, tuple(tensors))
    if device.type == "npu":
        torch.accelerator.synchronize(device)
    for array, tensor in back:
        np.copyto(array, _bytes_of(tensor).view(array.dtype).reshape(array.shape))


def _tensor_of(array: np.ndarray[Any, Any], parameter: Parameter, where: str) -> torch.Tensor:
    """A copy of array. The bits of bfloat16, which numpy lacks, may come as uint16."""
    copy = np.array(array, order="C")
    if parameter.kind == _BFLOAT16 and (copy.dtype == np.uint16 or copy.dtype.name == "bfloat16"):
        return torch.from_numpy(copy.view(np.int16)).view(torch.bfloat16)
    try:
        return torch.from_numpy(copy)
    except TypeError:
        pass
    if copy.dtype.hasobject:
        raise TypeError(f"{where}: expected an array of numbers, got one of dtype {copy.dtype}")
    return torch.from_numpy(copy.reshape(-1).view(np.uint8))  # structured: for GM_ADDR and pointers to structs


def _bytes_of(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    flat = tensor.cpu().reshape(-1)
    return flat.view(torch.uint8).numpy() if flat.numel() else np.empty(0, np.uint8)
