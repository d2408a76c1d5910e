# SPDX-License-Identifier: Apache-2.0
"""Single instructions, tried on every chip: what the checks of the instructions themselves say of their types."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import time
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
int main(int count, char** arguments) { return npu::probe::Main(kProbes, count, arguments); }
"""
_RESULT = re.compile(r"^@probe (?P<number>\d+) (?P<core>[\w-]+) (?P<flags>\d+) (?P<sentence>.*)$", re.MULTILINE)
_RESULTS_EACH = 8  # of a probe: 4 ways to run on a core, with and without float64
_SECONDS = 120.0  # for all probes on all chips; what is not tried by then is judged on none
_SECONDS_OF_RUN = 20.0  # until the probe that a run has come to is taken for one that does not end
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
    """Names of the chips that the runtime knows.

    Raises:
        CompileError: the program does not say them.
    """
    done = run([str(program), "chips"])
    names = done.stdout.split()
    if done.returncode or not names:
        got = done.stderr.strip() or f"exit code {done.returncode}"
        raise CompileError(f"op_extension.portable: expected the names of chips from {program.name}, got: {got}")
    return names


def _run(program: Path, soc: str, numbers: list[int], seconds: float) -> list[tuple[int, Trial, str]]:
    """The results of a run: of all probes, or of those before one that has ended it or does not end."""
    environment = {**os.environ, "NPU_SOC": soc, "NPU_CHECK": "limits", "NPU_SPIN_TIMEOUT_MS": "500"}
    try:
        command = [str(program), *map(str, numbers)]
        said = subprocess.run(command, env=environment, capture_output=True, timeout=seconds, check=False).stdout
    except subprocess.TimeoutExpired as expired:
        said = expired.stdout or b""
    return [
        (int(match["number"]), Trial(soc, match["core"], match["flags"] != "0"), match["sentence"])
        for match in _RESULT.finditer(said.decode(errors="replace"))
    ]


def _try_on(program: Path, soc: str, numbers: list[int], end: float) -> dict[int, dict[Trial, str]]:
    """The results of the probes with numbers that a chip has all of; end: of the time, as time.monotonic() has it."""
    found: dict[int, dict[Trial, str]] = {}
    left = list(numbers)
    while left and (seconds := min(_SECONDS_OF_RUN, end - time.monotonic())) > 0:
        for number, trial, sentence in _run(program, soc, left, seconds):
            found.setdefault(number, {})[trial] = sentence
        # The first that is not through has ended the run; without it the others go on.
        left = [number for number in left if len(found.get(number, {})) < _RESULTS_EACH][1:]
    return {number: trials for number, trials in found.items() if len(trials) == _RESULTS_EACH}


def tried(compiler: Compiler, functions: Sequence[Function], work: Path) -> list[dict[Trial, str]]:
    """For each function the sentence of each trial, "" where it ran to its end; empty where a chip lacks some trials.

    Raises:
        CompileError: the probes do not compile, or do not run at all.
    """
    results: list[dict[Trial, str]] = [{} for _ in functions]
    program, built = _build(compiler, dict(enumerate(functions)), work)
    if not built:
        return results
    end, numbers = time.monotonic() + _SECONDS, sorted(built)
    for soc in chips(program):
        of_chip = _try_on(program, soc, numbers, end)
        numbers = [number for number in numbers if number in of_chip]
        for number in numbers:
            results[number] |= of_chip[number]
    # One that is not through on some chip is judged on none.
    return [trials if number in numbers else {} for number, trials in enumerate(results)]
