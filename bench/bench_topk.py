# SPDX-License-Identifier: Apache-2.0
"""Top-k on npu against torch's on CPU, forward and backward."""

import torch

import op_extension  # noqa: F401  (registers the operators)
from bench.pairs import DTYPES, backward, forward, name_of
from bench.row import Row

SIZES = ((1000, 1024, 16), (64, 32768, 64), (8, 1 << 20, 100), (65536, 10, 3), (4, 1, 1))


def row(way: object, dtype: torch.dtype, rows: int, width: int, k: int) -> Row:
    """The k largest of each row."""
    return Row(
        "my_topk",
        f"{rows}x{width}",
        name_of(dtype),
        f"topk(x, {k})",
        way(lambda x: torch.ops.npu.my_topk(x, k)[0], lambda x: torch.topk(x, k)[0], dtype, (rows, width)),
        way=way.__name__,
        bytes_moved=rows * width * dtype.itemsize if rows > 4 else 0,
        goal=1.0 if way is forward and 4 < rows < 65536 and dtype == torch.float32 else None,
    )


ROWS = [row(way, dtype, *size) for way in (forward, backward) for dtype in DTYPES for size in SIZES]
