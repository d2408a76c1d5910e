# SPDX-License-Identifier: Apache-2.0
"""``my_flash_attention`` on npu against torch's attention on CPU, forward and backward."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

import op_extension  # noqa: F401  (registers the operators)
from bench.pairs import DTYPES, backward, forward, name_of
from bench.row import Row

SIZES = ((1, 8, 1024, 64), (4, 8, 128, 64), (1, 2, 16, 32))
#: Of the forward direction, for 1x8x1024x64.
GOALS = {torch.float16: 1.0, torch.float32: 1 / 0.3}


def row(way: object, dtype: torch.dtype, causal: bool, *size: int) -> Row:
    """Query, key and value of one size."""
    batch, heads, rows, width = size

    def ours(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return torch.ops.npu.my_flash_attention(q, k, v, causal)[0]

    def theirs(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return scaled_dot_product_attention(q, k, v, is_causal=causal)

    products = 2 if way is forward else 5
    return Row(
        "my_flash_attention",
        "x".join(map(str, size)) + (" causal" if causal else ""),
        name_of(dtype),
        "scaled_dot_product_attention",
        way(ours, theirs, dtype, size, size, size),
        way=way.__name__,
        operations=products * 2 * batch * heads * rows * rows * width // (2 if causal else 1),
        goal=GOALS.get(dtype) if way is forward and rows == 1024 and not causal else None,
    )


ROWS = [row(way, dtype, False, *size) for way in (forward, backward) for dtype in DTYPES for size in SIZES]
ROWS += [row(way, dtype, True, *SIZES[0]) for way in (forward, backward) for dtype in DTYPES]
