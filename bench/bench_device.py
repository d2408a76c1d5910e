# SPDX-License-Identifier: Apache-2.0
"""torch's own operators on npu tensors: what the device costs by itself."""

from collections.abc import Callable

import torch

from bench.pairs import finished, forward, values
from bench.row import Pair, Row


def copy(elements: int) -> Callable[[], Pair]:
    """Host to device, against a clone on CPU."""

    def make() -> Pair:
        x = values((elements,), torch.float32)
        return finished(lambda: x.to("npu")), x.clone

    return make


def view() -> Pair:
    """``x.view``, which moves nothing."""
    x = torch.rand(64, 64)
    x_npu = x.to("npu")
    return lambda: x_npu.view(4096), lambda: x.view(4096)


def row(operator: str, size: str, make: Callable[[], Pair], against: str, bytes_moved: int = 0) -> Row:
    """The same on CPU stands beside it."""
    return Row(operator, size, "float32", against, make, bytes_moved=bytes_moved)


SIZES = {4: "4", 40960: "40960", 1_000_000: "1M", 64_000_000: "64M"}
ROWS = [
    row(
        "torch.add",
        size,
        forward(torch.add, torch.add, torch.float32, (n,), (n,)),
        "the same on cpu",
        12 * n if n > 4 else 0,
    )
    for n, size in SIZES.items()
]
ROWS += [row("x.to('npu')", size, copy(n), "x.clone()", 8 * n if n > 4 else 0) for n, size in SIZES.items()]
ROWS += [
    row("torch.mm", "4x4", forward(torch.mm, torch.mm, torch.float32, (4, 4), (4, 4)), "the same on cpu"),
    row("x.view", "64x64", view, "the same on cpu"),
]
