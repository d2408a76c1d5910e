# SPDX-License-Identifier: Apache-2.0
"""Says which rows of two results of ``bench.run --output`` got slower against torch.

A row got slower when its median ratio grew by more than the tolerance and the quartiles of both runs lie apart.

usage: python -m bench.compare OLD NEW [--tolerance 0.1]
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Ratio(NamedTuple):
    """Our time as a multiple of torch's: the median of the pairs, and their quartiles."""

    median: float
    lower: float
    upper: float

    def text(self) -> str:
        """For people."""
        return f"{self.median:.2f} ({self.lower:.2f} to {self.upper:.2f})"


def ratios(path: Path) -> dict[str, Ratio]:
    """Ratios by name of the row."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        return {row["name"]: Ratio(row["ratio"], *row["ratio_quartiles"]) for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"bench.compare: expected what bench.run --output writes in {path}, got {error!r}") from None


def compare(old: Mapping[str, Ratio], new: Mapping[str, Ratio], tolerance: float) -> list[str]:
    """A line for each row that got slower, the worst first."""
    grown = {
        name: new[name].median / old[name].median
        for name in old.keys() & new.keys()
        if new[name].lower > old[name].upper
    }
    slower = sorted((name for name, factor in grown.items() if factor > 1 + tolerance), key=lambda name: -grown[name])
    return [
        f"{name}: {old[name].text()} became {new[name].text()} of torch's time, {grown[name]:.2f} times"
        for name in slower
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the rows; 1 when there are some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--tolerance", type=float, default=0.1, help="growth of a ratio that does not count")
    options = parser.parse_args(arguments)
    old, new = ratios(options.old), ratios(options.new)
    slower = compare(old, new, options.tolerance)
    for line in slower:
        print(line)
    only = old.keys() ^ new.keys()
    print(f"{len(slower)} of {len(old.keys() & new.keys())} rows got slower, {len(only)} stand in one result only")
    return 1 if slower else 0


if __name__ == "__main__":
    raise SystemExit(main())
