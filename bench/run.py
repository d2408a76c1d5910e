# SPDX-License-Identifier: Apache-2.0
"""Times the rows of all modules bench/bench_*.py; docs/benchmarks.md says how, and how to read the table."""

import argparse
import importlib
import json
import os
import pkgutil
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

import bench
from bench.machine import machine
from bench.measure import Effort, measure
from bench.row import Row, RowUnavailable
from op_extension.errors import CompileError

_BUSY = 0.5  # programs that run beside, on average
HEAD = (
    f"{'operator':<20}{'size':<18}{'dtype':<10}{'way':<18}{'npu':>9}{'torch cpu':>11}{'ratio':>8}"
    f"  {'quartiles':<16}{'limit':>6}{'goal':>6}  against"
)


def all_rows() -> dict[str, list[Row]]:
    """ROWS of each module bench_* in this package, by its subject."""
    names = sorted(m.name for m in pkgutil.iter_modules(bench.__path__) if m.name.startswith("bench_"))
    return {name.removeprefix("bench_"): importlib.import_module(f"bench.{name}").ROWS for name in names}


def line(figure: dict[str, Any]) -> str:
    """A line of the table."""
    npu, cpu = (duration(figure[side]) for side in ("npu_seconds", "torch_cpu_seconds"))
    spread = "{:.2f} to {:.2f}".format(*figure["ratio_quartiles"])
    share = f"{figure['limit']['share']:.0%}" if figure["limit"] else ""
    goal = "" if figure["goal"] is None else f"{figure['goal']:.2f}"
    return (
        f"{figure['operator']:<20}{figure['size']:<18}{figure['dtype']:<10}{figure['way']:<18}"
        f"{npu:>9}{cpu:>11}{figure['ratio']:>8.2f}  {spread:<16}{share:>6}{goal:>6}  {figure['against']}"
    )


def duration(seconds: float) -> str:
    """In the unit that fits."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.2f} {unit}"
    return f"{seconds * 1e6:.2f} us"


def run(rows: dict[str, list[Row]], effort: Effort) -> dict[str, Any]:
    """Figures of the rows, printed one by one; Ctrl-C ends with those that are there."""
    results: dict[str, Any] = {"machine": machine(), "rows": [], "left_out": [], "failed": []}
    load = results["machine"]["load_before"]
    if load > _BUSY:
        print(f"load: expected at most {_BUSY}, got {load:.1f}: other programs disturb the figures", file=sys.stderr)
    print(HEAD)
    try:
        for subject, rows_of_subject in rows.items():
            for row in rows_of_subject:
                try:
                    figure = {"subject": subject, **measure(row, effort)}
                except (RowUnavailable, CompileError) as error:
                    results["left_out"].append({"name": row.name, "why": str(error)})
                    print(f"{row.name}: left out: {error}", flush=True)
                except Exception as error:  # the figures of the others must not be lost
                    results["failed"].append({"name": row.name, "why": f"{type(error).__name__}: {error}"})
                    print(f"{row.name}: failed: {type(error).__name__}: {error}", flush=True)
                else:
                    results["rows"].append(figure)
                    print(line(figure), flush=True)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    results["machine"]["load_after"] = os.getloadavg()[0]
    return results


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description="times operators on npu beside torch on CPU")
    parser.add_argument("--output", type=Path, help="file for the figures")
    parser.add_argument("--only", default="", help="regular expression for the names of rows, see --list")
    parser.add_argument("--list", action="store_true", help="prints the names of the rows and times nothing")
    parser.add_argument("--pairs", type=int, default=21, help="at most, for each row (default: %(default)s)")
    parser.add_argument("--sample", type=float, default=0.01, help="seconds of one sample (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=3, help="seconds for a row (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="of torch on CPU (default: %(default)s)")
    options = parser.parse_args(arguments)
    for name, least in (("pairs", 2), ("threads", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name}: expected {least} or more, got {getattr(options, name)}")
    if not options.sample > 0:
        parser.error(f"--sample: expected a positive number of seconds, got {options.sample}")
    try:
        options.only = re.compile(options.only)
    except re.error as error:
        parser.error(f"--only: expected a regular expression, got {options.only} ({error})")
    options.rows = {
        subject: [row for row in rows if options.only.search(row.name)] for subject, rows in all_rows().items()
    }
    if not any(options.rows.values()):
        parser.error(f"--only: expected a pattern that fits a row, got {options.only.pattern}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table and writes the figures as JSON; 1 when a row failed."""
    options = options_of(arguments)
    if options.list:
        print("\n".join(row.name for rows in options.rows.values() for row in rows))
        return 0
    torch.set_num_threads(options.threads)
    start = time.monotonic()
    results = run(options.rows, Effort(options.pairs, options.sample, options.budget))
    print(f"{len(results['rows'])} rows in {time.monotonic() - start:.0f} seconds")
    if options.output:
        options.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
