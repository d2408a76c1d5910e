# SPDX-License-Identifier: Apache-2.0
"""``torch.ops.npu.my_add`` on npu against ``x + y`` on CPU."""

from collections.abc import Callable

import torch

import op_extension  # noqa: F401  (registers the operators)
from bench.row import Row


def my_add(elements: int, dtype: torch.dtype) -> Callable[[], tuple[Callable[[], object], Callable[[], object]]]:
    """Vectors of equal size."""

    def make() -> tuple[Callable[[], object], Callable[[], object]]:
        x, y = torch.rand(elements).to(dtype), torch.rand(elements).to(dtype)
        x_npu, y_npu = x.to("npu"), y.to("npu")

        def ours() -> None:
            torch.ops.npu.my_add(x_npu, y_npu)
            torch.npu.synchronize()

        return ours, lambda: x + y

    return make


ROWS = [
    Row(f"my_add, {n} {str(dtype)[6:]}", my_add(n, dtype), 3 * n * dtype.itemsize)
    for dtype in (torch.float32, torch.float16, torch.bfloat16)
    for n in (4, 40960, 1_000_000, 64_000_000)
]
