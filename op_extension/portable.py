# SPDX-License-Identifier: Apache-2.0
"""What in a kernel runs here and not on the chip, or only on another chip, and the other way round.

Nothing of this is listed here: each instruction that the kernel calls is tried with its own types on every chip, and
what the instruction says is reported. Names that no chip has are those whose contract in the headers says so.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from op_extension import instruction_calls as called
from op_extension import instruction_probes as probes
from op_extension._load import include_path
from op_extension.errors import CompileError
from op_extension.jit import toolchain
from op_extension.launch_brackets import rewrite

__all__ = ["Finding", "Report", "examine"]

_WHERE = "op_extension.portable.examine: "
_NO_CHIP = "No chip has it"  # in the contract of an instruction
_CONTRACT = re.compile(r"(?P<doc>(?:^ *///.*\n)+)(?:^ *template .*\n(?:^ +.*\n)*?)?^ *[^/\n]*?\b(?P<name>\w+)\(", re.M)


class Finding(NamedTuple):
    """A line of a kernel that does not run everywhere."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        """``path:line: text``."""
        return f"{self.path}:{self.line}: {self.text}"


class Report(NamedTuple):
    """What :func:`examine` has found."""

    findings: list[Finding]
    judged: int  # calls of instructions
    not_judged: dict[str, list[int]]  # lines by name: what these calls do depends on more than types


@cache
def _on_no_chip() -> frozenset[str]:
    """Names of instructions whose contract says that no chip has them."""
    names = set()
    for header in Path(include_path(), "pto").rglob("*.hpp"):
        for match in _CONTRACT.finditer(header.read_text(encoding="utf-8")):
            if _NO_CHIP in " ".join(match["doc"].replace("///", " ").split()):
                names.add(match["name"])
    return frozenset(names)


def _verdict(name: str, trials: dict[probes.Trial, str]) -> str | None:
    """What is to be said of an instruction: "" when nothing is, None when its types do not tell."""
    if name in _on_no_chip():
        return f"{name}: {_NO_CHIP.lower()}; it runs in the emulator only"
    socs = list(dict.fromkeys(trial.soc for trial in trials))
    if len(trials) < len(socs) * len({trial[1:] for trial in trials}):  # some have not been run
        return None
    runs = {trial for trial, sentence in trials.items() if not sentence and not trial.float64}
    good = [soc for soc in socs if any(trial.soc == soc for trial in runs)]
    if good:
        bad = [soc for soc in socs if soc not in good]
        if not bad:
            return ""
        core = next(trial.core for trial in runs)
        said = _said(name, trials[probes.Trial(bad[0], core, False)])
        return said and f"{said} (not on {', '.join(bad)}; on {', '.join(good)})"
    with_float64 = next((trial for trial, sentence in trials.items() if not sentence), None)
    if with_float64 is not None:
        said = _said(name, trials[with_float64._replace(float64=False)])
        return said and f"{said} (on no chip; the emulator runs it where a launch asks for float64)"
    return _refused_by_chips(name, trials)


def _refused_by_chips(name: str, trials: dict[probes.Trial, str]) -> str | None:
    """The same of an instruction that ran nowhere with such arguments: some chips may refuse it by their name."""
    refusals = {trial.soc: sentence for trial, sentence in trials.items() if trial.soc in sentence}
    others = [soc for soc in dict.fromkeys(trial.soc for trial in trials) if soc not in refusals]
    if not refusals or not others:
        return None
    said = _said(name, next(iter(refusals.values())))
    return said and f"{said} (not on {', '.join(refusals)})"


def _said(name: str, sentence: str) -> str:
    """The instruction's own sentence; "" where it is about an address that it was given."""
    match = re.search(rf"\b{name}\w*: .*", sentence)
    return match[0] if match else ""


