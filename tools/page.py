# SPDX-License-Identifier: Apache-2.0
"""Pages of docs/ that a program writes."""

from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


def write_or_check(path: Path, text: Callable[[], str], command: str, arguments: list[str]) -> int:
    """Writes the page; with --check only compares, and returns 1 when it is not what ``command`` writes."""
    if "--check" not in arguments:
        path.write_text(text(), encoding="utf-8")
        return 0
    is_fresh = path.is_file() and path.read_text(encoding="utf-8") == text()
    if not is_fresh:
        print(f"{path.name}: expected what `{command}` writes, got another text")
    return 0 if is_fresh else 1
