# SPDX-License-Identifier: Apache-2.0
"""Times the rows of all modules bench/bench_*.py.

Each row has two functions for the same work, ours and torch's on CPU. They are timed in turn, in
pairs whose order alternates, so that whatever slows the machine for a while slows both. A figure is
the median over the pairs; the ratio is the median of the ratios within pairs.
"""

import argparse
import importlib
import json
import os
import pkgutil
import platform
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import bench
from bench.row import Row


def all_rows() -> list[Row]:
    """ROWS of each module bench_* in this package, in order of their names."""
    names = sorted(m.name for m in pkgutil.iter_modules(bench.__path__) if m.name.startswith("bench_"))
    return [row for name in names for row in importlib.import_module(f"bench.{name}").ROWS]


def seconds(function: Callable[[], object], calls: int) -> float:
    """Seconds per call over calls in a row."""
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls


def calls_for(function: Callable[[], object], sample: float) -> int:
    """How many calls take about sample seconds."""
    calls = 1
    # The quicker of two: one call that was held up must not make each sample a call or two with cold caches.
    while (taken := min(seconds(function, calls), seconds(function, calls)) * calls) < sample / 4:
        calls = max(calls * 2, min(calls * 100, int(calls * sample / 2 / max(taken, 1e-9))))
    return max(1, round(calls * sample / taken))


def measure(row: Row, pairs: int, sample: float) -> dict[str, Any]:
    """Medians of one row, in seconds."""
    ours, theirs = row.make()
    calls = [calls_for(ours, sample), calls_for(theirs, sample)]
    times: tuple[list[float], list[float]] = ([], [])
    for pair in range(pairs):
        for side in (0, 1) if pair % 2 == 0 else (1, 0):
            times[side].append(seconds((ours, theirs)[side], calls[side]))
    medians = [statistics.median(side) for side in times]
    return {
        "name": row.name,
        "npu_seconds": medians[0],
        "torch_cpu_seconds": medians[1],
        "ratio": statistics.median(a / b for a, b in zip(*times, strict=True)),
        "npu_quartiles": statistics.quantiles(times[0], n=4)[::2],
        "torch_cpu_quartiles": statistics.quantiles(times[1], n=4)[::2],
        "npu_gigabytes_per_second": row.bytes_moved / medians[0] / 1e9 if row.bytes_moved else None,
        "pairs": pairs,
        "calls_per_sample": calls,
    }


def machine() -> dict[str, object]:
    """What the figures were taken on."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return {
        "cpu": cpu.group(1) if cpu else platform.processor(),
        "cores": os.cpu_count(),
        "torch": torch.__version__,
        "torch_threads": torch.get_num_threads(),
        "load_before": os.getloadavg()[0],
    }


def main() -> None:
    """Prints a table and writes the figures as JSON."""
    parser = argparse.ArgumentParser(description="times operators on npu beside torch on CPU")
    parser.add_argument("--output", type=Path, help="file for the figures")
    parser.add_argument("--only", default="", help="regular expression for the names of rows")
    parser.add_argument("--pairs", type=int, default=31)
    parser.add_argument("--threads", type=int, default=1, help="threads of torch on CPU")
    parser.add_argument("--sample", type=float, default=0.02, help="seconds of one sample")
    options = parser.parse_args()
    rows = [row for row in all_rows() if re.search(options.only, row.name)]
    if not rows:
        parser.error(f"--only: expected a pattern that fits a row, got {options.only}")
    torch.set_num_threads(options.threads)
    results: dict[str, object] = {"machine": machine()}
    print(f"{'':44}{'npu':>12}{'torch cpu':>12}{'ratio':>8}")
    figures = []
    for row in rows:
        figure = measure(row, options.pairs, options.sample)
        figures.append(figure)
        npu, cpu = float(figure["npu_seconds"]) * 1e6, float(figure["torch_cpu_seconds"]) * 1e6
        print(f"{row.name:44}{npu:>10.2f}us{cpu:>10.2f}us{figure['ratio']:>8.2f}", flush=True)
    results["rows"] = figures
    if options.output:
        options.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
