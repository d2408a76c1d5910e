# SPDX-License-Identifier: Apache-2.0
"""What a core of this machine can do at most, by plain loops that are timed beside the operators."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

import op_extension
from bench.clock import seconds

_SOURCE = Path(__file__).parent / "kernels" / "limits.cpp"
_ARRAYS = 3
_BYTES_OF_A_STEP = _ARRAYS * 64
_LEAST_BYTES = 32 << 20  # of one launch, so that its cost does not count
_OPERATIONS = 1 << 28  # likewise


@dataclass(frozen=True)
class Limit:
    """A loop that does nothing but what the machine is limited by.

    Attributes:
        run: runs it; returns when it is done.
        amount: bytes or operations of one call.
        unit: "bytes" or "operations".
    """

    run: Callable[[], object]
    amount: int
    unit: str


def loop(entry: str) -> Callable[..., None]:
    """A loop of limits.cpp, compiled; a call returns when it is done."""
    launch = op_extension.kernel.load(_SOURCE, entry=entry, flags=["-ffp-contract=fast"]).compile()[1]

    def run(*arguments: object) -> None:
        launch(*arguments)
        torch.npu.synchronize()

    return run


def stream(bytes_moved: int) -> Limit:
    """Sums of float32 vectors that have as many bytes in all: with stores into the cache or past it, by the quicker."""
    steps = max(1, round(bytes_moved / _BYTES_OF_A_STEP))
    moved = steps * _BYTES_OF_A_STEP
    times = max(1, _LEAST_BYTES // moved)
    vectors = [torch.ones(moved // _ARRAYS // 4, device="npu") for _ in range(_ARRAYS)]

    def run_of(entry: str) -> Callable[[], object]:
        add = loop(entry)
        return lambda: add(*vectors, vectors[0].numel(), times)

    runs = [run_of("add_into_cache"), run_of("add_past_cache")]
    quicker = min(runs, key=lambda run: min(seconds(run, 1) for _ in range(2)))
    return Limit(quicker, moved * times, "bytes")


def multiply_adds() -> Limit:
    """Fused multiply-adds of float32 in registers; one counts as two operations."""
    run, out = loop("multiply_adds"), torch.zeros(1, device="npu")
    return Limit(lambda: run(_OPERATIONS, out), _OPERATIONS, "operations")
