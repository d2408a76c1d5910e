# SPDX-License-Identifier: Apache-2.0
"""torch's own operators on npu tensors: what the device costs by itself."""

from collections.abc import Callable

import torch

from bench.row import Row


def add(elements: int) -> Callable[[], tuple[Callable[[], object], Callable[[], object]]]:
    """``x + y`` on float32 vectors."""

    def make() -> tuple[Callable[[], object], Callable[[], object]]:
        x, y = torch.rand(elements), torch.rand(elements)
        x_npu, y_npu = x.to("npu"), y.to("npu")

        def ours() -> None:
            x_npu + y_npu
            torch.npu.synchronize()

        return ours, lambda: x + y

    return make


def copy(elements: int) -> Callable[[], tuple[Callable[[], object], Callable[[], object]]]:
    """Host to device, against a clone on CPU."""

    def make() -> tuple[Callable[[], object], Callable[[], object]]:
        x = torch.rand(elements)

        def ours() -> None:
            x.to("npu")
            torch.npu.synchronize()

        return ours, x.clone

    return make


def product(size: int) -> Callable[[], tuple[Callable[[], object], Callable[[], object]]]:
    """``x @ y`` of square float32 matrices."""

    def make() -> tuple[Callable[[], object], Callable[[], object]]:
        x, y = torch.rand(size, size), torch.rand(size, size)
        x_npu, y_npu = x.to("npu"), y.to("npu")

        def ours() -> None:
            torch.mm(x_npu, y_npu)
            torch.npu.synchronize()

        return ours, lambda: torch.mm(x, y)

    return make


def view() -> tuple[Callable[[], object], Callable[[], object]]:
    """``x.view``, which moves nothing."""
    x = torch.rand(64, 64)
    x_npu = x.to("npu")
    return lambda: x_npu.view(4096), lambda: x.view(4096)


SIZES = (4, 40960, 1_000_000, 64_000_000)
ROWS = [Row(f"x + y, {n} float32", add(n), 12 * n) for n in SIZES]
ROWS += [Row("x @ y, 4x4 float32", product(4)), Row("x.view", view)]
ROWS += [Row(f"x.to('npu'), {n} float32", copy(n), 8 * n) for n in SIZES]
