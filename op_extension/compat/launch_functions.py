# SPDX-License-Identifier: Apache-2.0
"""Functions ``aclrtlaunch_<kernel>``, by which host code launches kernels, and the headers that declare them.

A kernel is a definition ``extern "C" __global__ AICORE void <kernel>(...)``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from op_extension.kernel_cores import SPECIFIERS, as_cpp, named_by
from op_extension.launch_brackets import without_literals

_LIST = r"\((?P<parameters>(?:[^()]|\([^()]*\))*)\)"
_KERNEL = re.compile(
    rf"\b__global__(?P<specifiers>{SPECIFIERS}\bvoid{SPECIFIERS})\b(?P<name>\w+)\s*{_LIST}{SPECIFIERS}\{{"
)
_C = re.compile(r'\bextern\s+"C"')
_C_BLOCK = re.compile(r'\bextern\s+"C"\s*\{')
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\r?\n|.)*", re.MULTILINE)
_TASK = re.compile(r"\bKERNEL_TASK_TYPE(?:_DEFAULT)?\s*\((?P<task>[^()]*)\)")
# The cores that a task type names; None: what the passes hold.
_TASKS: dict[str, tuple[str, ...]] = {
    "KERNEL_TYPE_AIV_ONLY": ("vector",),
    "KERNEL_TYPE_AIC_ONLY": ("cube",),
    "KERNEL_TYPE_MIX_AIV_1_0": ("vector",),
    "KERNEL_TYPE_MIX_AIC_1_0": ("cube",),
    "KERNEL_TYPE_MIX_AIC_1_2": ("vector", "cube"),
}
_NUMBERS = (
    r"(?:(?:un)?signed\s+)?(?:char|short|int|long(?:\s+long)?)(?:\s+(?:un)?signed)?(?:\s+int)?|(?:un)?signed"
    r"|bool|float|(?:long\s+)?double|(?:(?:std)?::)?(?:u?int(?:8|16|32|64)_t|size_t)"
)
_NUMBER = re.compile(rf"(?:const\s+)?(?P<type>{_NUMBERS})(?:\s+const)?(?:\s+\w+)?")


class KernelError(ValueError):
    """A kernel that no launch function can be made for."""


class Kernel(NamedTuple):
    """A kernel, as its source spells it."""

    name: str
    parameters: tuple[str, ...]  # types, as the launch function has them
    cores: tuple[str, ...] | None  # that it says it is for

    @property
    def declaration(self) -> str:
        """Of its launch function."""
        # Names of the source's might be the function's own, or macros.
        rest = "".join(f", {kind} argument{index}" for index, kind in enumerate(self.parameters))
        return f"uint32_t aclrtlaunch_{self.name}(uint32_t block_dim, void* stream{rest})"


def kernels_of(text: str, name: str) -> list[Kernel]:
    """The kernels that a source defines, each once.

    Args:
        text: of the source.
        name: file name for messages.

    Raises:
        KernelError: there is none, or one takes what a launch function cannot hand over.
    """
    code = without_literals(text, keep='"C"')
    blocks = [(match.start(), _end_of_block(code, match.end())) for match in _C_BLOCK.finditer(code)]
    found: dict[str, Kernel] = {}
    for match in _KERNEL.finditer(code):
        begin = max(code.rfind(letter, 0, match.start()) for letter in ";{}") + 1
        before = _DIRECTIVE.sub("", code[begin : match.start()])
        if not _C.search(before) and not any(start < match.start() < end for start, end in blocks):
            continue
        where = f"{name}: kernel {match['name']}"
        parameters = _parameters(match["parameters"], where)
        cores = _cores(code, match.end(), where) or named_by(before + match["specifiers"])
        known = found.get(match["name"])
        if known is not None and known.parameters != parameters:
            raise KernelError(f"{name}: kernel {match['name']}: expected one list of parameters, got two")
        if known is None or known.cores is None:
            found[match["name"]] = Kernel(match["name"], parameters, cores)
    if not found:
        raise KernelError(f'{name}: expected a kernel (extern "C" __global__ AICORE void <name>(...) {{), got none')
    return list(found.values())


def _parameters(text: str, where: str) -> tuple[str, ...]:
    types = []
    for index, given in enumerate(part.strip() for part in text.split(",") if part.strip() not in ("", "void")):
        words = re.sub(r"\b__(?:gm|in|out|inout|restrict)__\b|\b__restrict\b", " ", given.partition("=")[0])
        is_address = re.search(r"\*|\bGM_ADDR\b|\[", words) and not re.search(r"[()<]", words)
        number = _NUMBER.fullmatch(" ".join(words.split()))
        if not is_address and number is None:
            raise KernelError(
                f"{where}: expected an address or a number as parameter {index}, got {' '.join(given.split())}"
            )
        types.append("void*" if number is None else number["type"])
    return tuple(types)


def _end_of_block(code: str, begin: int) -> int:
    """Where the block ends whose contents start at begin."""
    depth, end = 1, begin
    while depth and end < len(code):
        depth += {"{": 1, "}": -1}.get(code[end], 0)
        end += 1
    return end


def _cores(code: str, begin: int, where: str) -> tuple[str, ...] | None:
    """What KERNEL_TASK_TYPE_DEFAULT in the kernel whose body starts at begin names."""
    match = _TASK.search(code, begin, _end_of_block(code, begin))
    if match is None:
        return None
    task = " ".join(match["task"].split())
    if "," in task:
        raise KernelError(f"{where}: expected KERNEL_TASK_TYPE_DEFAULT, got a task type for one tiling key ({task})")
    if task not in _TASKS:
        raise KernelError(f"{where}: expected a task type of {', '.join(_TASKS)}, got {task}")
    return _TASKS[task]


Passes = dict[Kernel, tuple[str, ...]]


def passes(kernels: Sequence[Kernel], preprocessed: Mapping[str, str], name: str) -> Passes:
    """The cores whose pass defines each kernel.

    Args:
        kernels: of the source.
        preprocessed: what the preprocessor leaves of the source for each core.
        name: file name for messages.

    Raises:
        KernelError: no pass defines a kernel, or one that it says it is for does not.
    """
    result: Passes = {}
    for kernel in kernels:
        definition = re.compile(rf"\bvoid\b[^;{{}}()]*\b{kernel.name}\s*{_LIST}[^;{{}}()]*\{{")
        cores = tuple(core for core, text in preprocessed.items() if definition.search(text))
        wanted = kernel.cores or cores
        if not cores or not set(wanted) <= set(cores):
            expected = " and the ".join(wanted or preprocessed)
            got = f"one for the {cores[0]} core" if cores else "none"
            raise KernelError(f"{name}: kernel {kernel.name}: expected a definition for the {expected} core, got {got}")
        result[kernel] = wanted
    return result


def header(kernel: Kernel) -> str:
    """The text of ``aclrtlaunch_<kernel>.h``."""
    return (
        f"// Launches the kernel {kernel.name}. Made from its source.\n#pragma once\n\n#include <cstddef>\n"
        "#include <cstdint>\n\n#ifndef ACLRT_LAUNCH_KERNEL\n"
        "#define ACLRT_LAUNCH_KERNEL(kernel) aclrtlaunch_##kernel\n#endif\n\n"
        "/// Enqueues block_dim blocks of the kernel on stream (an aclrtStream; nullptr: the default one).\n"
        "/// Addresses must stay valid until they have run. Returns 0, or an error whose sentence\n"
        "/// aclGetRecentErrMsg gives.\n"
        f'extern "C" {kernel.declaration};\n'
    )


def write_headers(folder: Path, sources: Sequence[Path]) -> None:
    """Writes the headers of all kernels of sources into folder; one that has not changed stays as it is.

    Raises:
        KernelError: as of :func:`kernels_of`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for source in sources:
        for kernel in kernels_of(source.read_text(encoding="utf-8", errors="replace"), str(source)):
            path, text = folder / f"aclrtlaunch_{kernel.name}.h", header(kernel)
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                # Compilers, and another configuration, may be reading it.
                made = path.with_suffix(f".{os.getpid()}")
                made.write_text(text, encoding="utf-8")
                made.replace(path)


