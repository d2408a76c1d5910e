# SPDX-License-Identifier: Apache-2.0
"""An operator by torch.library alone, torch.ops.mylib.my_add, made of one of my_pto_ops."""

import torch
from torch.library import custom_op

import my_pto_ops  # noqa: F401  (loads torch.ops.npu.my_add and its neighbours)


@custom_op("mylib::my_add", mutates_args=())
def my_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The sum of two tensors of one size, on npu."""
    return torch.ops.npu.my_add(x, y)


@my_add.register_fake
def _(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    torch._check(x.shape == y.shape, lambda: f"mylib::my_add: expected y of size {x.shape}, got {y.shape}")
    return torch.empty_like(x)


def main() -> None:
    """Calls it, as it is and within a graph."""
    x, y = torch.randn(10, 10).npu(), torch.randn(10, 10).npu()
    compiled = torch.compile(lambda a, b: torch.ops.mylib.my_add(a, b) + 1, backend="aot_eager", fullgraph=True)
    print(torch.equal(torch.ops.mylib.my_add(x, y), x + y), torch.equal(compiled(x, y), x + y + 1))


if __name__ == "__main__":
    main()
