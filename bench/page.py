# SPDX-License-Identifier: Apache-2.0
"""Writes the figures of a result of ``bench.run --output`` into docs/benchmarks.md, between its two marks.

usage: python -m bench.page RESULT [PAGE]
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
START, END = "<!-- figures: made by bench.page -->\n", "<!-- end of figures -->\n"

Figure = dict[str, Any]


def markdown(results: dict[str, Any]) -> str:
    """The machine, the goals, and a table for each subject."""
    rows = results["rows"]
    parts = [machine(results), goals(rows)]
    for subject in dict.fromkeys(row["subject"] for row in rows):
        of_subject = [row for row in rows if row["subject"] == subject]
        parts += [f"### {subject.capitalize()}", *tables(of_subject)]
    for heading, key in (("Left out:", "left_out"), ("Failed:", "failed")):
        if results[key]:
            parts.append("\n".join([heading, "", *(f"- {row['name']}: {row['why']}" for row in results[key])]))
    return "\n\n".join(parts) + "\n"


def machine(results: dict[str, Any]) -> str:
    """On what and when."""
    facts = results["machine"]
    family = facts["family_and_model"]
    threads = facts["torch_threads"]
    parts = [
        f"Measured on {facts['date']}: {facts['cpu']}" + (" (family {}, model {})".format(*family) if family else ""),
        f"{facts['cores']} cores" + (" of a virtual machine" if facts["virtual"] else ""),
        ", ".join(f"{level} {size}" for level, size in facts["caches"].items()),
        f"kernels for {facts['level']}" if facts["level"] else "",
        f"op_extension {facts['op_extension']}",
        f"torch {facts['torch']} with {threads} thread{'s' if threads > 1 else ''}",
        f"load {facts['load_before']:.1f} before and {facts['load_after']:.1f} after",
        *limits(results["rows"]),
    ]
    return ", ".join(part for part in parts if part) + "."


def limits(rows: Sequence[Figure]) -> list[str]:
    """Least and most of what was measured as limit of some rows."""
    found = []
    for unit, text in (
        ("bytes", "memory moves {:.0f} to {:.0f} GB/s, by size"),
        ("operations", "{:.0f} to {:.0f} GFLOP/s"),
    ):
        figures = [row["limit"]["per_second"] / 1e9 for row in rows if row["limit"] and row["limit"]["unit"] == unit]
        if figures:
            found.append(text.format(min(figures), max(figures)))
    return found


def goals(rows: Sequence[Figure]) -> str:
    """The rows that have one."""
    lines = [
        "### Goals",
        "",
        "| operator | size | dtype | against | at most | ratio | |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if row["goal"] is not None:
            is_met = row["ratio"] <= row["goal"]
            verdict = "met" if is_met else f"missed, {row['ratio'] / row['goal']:.2f} times"
            lines.append(
                f"| `{row['operator']}` | {row['size']} | {row['dtype']} | {row['against']} "
                f"| {row['goal']:.2f} | {spread(row['ratio'], row['ratio_quartiles'])} | {verdict} |"
            )
    return "\n".join(lines)


def tables(rows: Sequence[Figure]) -> list[str]:
    """A table for each run of operators that come in the same sizes, a column for each size."""
    sizes: dict[str, dict[str, None]] = {}  # in their order
    for row in rows:
        sizes.setdefault(row["operator"], {})[row["size"]] = None
    found: list[str] = []
    columns: list[str] = []
    for operator, of_operator in sizes.items():
        lines = lines_of([row for row in rows if row["operator"] == operator], list(of_operator))
        if list(of_operator) == columns:
            found[-1] = "\n".join([found[-1], *lines])
        else:
            columns = list(of_operator)
            head = ["operator", "against", "way", "dtype", *columns]
            found.append("\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines]))
    return found


def lines_of(rows: Sequence[Figure], sizes: Sequence[str]) -> list[str]:
    """The lines of an operator."""
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        cells.setdefault((f"`{row['operator']}`", row["against"], row["way"], row["dtype"]), {})[row["size"]] = cell(
            row
        )
    return [f"| {' | '.join([*key, *(of_key.get(size, '') for size in sizes)])} |" for key, of_key in cells.items()]


def cell(row: Figure) -> str:
    """A ratio with its quartiles, and the share of the limit."""
    text = spread(row["ratio"], row["ratio_quartiles"])
    return f"{text}, {row['limit']['share']:.0%}" if row["limit"] else text


def spread(median: float, quartiles: Sequence[float]) -> str:
    """A median and its quartiles."""
    return "{} ({}-{})".format(*(f"{value:.2f}" if value < 100 else f"{value:.0f}" for value in (median, *quartiles)))


def with_figures(page: str, figures: str) -> str:
    """The text of a page with these figures in the place of its own."""
    head, start, rest = page.partition(START)
    _, end, tail = rest.partition(END)
    if not (start and end):
        raise SystemExit(f"bench.page: expected the lines {START.strip()} and {END.strip()} in the page, got none")
    return f"{head}{START}\n{figures}\n{END}{tail}"


def main(arguments: Sequence[str]) -> int:
    """Writes the page."""
    if len(arguments) not in (1, 2):
        raise SystemExit(
            f"bench.page: expected a result of bench.run and perhaps a page, got {len(arguments)} arguments"
        )
    result, page = Path(arguments[0]), Path(arguments[1]) if len(arguments) > 1 else PAGE
    try:
        figures = markdown(json.loads(result.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"bench.page: expected what bench.run --output writes in {result}, got {error!r}") from None
    page.write_text(with_figures(page.read_text(encoding="utf-8"), figures), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
