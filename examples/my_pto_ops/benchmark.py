# SPDX-License-Identifier: Apache-2.0
"""Times my_add and fused_add_relu beside what PyTorch does on the same device: python benchmark.py."""

import time
from collections.abc import Callable

import torch

import my_pto_ops  # noqa: F401  (loads torch.ops.npu.my_add and its neighbours)


def benchmark(func: Callable[..., object], *args: object, warmup: int = 10, iterations: int = 100) -> float:
    """Milliseconds of one call, of iterations in a row."""
    for _ in range(warmup):
        func(*args)
    torch.npu.synchronize()
    start = time.perf_counter()
    for _ in range(iterations):
        func(*args)
    torch.npu.synchronize()
    return (time.perf_counter() - start) / iterations * 1000


def main() -> None:
    """Prints a line for each pair."""
    x = torch.randn(1024, 1024).npu()
    y = torch.randn(1024, 1024).npu()
    pairs = (
        ("add", torch.ops.npu.my_add, torch.add),
        ("add and relu", torch.ops.npu.fused_add_relu, lambda a, b: torch.relu(a + b)),
    )
    for name, custom, builtin in pairs:
        time_custom, time_builtin = benchmark(custom, x, y), benchmark(builtin, x, y)
        print(f"{name}: custom op {time_custom:.3f} ms, built-in {time_builtin:.3f} ms", end="")
        print(f", speedup {time_builtin / time_custom:.2f}x")


if __name__ == "__main__":
    main()
