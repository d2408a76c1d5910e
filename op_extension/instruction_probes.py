# SPDX-License-Identifier: Apache-2.0
"""Single instructions, tried on every chip: what the checks of the instructions themselves say of their types."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from op_extension.building import include_paths
from op_extension.errors import CompileError
from op_extension.instruction_calls import Function
from op_extension.jit.toolchain import Compiler, kernel_flags, run, runtime_library

_HEAD = """\
#include <pto/pto-inst.hpp>
#include "kernel_operator.h"
#include "npu/probe.hpp"
using namespace pto;
const std::pair<int, npu::probe::Body> kProbes[] = {
"""
_TAIL = """\
};
int main(int count, char**) { return count > 1 ? npu::probe::PrintChips() : npu::probe::Main(kProbes); }
"""
_RESULT = re.compile(r"^@probe (?P<number>\d+) (?P<core>[\w-]+) (?P<flags>\d+) (?P<sentence>.*)$", re.MULTILINE)
_SECONDS = 120
_TRIES = 4  # each leaves out the probes that the compiler has refused


class Trial(NamedTuple):
    """How an instruction was run."""

    soc: str
    core: str
    float64: bool


def _entry(number: int, function: Function) -> str:
    template = f"<{function.template}>" if function.template else ""
    types = ", ".join(function.parameters)
    call = f"::{function.name}{template}(static_cast<decltype(a)>(a)...)"
    body = f"npu::probe::With<{types}>([](auto&&... a) {{ {call}; }});"
    return f'#line {number + 1} "<probe>"\n  {{{number}, [] {{ {body} }}}},\n'


def _build(compiler: Compiler, numbered: dict[int, Function], work: Path) -> tuple[Path, set[int]]:
    """The program, and the numbers that are in it."""
    unit, program = work / "probes.cpp", work / "probes"
    library = runtime_library()
    flags = [
        *kernel_flags("vector"),
        "-std=gnu++17",
        "-O0",
        "-g0",
        "-w",
        *(f"-I{folder}" for folder in include_paths()),
    ]
    command = [*compiler.command, *flags, str(unit), str(library), f"-Wl,-rpath,{library.parent}", "-o", str(program)]
    left = dict(numbered)
    for _ in range(_TRIES):
        if not left:
            break
        unit.write_text(_HEAD + "".join(_entry(number, left[number]) for number in left) + _TAIL, encoding="utf-8")
        done = run(command)
        if done.returncode == 0:
            return program, set(left)
        refused = {int(line) - 1 for line in re.findall(r"<probe>:(\d+)", done.stderr)} & set(left)
        if not refused:
            raise CompileError(
                f"{unit.name}: expected probes that compile", None, None, done.stderr, shlex.join(command)
            )
        left = {number: function for number, function in left.items() if number not in refused}
    return program, set()


def chips(program: Path) -> list[str]:
    """Names of the chips that the runtime knows."""
    return subprocess.run([program, "chips"], check=True, capture_output=True, text=True).stdout.split()


def _try_on(program: Path, soc: str) -> list[tuple[int, Trial, str]]:
    environment = {**os.environ, "NPU_SOC": soc, "NPU_CHECK": "limits", "NPU_SPIN_TIMEOUT_MS": "500"}
    try:
        done = subprocess.run(
            [program], env=environment, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return []  # judged on no chip
    return [
        (int(match["number"]), Trial(soc, match["core"], match["flags"] != "0"), match["sentence"])
        for match in _RESULT.finditer(done.stdout)
    ]


def tried(compiler: Compiler, functions: Sequence[Function], work: Path) -> list[dict[Trial, str]]:
    """For each function the sentence of each trial, "" where it ran to its end; empty where none was possible.

    Raises:
        CompileError: the probes do not compile.
    """
    results: list[dict[Trial, str]] = [{} for _ in functions]
    program, built = _build(compiler, dict(enumerate(functions)), work)
    if not built:
        return results
    for soc in chips(program):
        for number, trial, sentence in _try_on(program, soc):
            results[number][trial] = sentence
    return results