def _passes(text: str) -> list[str]:
    """Passes of kernel_flags.txt that the text has parts for."""
    passes = ["vector"]
    if re.search(r"__DAV_(C220_|C310_)?CUBE__|npu_core: (cube|mix)", text):
        passes.append("cube")
    if re.search(r"__NPU_ARCH__|__CCE_AICORE__|__DAV_C310", text):
        passes += [f"{name}_a5" for name in passes]
    return passes


def examine(source: str | Path, flags: Sequence[str] = (), std: str = "c++17") -> Report:
    """Looks at the functions of a source, and at those of templates that it instantiates.

    Args:
        source: the file: kernels, also with launches in brackets and host code.
        flags: of the compiler, such as ``-I`` and ``-D``.
        std: ``"c++17"`` or ``"c++20"``.

    Raises:
        FileNotFoundError: there is no such file.
        CompileError: there is no compiler, or what it makes does not run.
    """
    path = Path(source).absolute()
    if not path.is_file():
        raise FileNotFoundError(f"{_WHERE}expected a C++ source, got no file {path}")
    compiler = toolchain.find_compiler()
    text = rewrite(path.read_text(encoding="utf-8", errors="replace"), str(path))
    findings: list[Finding] = []
    found: set[called.Call] = set()
    with tempfile.TemporaryDirectory() as folder:
        for core in _passes(text):
            try:
                found.update(called.calls(compiler, path, text, core, [f"-std=gnu{std[1:]}", *flags], Path(folder)))
            except CompileError as error:
                if error.line is None:
                    raise
                sentence = str(error).splitlines()[0].partition("error: ")[2]
                findings.append(Finding(str(error.path), error.line, f"does not compile here ({core}): {sentence}"))
        return _judge(compiler, sorted(found), findings, Path(folder))


def _judge(compiler: toolchain.Compiler, found: list[called.Call], findings: list[Finding], work: Path) -> Report:
    known = called.functions(list(dict.fromkeys(call.symbol for call in found)))
    instructions = {symbol: function for symbol, function in known.items() if _is_shipped(function)}
    distinct = list(dict.fromkeys(instructions.values()))
    results = dict(zip(distinct, probes.tried(compiler, distinct, work), strict=True))
    judged, not_judged = 0, dict[str, list[int]]()
    for call in found:
        function = instructions.get(call.symbol)
        if function is None:
            continue
        name = function.name.rpartition("::")[2]
        verdict = _verdict(name, results[function])
        if verdict is None:
            not_judged.setdefault(name, []).append(call.line)
            continue
        judged += 1
        if verdict:
            findings.append(Finding(call.path, call.line, verdict))
    return Report(sorted(dict.fromkeys(findings)), judged, not_judged)


@cache
def _shipped_names() -> frozenset[str]:
    """Names of functions that headers of instructions define."""
    texts = (header.read_text(encoding="utf-8") for header in Path(include_path(), "pto").rglob("*.hpp"))
    return frozenset(name for text in texts for name in re.findall(r"^(?:\[\[.*\]\] )?inline .*?\b(\w+)\(", text, re.M))


def _is_shipped(function: called.Function) -> bool:
    return function.name.rpartition("::")[2] in _shipped_names()


def main(source: str, flags: Sequence[str], std: str) -> int:
    """Prints what is found; 1 when anything is, 2 when it cannot be looked for."""
    try:
        report = examine(source, flags, std)
    except (OSError, ValueError, CompileError) as error:
        print(f"op-extension portable: {str(error).removeprefix(_WHERE)}", file=sys.stderr)
        return 2
    for finding in report.findings:
        print(finding)
    print(f"{source}: {report.judged} calls of instructions judged by their types", end="")
    rest = (f"{name} ({', '.join(map(str, sorted(set(lines))))})" for name, lines in sorted(report.not_judged.items()))
    listed = ", ".join(rest)
    print(f"; these depend on more, lines in brackets: {listed}" if listed else "")
    return 1 if report.findings else 0
