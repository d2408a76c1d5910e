# SPDX-License-Identifier: Apache-2.0
"""Rules for single files: a licence line, at most 400 lines, no name that says nothing.

usage: python tools/file_rules.py FILE...
"""

import sys
from pathlib import Path

MAXIMUM_LINES = 400
LICENCE = "SPDX-License-Identifier: Apache-2.0"
FORWARD = "// A path that kernels include."  # the name is not ours
EMPTY_NAMES = {"utils", "util", "common", "misc", "helper", "helpers"}
CODE = {".c", ".cc", ".cpp", ".h", ".hpp", ".py", ".pyi", ".cmake", ".sh", ".toml", ".yaml", ".yml"}
CODE_NAMES = {"CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy", "run"}


def is_code(path: Path) -> bool:
    """Whether the rules hold for path: not for prose, data and py.typed."""
    return path.suffix in CODE or path.name in CODE_NAMES


def broken_rules(path: Path) -> list[str]:
    """One sentence for each rule that the file breaks."""
    if not is_code(path):
        return []
    found = []
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.stem.lower() in EMPTY_NAMES and FORWARD not in lines[1:2]:
        found.append(f"{path}: expected a name that tells what is in the file, got {path.name}")
    if len(lines) > MAXIMUM_LINES:
        found.append(f"{path}: expected at most {MAXIMUM_LINES} lines, got {len(lines)}")
    first = lines[1] if len(lines) > 1 and lines[0].startswith("#!") else "".join(lines[:1])
    if LICENCE not in first:
        found.append(f"{path}: expected '{LICENCE}' in the first line, got '{first[:60]}'")
    return found


def main(names: list[str]) -> int:
    """Prints what is broken in the named files; 1 when anything is."""
    found = [sentence for name in names for sentence in broken_rules(Path(name))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
