# SPDX-License-Identifier: Apache-2.0
"""Says which rows of two results of ``bench.run --output`` got slower against torch.

usage: python -m bench.compare OLD NEW [--tolerance 0.1]
"""

import argparse
import json
from pathlib import Path


def ratios(path: Path) -> dict[str, float]:
    """Ratio of our time to torch's, by name of the row."""
    try:
        return {row["name"]: row["ratio"] for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"bench.compare: expected what bench.run --output writes in {path}, got {error!r}") from None


def compare(old: dict[str, float], new: dict[str, float], tolerance: float) -> list[str]:
    """A line for each row whose ratio grew by more than ``tolerance``, the worst first."""
    grown = {name: new[name] / old[name] for name in old.keys() & new.keys()}
    slower = sorted((name for name, factor in grown.items() if factor > 1 + tolerance), key=lambda name: -grown[name])
    return [
        f"{name}: {old[name]:.2f} became {new[name]:.2f} of torch's time, {grown[name]:.2f} times" for name in slower
    ]


def main() -> int:
    """Prints the rows; 1 when there are some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--tolerance", type=float, default=0.1, help="growth of a ratio that is noise")
    options = parser.parse_args()
    old, new = ratios(options.old), ratios(options.new)
    slower = compare(old, new, options.tolerance)
    for line in slower:
        print(line)
    only = sorted(old.keys() ^ new.keys())
    print(f"{len(slower)} of {len(old.keys() & new.keys())} rows got slower, {len(only)} stand in one result only")
    return 1 if slower else 0


if __name__ == "__main__":
    raise SystemExit(main())
