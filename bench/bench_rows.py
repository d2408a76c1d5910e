# SPDX-License-Identifier: Apache-2.0
"""Softmax and norms on npu against torch's on CPU, forward and backward."""

import torch

import op_extension  # noqa: F401  (registers the operators)
from bench.pairs import Function, backward, forward
from bench.row import Row

ours = torch.ops.npu
theirs = torch.nn.functional


def softmax(dim: int) -> tuple[Function, Function]:
    """Over one dimension."""
    return lambda x: ours.my_softmax(x, dim), lambda x: torch.softmax(x, dim)


def layer_norm() -> tuple[Function, Function]:
    """Over rows, with weight and bias."""
    return (
        lambda x, weight, bias: ours.my_layer_norm(x, weight.shape, weight, bias),
        lambda x, weight, bias: theirs.layer_norm(x, weight.shape, weight, bias),
    )


def rms_norm() -> tuple[Function, Function]:
    """Over rows, with weight."""
    return (
        lambda x, weight: ours.my_rms_norm(x, weight.shape, weight),
        lambda x, weight: theirs.rms_norm(x, weight.shape, weight),
    )


ROWS = []
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    for rows, width in ((1024, 1024), (4, 1), (65536, 10), (256, 8192)):
        size = f"{rows}x{width} {str(dtype)[6:]}"
        for way, times in ((forward, 2), (backward, 3)):
            moved = times * rows * width * dtype.itemsize
            x, row = (rows, width), (width,)
            prefix = f"{way.__name__} of "
            ROWS.append(Row(f"{prefix}my_softmax, {size}", way(*softmax(-1), dtype, x), moved))
            ROWS.append(Row(f"{prefix}my_softmax dim 0, {size}", way(*softmax(0), dtype, x), moved))
            ROWS.append(Row(f"{prefix}my_layer_norm, {size}", way(*layer_norm(), dtype, x, row, row), moved))
            ROWS.append(Row(f"{prefix}my_rms_norm, {size}", way(*rms_norm(), dtype, x, row), moved))
