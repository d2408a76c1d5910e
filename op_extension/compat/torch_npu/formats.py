# SPDX-License-Identifier: Apache-2.0
"""Storage formats: memory of the device holds tensors as PyTorch strides say, the chip's base formats."""

from __future__ import annotations

from torch import Tensor

__all__ = ["check_format", "get_npu_format", "npu_format_cast"]

_NCHW = 0
_ND = 2
_UNDEFINED = -1


def check_format(number: int, where: str) -> None:
    """Raises for a format that is not one of those that PyTorch's strides describe.

    Raises:
        NotImplementedError: a private format of the chip, such as FRACTAL_NZ (29).
    """
    if number not in (_UNDEFINED, _NCHW, _ND):
        raise NotImplementedError(
            f"{where}: expected a base format, {_NCHW} (NCHW) or {_ND} (ND) (private formats are not emulated), "
            f"got {number}"
        )


def get_npu_format(tensor: Tensor) -> int:
    """NCHW for four dimensions, ND for all others, as a new tensor on the chip has."""
    return _NCHW if tensor.dim() == 4 else _ND


def npu_format_cast(tensor: Tensor, acl_format: int) -> Tensor:
    """The tensor itself: base formats hold the same bytes.

    Raises:
        NotImplementedError: a private format.
    """
    check_format(acl_format, "npu_format_cast")
    return tensor
