# SPDX-License-Identifier: Apache-2.0
"""Instructions on tiles of 8 KiB against plain loops of the same machine and against torch on CPU, one thread.

Ours and the plain loops repeat their work within one launch, so that its cost does not count; torch repeats calls.
"""

from collections.abc import Callable
from pathlib import Path

import torch

import op_extension
from bench.limits import loop
from bench.pairs import finished, name_of
from bench.row import Pair, Row

_KERNELS = Path(__file__).parent / "kernels"
_TIMES = 1000  # of an instruction in one launch
_TILE_BYTES = 8192


def _kernel(source: str, entry: str, core: str = "vector") -> op_extension.kernel.Kernel:
    return op_extension.kernel.load(_KERNELS / source, entry=entry, core=core).compile()


def _repeat(entry: str, *more: object, source: str = "instructions.cpp", core: str = "vector") -> Callable[[], object]:
    launch = _kernel(source, entry, core)[1]

    return finished(lambda: launch(_TIMES, *more))


def _calls(function: Callable[[], object]) -> Callable[[], object]:
    def run() -> None:
        for _ in range(_TIMES):
            function()

    return run


def add_and_plain_loop() -> Pair:
    """Both on the chip."""
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
    """TMATMUL against the fused multiply-adds that a core can do, as many of them."""
    x, y = torch.rand(128, 64).half().npu(), torch.rand(64, 256).half().npu()
    peak, out = loop("multiply_adds"), torch.zeros(1).npu()
    ours = _repeat("multiply_tiles", x, y, source="products.cpp", core="cube")
    return ours, lambda: peak(_PRODUCT * _TIMES, out)


def gemm(size: int) -> Callable[[], Pair]:
    """A product of float16 matrices with sums in float32 against torch's product of float32 matrices."""

    def make() -> Pair:
        x, y = torch.rand(size, size), torch.rand(size, size)
        x_npu, y_npu, out = x.half().npu(), y.half().npu(), torch.empty(size, size).npu()
        launch = _kernel("products.cpp", "multiply", "cube")[1]
        return finished(lambda: launch(x_npu, y_npu, out, size, size, size)), lambda: torch.mm(x, y)

    return make


def row(
    operator: str,
    size: str,
    dtype: torch.dtype,
    against: str,
    make: Callable[[], Pair],
    goal: float | None = None,
    **limit: int,
) -> Row:
    """Of functions that do their work over and over."""
    return Row(operator, size, name_of(dtype), against, make, goal=goal, times=_TIMES, **limit)


_PRODUCT = 2 * 128 * 64 * 256
_MOVED = 3 * _TILE_BYTES
F32, F16 = torch.float32, torch.float16
ROWS = [
    row("TADD", "8 KiB", F32, "a plain loop", add_and_plain_loop, 2.0, bytes_moved=_MOVED),
    row("TADD", "8 KiB", F32, "torch.add(out=)", against_torch("add_tiles<float>", torch.add, F32, 2)),
    row("TADD", "8 KiB", F16, "torch.add(out=)", against_torch("add_tiles<half>", torch.add, F16, 2)),
    row("TEXP", "8 KiB", F32, "torch.exp(out=)", against_torch("exp_tiles<float>", torch.exp, F32, 1)),
    row("TEXP", "8 KiB", F16, "torch.exp(out=)", against_torch("exp_tiles<half>", torch.exp, F16, 1)),
    row("TROWSUM", "32x64", F32, "torch.sum(out=)", row_sums("sum_rows<float>", F32)),
    row("TROWSUM", "32x128", F16, "torch.sum(out=)", row_sums("sum_rows<half>", F16)),
    row("TMATMUL", "128x64x256", F16, "multiply-adds", product_and_peak, 1 / 0.85, operations=_PRODUCT),
    Row("GEMM of tiles", "1024^3", "float16", "torch.mm of float32", gemm(1024), operations=2 * 1024**3),
]
