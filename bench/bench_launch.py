# SPDX-License-Identifier: Apache-2.0
"""Launches of an empty kernel of 20 blocks from C++ against the stated limit of 0.3 us each."""

import ctypes
import subprocess
import tempfile
import time
from pathlib import Path

import op_extension  # noqa: F401  (loads the runtime)
from bench.row import Pair, Row
from op_extension._load import include_path
from op_extension.jit import toolchain

_TIMES = 1000
_LIMIT = 0.3e-6  # seconds


def empty_launches() -> Pair:
    """Launch, and wait for it."""
    runtime = toolchain.runtime_library()
    source = Path(__file__).parent / "kernels" / "launches.cpp"
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "launches.so")
        command = [*toolchain.find_compiler().command, "-std=c++17", "-O2", "-fPIC", "-shared", f"-I{include_path()}"]
        command.append(f"-I{Path(include_path()).parent / 'runtime'}")  # where the headers are those of a source tree
        subprocess.run([*command, str(source), str(runtime), "-o", str(library)], check=True)
        launch = ctypes.CDLL(str(library)).launch_empty

    def ours() -> None:
        error = launch(20, _TIMES)
        if error:
            raise RuntimeError(f"launch_empty: expected no error, got {error}")

    def limit() -> None:
        end = time.perf_counter() + _TIMES * _LIMIT
        while time.perf_counter() < end:
            pass

    return ours, limit


ROWS = [Row("launch", "20 blocks", "", "0.3 us", empty_launches, goal=1.0, times=_TIMES)]
