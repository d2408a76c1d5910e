# SPDX-License-Identifier: Apache-2.0
"""``torch.npu.FloatTensor`` and its kind: a dtype and the device npu as a type."""

from __future__ import annotations

from typing import Any

import torch


class _TypedTensor(type):
    """Class of the types: calling one makes a tensor, ``isinstance`` asks for device and dtype."""

    dtype: torch.dtype

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch.Tensor) and instance.device.type == "npu" and instance.dtype == cls.dtype

    def __call__(cls, *arguments: Any) -> torch.Tensor:
        """A tensor of the given sizes, uninitialised, or of the given values."""
        if len(arguments) == 1 and not isinstance(arguments[0], int | torch.Size):
            return torch.as_tensor(arguments[0], dtype=cls.dtype, device="npu").clone()
        sizes = arguments[0] if arguments and isinstance(arguments[0], torch.Size) else arguments
        return torch.empty(sizes if arguments else 0, dtype=cls.dtype, device="npu")


_DTYPES = {
    "BoolTensor": torch.bool,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
}


def make(name: str) -> type:
    """The type of a name such as ``FloatTensor``."""
    # Tensor.type() compares the name with that of its own types, module included.
    return _TypedTensor(
        f"torch.npu.{name}",
        (),
        {"dtype": _DTYPES[name], "__doc__": f"Tensors of dtype {_DTYPES[name]} on npu.", "__module__": "builtins"},
    )


NAMES = tuple(_DTYPES)
