# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators of ``torch.ops.npu`` against torch's on CPU, forward and backward."""

from collections.abc import Callable

import torch
from torch import Tensor

import op_extension  # noqa: F401  (registers the operators)
from bench.row import Row

Timed = tuple[Callable[[], object], Callable[[], object]]
Function = Callable[..., Tensor]

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
SIZES = (4, 40960, 1_000_000, 64_000_000)


def forward(ours: Function, theirs: Function, operands: int, elements: int, dtype: torch.dtype) -> Callable[[], Timed]:
    """Both on vectors of equal size."""

    def make() -> Timed:
        x = [(torch.rand(elements) - 0.5).to(dtype) for _ in range(operands)]
        x_npu = [tensor.to("npu") for tensor in x]

        def timed() -> None:
            ours(*x_npu)
            torch.npu.synchronize()

        return timed, lambda: theirs(*x)

    return make


def backward(ours: Function, theirs: Function, operands: int, elements: int, dtype: torch.dtype) -> Callable[[], Timed]:
    """Gradients of all operands, the graph made once."""

    def make() -> Timed:
        x = [(torch.rand(elements) - 0.5).to(dtype).requires_grad_() for _ in range(operands)]
        x_npu = [tensor.detach().to("npu").requires_grad_() for tensor in x]
        z, z_npu = theirs(*x), ours(*x_npu)
        gradient, gradient_npu = torch.ones_like(z), torch.ones_like(z_npu)

        def timed() -> None:
            torch.autograd.grad(z_npu, x_npu, gradient_npu, retain_graph=True)
            torch.npu.synchronize()

        return timed, lambda: torch.autograd.grad(z, x, gradient, retain_graph=True)

    return make


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
    Row(f"{name}, {n} {str(dtype)[6:]}", forward(*operator, n, dtype), (operator[2] + 1) * n * dtype.itemsize)
    for name, operator in OPERATORS.items()
    for dtype in DTYPES
    for n in SIZES
]
ROWS += [
    Row(f"{name}, {n} {str(dtype)[6:]}, backward", backward(*operator, n, dtype))
    for name, operator in OPERATORS.items()
    for dtype in DTYPES
    for n in (4, 1_000_000)
]
