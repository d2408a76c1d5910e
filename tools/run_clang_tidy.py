# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the named files that the build compiles.

usage: python tools/run_clang_tidy.py BUILD_FOLDER FILE...
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What g++ knows and clang does not.
GCC_ONLY = ("-fno-crossjumping", "-fno-tree-tail-merge", "-fno-ipa-icf")


def check(folder: str, name: str) -> str:
    """What clang-tidy reports for one file, empty when nothing."""
    extra = [
        "--extra-arg=-Wno-unknown-warning-option",
        "--extra-arg=-Wno-ignored-optimization-argument",
    ]
    command = ["clang-tidy", "--quiet", "-p", folder, *extra, *removed(), name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def removed() -> list[str]:
    """Arguments that take the g++-only flags away."""
    return [f"--removed-arg={flag}" for flag in GCC_ONLY]


def main() -> int:
    """Checks the files side by side; 1 when anything was found."""
    folder, names = sys.argv[1], sys.argv[2:]
    database = Path(folder, "compile_commands.json")
    if not database.exists():
        print(f"clang-tidy: expected {database}, got no such file; run: make lint")
        return 1
    compiled = {Path(entry["file"]).resolve() for entry in json.loads(database.read_text())}
    names = [name for name in names if Path(name).resolve() in compiled]
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        reports = [report for report in pool.map(lambda name: check(folder, name), names) if report]
    print("\n".join(reports), end="\n" if reports else "")
    print(f"clang-tidy: {len(names)} files checked, {len(reports)} with findings")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
