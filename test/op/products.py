# SPDX-License-Identifier: Apache-2.0
"""What the tests of operators that multiply and sum share: operands, and how far a sum may be off."""

from collections.abc import Iterator

import torch
from torch.testing import assert_close

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def normal(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 1) -> torch.Tensor:
    """Normal values on CPU."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def assert_sums_close(
    actual: torch.Tensor, expected: torch.Tensor, magnitude: torch.Tensor, terms: int, what: str = ""
) -> None:
    """Compares sums of ``terms`` products with those in float64, ``expected``.

    Each step rounds the sum to float32 (float64 for float64), by half an ulp of at most ``magnitude``, the sum of the
    absolute products; the result is then rounded once to its dtype: by half an ulp of itself, or of the least normal.
    """
    assert actual.shape == expected.shape, f"{what}: expected {expected.shape}, got {actual.shape}"
    half_ulp = 2.0**-53 if actual.dtype == torch.float64 else 2.0**-24
    info = torch.finfo(actual.dtype)
    bound = (terms + 1) * half_ulp * magnitude + (info.eps / 2) * expected.abs().clamp(min=info.smallest_normal)
    off = (actual.double() - expected).abs()
    assert bool((off <= bound).all()), f"{what}: off by {off.max()} where at most {bound.flatten()[off.argmax()]} is"


def assert_same_bits_however_run(compute, dtype: torch.dtype) -> None:
    """``compute()`` gives the same bits with 1, 2 and 8 threads and when determinism is asked for."""
    threads = torch.get_num_threads()
    results = []
    try:
        for count, deterministic in ((1, False), (2, False), (8, False), (2, True)):
            torch.set_num_threads(count)
            torch.use_deterministic_algorithms(deterministic)
            results.append([x.cpu().view(torch.int16 if dtype.itemsize == 2 else torch.int32) for x in compute()])
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(False)
    for result in results[1:]:
        assert_close(result, results[0], rtol=0, atol=0)


def peak_beside(compute) -> tuple[int, int]:
    """Most bytes of npu memory that ``compute()`` takes at a time, and the bytes of its result."""
    torch.npu.synchronize()
    torch.npu.empty_cache()  # a block of a freed tensor may be larger than what is asked for
    torch.npu.reset_peak_memory_stats()
    before = torch.npu.memory_allocated()
    result = compute()
    torch.npu.synchronize()
    return torch.npu.max_memory_allocated() - before, result.nbytes


def matrix_views(x: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    """A matrix with equal values but other strides and offsets."""
    rows, cols = x.shape
    step, wide, offset = x.new_zeros(2 * rows, 2 * cols), x.new_zeros(rows, cols + 5), x.new_zeros(x.numel() + 3)
    step[::2, ::2], wide[:, 2:-3], offset[3:] = x, x, x.reshape(-1)
    yield "contiguous", x
    yield "transposed", x.t().contiguous().t()
    yield "step sliced", step[::2, ::2]
    yield "part of rows", wide[:, 2:-3]
    yield "offset", offset[3:].view(x.shape)
