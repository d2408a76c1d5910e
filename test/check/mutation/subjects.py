# SPDX-License-Identifier: Apache-2.0
"""The kernels of this project that mutants are made of, each with a launch that is small and reaches its buffers twice.

All numbers are whole and small, so that no order of additions changes a sum.
"""

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from test.check.mutation.judging import Subject

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ROOT / "csrc" / "kernel"
OF_TESTS = ROOT / "test" / "kernel" / "kernels"
_MAX_DIMS = 16  # of csrc/kernel/tiling.h


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return ((torch.arange(torch.Size(shape).numel()) * 7) % 13).reshape(shape).to(dtype)


def room(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros(shape, dtype=dtype)


def _words(*values: int | Sequence[int]) -> bytes:
    """A struct of int64_t; sequences are arrays over dimensions."""
    words: list[int] = []
    for value in values:
        words += [value] if isinstance(value, int) else [*value, *[0] * (_MAX_DIMS - len(value))]
    return struct.pack(f"{len(words)}q", *words)


def _elementwise(operands: int, rows: int, cols: int) -> bytes:
    return _words(2, (rows, cols), *[(cols, 1)] * (operands + 1))


def _rows(tensors: int, rows: int, cols: int, reduces_columns: bool = False) -> bytes:
    """Of an operation that reduces the rows of tensors, or their columns."""
    reduced = (1, 0) if reduces_columns else (0, 1)
    return _words(2, 0, (rows, cols), reduced, *[(cols, 1)] * tensors)


def _gemm(m: int, n: int, k: int) -> bytes:
    a, b = (k, 0, 0, 0, 0, 0, 0, 0), (n, 0, 0, 0, 0, 0, 0, 0)
    return _words(m, n, k, 1, 1, *a, *b, n, 0, 0)


def _norm_options(eps: float = 1.0, centered: int = 1) -> bytes:
    return struct.pack("dq", eps, centered)


def _labels(rows: int, classes: int) -> bytes:
    return _words(rows, 1, classes, -100)


def _attention(*gradients: torch.Tensor) -> tuple:
    """Arguments behind the results of a kernel of attention, of which a row takes the keys up to its own number:
    operands, what a gradient takes, room for tiles on their way between cores, the tiling."""
    width = 8
    matrix = (_ATTENTION_ROWS * width, _ATTENTION_ROWS * width, width)
    tiling = struct.pack("6qf4x", 1, 1, _ATTENTION_ROWS, _ATTENTION_ROWS, width, 1, 0.01) + _words(*matrix * 3)
    if gradients:
        tiling += _words(*matrix * 2)
    operands = [numbers(_ATTENTION_ROWS, width) for _ in range(3)]
    return *operands, *gradients, room(_ATTENTION_SLOTS), tiling


def _own(file: str, entry: str, arguments: Callable[[], tuple], blocks: int = 1, **options: Any) -> Subject:
    return Subject(KERNELS / file, entry, arguments, blocks, options)


def _of_tests(file: str, entry: str, arguments: Callable[[], tuple], blocks: int = 1, **options: Any) -> Subject:
    return Subject(OF_TESTS / file, entry, arguments, blocks, options)


def _racy(rows: int) -> tuple:
    return numbers(256 * rows), room(256 * rows), rows


#: Some of each sort, for every run.
SHORT = (
    _of_tests("add.cpp", "add_float", lambda: (numbers(512), numbers(512), room(512), 512)),
    Subject(ROOT / "test/check/racy.cpp", "twice", lambda: _racy(3), 1, {"defines": {"FAULT": "RIGHT"}}),
    Subject(
        Path(__file__).resolve().parent / "handover.cpp",
        "round_trip",
        lambda: (numbers(3, 64), room(3, 64), room(3, 64)),
        3,
    ),
    _own(
        "my_topk_backward.cpp",
        "my_topk_backward_gather_float",
        lambda: (room(3, 5), numbers(3, 100), _places(), _words(3, 100, 5)),
    ),
)

_ATTENTION_ROWS = 130  # more than a block of them, of each kernel
_ATTENTION_SLOTS = 128 * 128 * 3 * 2  # floats of each kernel at most, as csrc/kernel/tiling/attention.h has it
_ROWS, _COLS = 512, 8  # four tiles of an element-wise operation
_LABELS = torch.arange(40) % 3


def _of_elements(
    file: str, entry: str, operands: int, *more: float, rows: int = _ROWS, dtype: torch.dtype = torch.float32
) -> Subject:
    def arguments() -> tuple:
        x = [numbers(rows, _COLS, dtype=dtype) for _ in range(operands)]
        return room(rows, _COLS, dtype=dtype), *x, _elementwise(operands, rows, _COLS), *more

    return _own(file, entry, arguments)


def _of_rows(
    file: str, entry: str, tensors: int, *more: Any, rows: int = 512, cols: int = 8, turned: bool = False
) -> Subject:
    def arguments() -> tuple:
        x = [numbers(rows, cols) for _ in range(tensors - 1)]
        given = [one() if callable(one) else one for one in more]
        weights = [one for one in given if isinstance(one, torch.Tensor)]
        last = [one for one in given if not isinstance(one, torch.Tensor)]
        return room(rows, cols), *x, *weights, _rows(tensors, rows, cols, turned), *last

    return _own(file, entry, arguments)


def _of_package(entry: str, arguments: Callable[[], tuple], blocks: int = 1) -> Subject:
    """Of examples/my_pto_ops, whose tiles have 4096 elements."""
    return Subject(ROOT / "examples/my_pto_ops/my_kernels.hpp", f"my_pto_ops::{entry}", arguments, blocks)


def _topk() -> tuple:
    tiling = _words(3, 100, 5, 1, 1, (3,), (100,))
    return room(3, 5), room(3, 5, dtype=torch.int64), numbers(3, 100), tiling


def _places() -> torch.Tensor:
    return torch.arange(15).reshape(3, 5) * 3


#: The others, by request.
LONG = (
    Subject(
        Path(__file__).resolve().parent / "handover.cpp",
        "handover",
        lambda: (
            numbers(2, 32, 32, dtype=torch.float16),
            room(2, 32, 32, dtype=torch.float16),
            room(2, 32, 32),
            room(2, 32, 32),
        ),
        2,
        {"core": "mix"},
    ),
    Subject(
        Path(__file__).resolve().parent / "handover.cpp",
        "store_twice",
        lambda: (numbers(2, 64), room(2, 64)),
        2,
        {"core": "mix"},
    ),
    _of_tests("ordered_add.cpp", "ordered_add", lambda: (numbers(768), numbers(768), room(768), 1, 1), 3),
    _of_tests("row_sums.cpp", "sum_float", lambda: (room(3), numbers(3, 128), 128), 3),
    _of_tests(
        "persistent_gemm.cpp",
        "persistent_gemm",
        lambda: (
            numbers(256, 256, dtype=torch.float16),
            numbers(256, 256, dtype=torch.float16),
            room(256, 256),
            room(4, dtype=torch.int32),
            256,
            256,
            256,
        ),
        2,
        core="cube",
    ),
    Subject(
        ROOT / "examples/my_op_package/csrc/scaled_add_kernel.cpp",
        "scaled_add",
        lambda: (room(4096), numbers(4096), numbers(4096), 2.0, 4096),
    ),
    _of_elements("my_add.cpp", "my_add_float", 2),
    _of_elements("my_mul.cpp", "my_mul_scalar_float", 1, 3.0),
    _of_elements("fused_add_relu_mul.cpp", "fused_add_relu_mul_float", 3),
    _of_elements("my_gelu.cpp", "my_gelu_float", 1),
    _of_elements("my_relu.cpp", "my_relu_float", 1),
    _of_elements("my_relu.cpp", "my_relu_backward_float", 2),
    _of_elements("my_mul.cpp", "my_mul_float", 2),
    _of_elements("fused_add_relu.cpp", "fused_add_relu_float", 2),
    _of_elements("my_split.cpp", "my_split_float", 1),
    _of_elements("my_gelu_tanh.cpp", "my_gelu_tanh_float", 1),
    _of_elements("my_gelu_tanh.cpp", "my_gelu_tanh_backward_half", 2, rows=1024, dtype=torch.float16),
    _of_elements("my_gelu_tanh.cpp", "my_gelu_tanh_backward_twice_float", 3),
    _of_rows("my_softmax.cpp", "my_softmax_float", 2),
    _of_rows("my_softmax_columns.cpp", "my_softmax_columns_float", 2, rows=8, cols=40, turned=True),
    _of_rows("my_softmax_backward.cpp", "my_softmax_backward_float", 3),
    _of_rows("my_softmax_columns_backward.cpp", "my_softmax_columns_backward_float", 3, rows=8, cols=40, turned=True),
    _of_rows("my_rms_norm.cpp", "my_rms_norm_float", 2, lambda: numbers(8), 1.0),
    _of_rows("my_layer_norm.cpp", "my_layer_norm_float", 2, lambda: numbers(8), lambda: numbers(8), 1.0),
    _of_rows("my_norm_backward.cpp", "my_norm_backward_float", 3, lambda: numbers(8), _norm_options()),
    _own(
        "my_norm_weight_backward.cpp",
        "my_norm_weight_backward_float",
        lambda: (
            room(8),
            numbers(512, 8),
            numbers(512, 8),
            numbers(512),
            torch.ones(512),
            _words(2, 0, (512, 8), (1, 0), (0, 1), (8, 1), (8, 1), (1, 0)),
            _norm_options(),
        ),
    ),
    _own(
        "my_conv.cpp",
        "my_conv_float",
        lambda: (
            room(3, 16, 16),
            numbers(3, 1, 4, 4, 8),
            numbers(16, 72),
            numbers(16),
            _words(3, 8, 4, 4, 16, 72, 16, 1, 3, 3, 1, 1, 1, 1),
        ),
        core="cube",
    ),
    _own(
        "my_norm_statistics.cpp",
        "my_norm_statistics_float",
        lambda: (
            room(512),
            room(512),
            numbers(512, 8),
            _words(2, 0, (512, 8), (0, 1), (1, 0), (8, 1)),
            _norm_options(),
        ),
    ),
    _own(
        "my_gemm.cpp",
        "my_gemm_float",
        lambda: (
            room(256, 128),
            numbers(256, 256),
            numbers(256, 128),
            numbers(128),
            torch.ones(128),
            _gemm(256, 128, 256),
        ),
        core="cube",
    ),
    _own(
        "my_gemm_double.cpp",
        "my_gemm_double",
        lambda: (
            room(3, 64, dtype=torch.float64),
            numbers(3, 4, dtype=torch.float64),
            numbers(4, 64, dtype=torch.float64),
            None,
            None,
            _gemm(3, 64, 4),
        ),
        float64=True,
    ),
    _own(
        "my_flash_attention.cpp",
        "my_flash_attention_float",
        lambda: (room(_ATTENTION_ROWS, 8), room(_ATTENTION_ROWS), *_attention()),
        core="mix",
    ),
    _own(
        "my_flash_attention_backward.cpp",
        "my_flash_attention_backward_float",
        lambda: (
            room(_ATTENTION_ROWS, 8),
            room(_ATTENTION_ROWS),
            *_attention(numbers(_ATTENTION_ROWS, 8), numbers(_ATTENTION_ROWS, 8), numbers(_ATTENTION_ROWS)),
        ),
        core="mix",
    ),
    _own(
        "my_flash_attention_backward_keys.cpp",
        "my_flash_attention_backward_keys_float",
        lambda: (
            room(_ATTENTION_ROWS, 8),
            room(_ATTENTION_ROWS, 8),
            numbers(_ATTENTION_ROWS),
            *_attention(numbers(_ATTENTION_ROWS, 8), numbers(_ATTENTION_ROWS)),
        ),
        core="mix",
    ),
    _own("my_topk.cpp", "my_topk_float", _topk),
    _own(
        "my_topk_backward.cpp",
        "my_topk_backward_float",
        lambda: (room(3, 100), numbers(3, 5), _places(), _words(3, 100, 5)),
    ),
    _own(
        "my_cross_entropy.cpp",
        "my_cross_entropy_float",
        lambda: (room(40), numbers(40, 8), _LABELS, _rows(2, 40, 8), _labels(40, 8), 1),
    ),
    _own(
        "my_cross_entropy_reduce.cpp",
        "my_cross_entropy_reduce_float",
        lambda: (room(1), numbers(9000), torch.arange(9000) % 3, _labels(9000, 8), 1),
    ),
    _own(
        "my_cross_entropy_backward_scale.cpp",
        "my_cross_entropy_backward_scale_float",
        lambda: (room(40), numbers(40), _LABELS, _labels(40, 8), 2, 1),
    ),
    _own(
        "my_cross_entropy_backward.cpp",
        "my_cross_entropy_backward_float",
        lambda: (room(40, 8), numbers(40, 8), numbers(40), _LABELS, _rows(2, 40, 8), _labels(40, 8)),
    ),
    _own("transpose.cpp", "transpose_float", lambda: (room(3, 40, 70), numbers(3, 70, 40), _words(3, 70, 40))),
    _own(
        "transpose.cpp",
        "transpose_to_blocks_float",
        lambda: (room(40, 70, 8), numbers(40, 3, 70), _words(40, 3, 70)),
    ),
    _own(
        "unfold.cpp",
        "unfold_float",
        lambda: (
            room(2, 9, 6, 6),
            numbers(2, 6, 6),
            _words(1, 2, 6, 6, 72, 36, 6, 1, 6, 6, 0, 648, 324, 36, 6, 2, 2, 0, 0, 1, 1, 0, 0, 0),
        ),
    ),
    _own(
        "sum_to.cpp",
        "sum_to_float",
        lambda: (room(8), numbers(600, 8), _words(2, (600, 8), (8, 1), (0, 1), (0, 1))),
    ),
    _of_package("MyAddKernel", lambda: (room(9000), numbers(9000), numbers(9000), 9000)),
    _of_package("MyAddInplaceKernel", lambda: (numbers(9000), numbers(9000), 9000)),
    _of_package("FusedAddReluKernel", lambda: (room(9000), numbers(9000), numbers(9000), 9000)),
    _of_package("MyMulKernel", lambda: (room(9000), numbers(9000), 2.0, 9000)),
    _of_package("MyReluKernel", lambda: (numbers(9000), 9000)),
    _of_package("MySplitKernel", lambda: (room(6, 40), numbers(6, 64), 6, 40, 64), 2),
    _of_package("MyProductKernel", lambda: (room(6, 40), numbers(6, 3), numbers(3, 40), numbers(6), 6, 3, 40), 2),
)

#: One that needs no flags, since the chip's compiler sets them.
AUTO = _of_tests("auto_add.cpp", "auto_add", lambda: (numbers(1024), room(1024), 4), flags=["-D__PTO_AUTO__"])
