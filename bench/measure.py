# SPDX-License-Identifier: Apache-2.0
"""Figures of one row, by pairs in turn."""

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from bench import limits
from bench.clock import calls_for, seconds
from bench.row import Row, RowUnavailable

LEAST_PAIRS = 5


@dataclass(frozen=True)
class Effort:
    """How long a row is timed.

    Attributes:
        pairs: at most.
        sample: seconds of one sample, at least one call.
        budget: seconds after which a row with LEAST_PAIRS or more ends.
    """

    pairs: int
    sample: float
    budget: float


def measure(row: Row, effort: Effort) -> dict[str, Any]:
    """Figures of the row; seconds are those of doing the work once.

    Raises:
        RowUnavailable: the row cannot be timed here.
    """
    check_memory(row)
    functions = list(row.make())
    limit = limit_of(row)
    if limit:
        functions.append(limit.run)
    calls = [calls_for(function, effort.sample) for function in functions]
    ours, theirs, *of_limit = samples(functions, calls, effort)
    figure = {
        "name": row.name,
        "operator": row.operator,
        "size": row.size,
        "dtype": row.dtype,
        "way": row.way,
        "against": row.against,
        "goal": row.goal,
        "npu_seconds": statistics.median(ours) / row.times,
        "npu_quartiles": [value / row.times for value in quartiles(ours)],
        "torch_cpu_seconds": statistics.median(theirs) / row.times,
        "torch_cpu_quartiles": [value / row.times for value in quartiles(theirs)],
        **median_and_quartiles("ratio", [a / b for a, b in zip(ours, theirs, strict=True)]),
        "limit": None,
        "pairs": len(ours),
        "calls_per_sample": calls,
    }
    if limit:
        work = (row.bytes_moved or row.operations) * row.times
        figure["limit"] = {
            "unit": limit.unit,
            "per_second": statistics.median(limit.amount / value for value in of_limit[0]),
            **median_and_quartiles(
                "share", [work / a * b / limit.amount for a, b in zip(ours, of_limit[0], strict=True)]
            ),
        }
    return figure


def check_memory(row: Row) -> None:
    """Raises where the row would not fit."""
    free = free_memory()
    if row.memory > free:
        raise RowUnavailable(f"memory: expected {row.memory / 2**30:.1f} GiB, got {free / 2**30:.1f} GiB that are free")


def free_memory() -> int:
    """Bytes that programs can have without swapping."""
    with open("/proc/meminfo", encoding="utf-8") as lines:
        fields = dict(line.split(":") for line in lines)
    return int(fields["MemAvailable"].split()[0]) * 1024


def limit_of(row: Row) -> limits.Limit | None:
    """What the row is limited by."""
    if row.bytes_moved:
        return limits.stream(row.bytes_moved)
    return limits.multiply_adds() if row.operations else None


def samples(functions: Sequence[Callable[[], object]], calls: Sequence[int], effort: Effort) -> list[list[float]]:
    """Seconds of each function; the functions come in turn, their order alternates."""
    times: list[list[float]] = [[] for _ in functions]
    turn = list(zip(functions, calls, times, strict=True))
    gc.disable()
    try:
        start = time.perf_counter()
        while len(times[0]) < effort.pairs:
            for function, count, taken in turn:
                if count > 1:  # the caches hold what the function before left in them
                    function()
                taken.append(seconds(function, count))
            turn.reverse()
            if len(times[0]) >= LEAST_PAIRS and time.perf_counter() - start > effort.budget:
                break
    finally:
        gc.enable()
        torch.npu.empty_cache()
    return times


def quartiles(values: Sequence[float]) -> list[float]:
    """The lower and the upper one."""
    return statistics.quantiles(values, n=4, method="inclusive")[::2]


def median_and_quartiles(name: str, values: Sequence[float]) -> dict[str, Any]:
    """Two entries of a figure."""
    return {name: statistics.median(values), f"{name}_quartiles": quartiles(values)}
