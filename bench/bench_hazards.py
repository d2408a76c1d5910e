# SPDX-License-Identifier: Apache-2.0
"""What it costs to check a kernel for hazards: the same launch with the checker on and off."""

from collections.abc import Callable
from pathlib import Path

import torch

import op_extension
from bench.pairs import finished
from bench.row import Pair, Row

_TIMES = 4000  # tiles in one launch
_ELEMENTS = 2048  # of a tile


def add_rows(rows: int) -> Callable[[], Pair]:
    """Sums of tiles of 8 KiB, over and over ``rows`` of them."""

    def make() -> Pair:
        source = Path(__file__).parent / "kernels" / "hazards.cpp"
        launch = op_extension.kernel.load(source, entry="add_rows").compile()[1]
        x, y, z = (torch.ones(rows, _ELEMENTS, device="npu") for _ in range(3))
        off = finished(lambda: launch(x, y, z, rows, _TIMES))

        def on() -> None:
            with op_extension.check.hazards():
                off()

        return on, off

    return make


ROWS = [
    Row("hazards", f"8 KiB x {rows}", "float32", "the checker off", add_rows(rows), goal=3.0, times=_TIMES)
    for rows in (8, _TIMES)
]
