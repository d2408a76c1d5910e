# SPDX-License-Identifier: Apache-2.0
"""Instructions on tiles of 8 KiB against plain loops of the same machine and against torch on CPU, one thread.

Ours and the plain loops repeat their work within one launch, so that its cost does not count; torch repeats calls.
"""

from collections.abc import Callable
from pathlib import Path

import torch

import op_extension
from bench.row import Row

Pair = tuple[Callable[[], object], Callable[[], object]]
_KERNELS = Path(__file__).parent / "kernels"
_TIMES = 1000  # of an instruction in one launch
_TILE_BYTES = 8192


def _kernel(source: str, entry: str, core: str = "vector") -> op_extension.kernel.Kernel:
    return op_extension.kernel.load(_KERNELS / source, entry=entry, core=core).compile()


def _repeat(entry: str, *more: object, source: str = "instructions.cpp", core: str = "vector") -> Callable[[], object]:
    launch = _kernel(source, entry, core)[1]

    def run() -> None:
        launch(_TIMES, *more)
        torch.npu.synchronize()

    return run


def _calls(function: Callable[[], object]) -> Callable[[], object]:
    def run() -> None:
        for _ in range(_TIMES):
            function()

    return run


def add_and_plain_loop() -> Pair:
    """The goal is at most 2."""
    return _repeat("add_tiles<float>"), _repeat("plain_add")


def against_torch(
    entry: str, torch_function: Callable[..., object], dtype: torch.dtype, operands: int
) -> Callable[[], Pair]:
    """An instruction and torch's out= form on as many elements."""

    def make() -> Pair:
        elements = _TILE_BYTES // dtype.itemsize
        inputs = [torch.full((elements,), 0.5, dtype=dtype) for _ in range(operands)]
        out = torch.empty(elements, dtype=dtype)
        return _repeat(entry), _calls(lambda: torch_function(*inputs, out=out))

    return make


def row_sums(entry: str, dtype: torch.dtype) -> Callable[[], Pair]:
    """Sums of 32 rows of 256 bytes."""

    def make() -> Pair:
        x = torch.ones(32, 256 // dtype.itemsize, dtype=dtype)
        out = torch.empty(32, dtype=dtype)
        return _repeat(entry), _calls(lambda: torch.sum(x, 1, out=out))

    return make


def product_and_peak() -> Pair:
    """TMATMUL against the fused multiply-adds that a core can do; the goal is at most 1.18 (0.85 of the peak)."""
    x, y = torch.rand(128, 64).half().npu(), torch.rand(64, 256).half().npu()
    out = torch.zeros(1).npu()
    return _repeat("multiply_tiles", x, y, source="products.cpp", core="cube"), _repeat("fma_peak", out)


def gemm(size: int) -> Callable[[], Pair]:
    """A product of float16 matrices with sums in float32 against torch's product of float32 matrices."""

    def make() -> Pair:
        x, y = torch.rand(size, size), torch.rand(size, size)
        x_npu, y_npu, out = x.half().npu(), y.half().npu(), torch.empty(size, size).npu()
        launch = _kernel("products.cpp", "multiply", "cube")[1]

        def ours() -> None:
            launch(x_npu, y_npu, out, size, size, size)
            torch.npu.synchronize()

        return ours, lambda: torch.mm(x, y)

    return make


_MOVED = 3 * _TILE_BYTES * _TIMES
ROWS = [
    Row("TADD float32 8 KiB / plain loop", add_and_plain_loop, _MOVED),
    Row("TADD float32 8 KiB / torch.add out", against_torch("add_tiles<float>", torch.add, torch.float32, 2), _MOVED),
    Row("TADD float16 8 KiB / torch.add out", against_torch("add_tiles<half>", torch.add, torch.float16, 2), _MOVED),
    Row("TEXP float32 8 KiB / torch.exp out", against_torch("exp_tiles<float>", torch.exp, torch.float32, 1)),
    Row("TEXP float16 8 KiB / torch.exp out", against_torch("exp_tiles<half>", torch.exp, torch.float16, 1)),
    Row("TROWSUM float32 32x64 / torch.sum out", row_sums("sum_rows<float>", torch.float32)),
    Row("TROWSUM float16 32x128 / torch.sum out", row_sums("sum_rows<half>", torch.float16)),
    Row("TMATMUL float16 128x64x256 / peak", product_and_peak),
    Row("GEMM float16 1024^3 / torch.mm float32", gemm(1024)),
]