def exports(found: Passes, core: str) -> str:
    """What comes behind a source in its pass for core: the entries of its kernels, by which they are launched."""
    lines = ['#include "npu/entry.hpp"', 'extern "C" {']
    for kernel in (kernel for kernel, cores in found.items() if core in cores):
        entry = f"const npuKernelPass {kernel.name}__{core}_pass"
        lines += [
            f'extern __attribute__((visibility("default"))) {entry};',
            f"{entry} = npu::Entry<&{kernel.name}>::kPass;",
        ]
    return "\n".join([*lines, "}", ""])


def source(found: Passes) -> str:
    """The launch functions of the kernels of a source."""
    lines = ['#include "npu/launch.hpp"', 'extern "C" {']
    for kernel, cores in found.items():
        addresses = {core: f"&{kernel.name}__{core}_pass" for core in cores}
        lines += [f"extern const npuKernelPass {kernel.name}__{core}_pass;" for core in cores]
        vector, cube = (addresses.get(core, "nullptr") for core in ("vector", "cube"))
        names = "".join(f", argument{index}" for index in range(len(kernel.parameters)))
        lines += [
            f"{kernel.declaration} {{",
            "  static const npuKernel kKernel =",
            f'      npu::OfPasses("{kernel.name}", {vector}, {cube}, {as_cpp(kernel.cores)});',
            f"  return npu::LaunchWithArguments(kKernel, block_dim, stream{names});",
            "}",
        ]
    return "\n".join([*lines, "}", ""])
