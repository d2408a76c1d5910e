# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators of ``torch.ops.npu`` against torch's on CPU, forward and backward."""

import torch
from torch import Tensor

import op_extension  # noqa: F401  (registers the operators)
from bench.pairs import Function, backward, forward
from bench.row import Row

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
SIZES = (4, 40960, 1_000_000, 64_000_000)


def gelu(x: Tensor) -> Tensor:
    """The form with tanh."""
    return torch.nn.functional.gelu(x, approximate="tanh")


def my_gelu(x: Tensor) -> Tensor:
    """The same, ours."""
    return torch.ops.npu.my_gelu(x, approximate="tanh")


OPERATORS: dict[str, tuple[Function, Function, int]] = {
    "my_add": (torch.ops.npu.my_add, torch.add, 2),
    "my_mul": (torch.ops.npu.my_mul, torch.mul, 2),
    "my_relu": (torch.ops.npu.my_relu, torch.relu, 1),
    "fused_add_relu": (torch.ops.npu.fused_add_relu, lambda x, y: torch.relu(x + y), 2),
    "fused_add_relu_mul": (torch.ops.npu.fused_add_relu_mul, lambda x, y, z: torch.relu(x + y) * z, 3),
    "my_gelu": (my_gelu, gelu, 1),
}

ROWS = [
    Row(
        f"{name}, {n} {str(dtype)[6:]}",
        forward(ours, theirs, dtype, *[(n,)] * operands),
        (operands + 1) * n * dtype.itemsize,
    )
    for name, (ours, theirs, operands) in OPERATORS.items()
    for dtype in DTYPES
    for n in SIZES
]
ROWS += [
    Row(f"{name}, {n} {str(dtype)[6:]}, backward", backward(ours, theirs, dtype, *[(n,)] * operands))
    for name, (ours, theirs, operands) in OPERATORS.items()
    for dtype in DTYPES
    for n in (4, 1_000_000)
]
