# SPDX-License-Identifier: Apache-2.0
"""The C++ compiler, and the flags that kernels are compiled with."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from op_extension._load import include_path
from op_extension.compat.shipped import library_folder
from op_extension.errors import CompileError

STANDARDS = ("c++17", "c++20")
# Line tables of functions that the linker leaves out begin at address 0: code stands above all that they cover, so that
# no line of theirs is taken for one of the kernel.
LINK_FLAGS = ("--gc-sections", "-z", "defs", "--section-start=.text=0x1000000")
_SECONDS = 600.0  # until a compiler is taken for one that does not end; a kernel takes some seconds
# Kernels see of each other what they export, and nothing else.
_LIBRARY_FLAGS = ("-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-fno-gnu-unique", "-w")


class Compiler(NamedTuple):
    """A command that compiles C++, and what tells it from others."""

    command: tuple[str, ...]
    identity: str


def _identity(program: str) -> str:
    path = os.path.realpath(program)
    state = os.stat(path)
    return f"{path} {state.st_size} {state.st_mtime_ns}"


def is_driver(words: Sequence[str]) -> bool:
    """Whether a command is the driver of this package, which asks for a compiler itself."""
    return any(Path(word).name == "bisheng" for word in words)


def find_compiler() -> Compiler:
    """The command in CXX, or g++; also where CXX is the driver of this package.

    Raises:
        CompileError: there is none.
    """
    given = os.environ.get("CXX", "")
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise CompileError(f"CXX: expected the command of a C++ compiler, got {given!r} ({error})") from None
    if not words or is_driver(words):
        words = ["g++"]
    # "ccache g++ -isystem folder": what stands behind the first option may belong to it.
    programs = list(itertools.takewhile(lambda word: not word.startswith("-"), words)) or words[:1]
    paths = []
    for program in programs:
        path = shutil.which(program)
        if path is None:
            raise CompileError(
                "op_extension.kernel: expected a C++ compiler (the command in the environment variable CXX, else g++), "
                f"got no program {program}; install one, for instance with: apt-get install g++"
            )
        paths.append(path)
    return Compiler(tuple(words), "; ".join([shlex.join(words), *map(_identity, paths)]))


def runtime_library() -> Path:
    """Path of the library that kernels are linked to."""
    # Both packages are installed together; importing the other one would bring torch.
    return library_folder() / "libnpu_runtime.so"


@functools.cache
def kernel_flags(core: str) -> tuple[str, ...]:
    """Flags of kernel_flags.txt for a pass of a user's kernel, "vector" or "cube"."""
    flags = []
    path = Path(include_path(), "kernel_flags.txt")
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, words = line.partition(": ")
        if name in ("all", "users", core):
            flags += words.split()
    if not flags:
        raise RuntimeError(f"{path}: expected lines 'all: <flags>' and '{core}: <flags>', got none")
    return tuple(flags)


def isa_levels() -> list[str]:
    """The instruction set levels of this machine, the best one first."""
    from op_extension import _runtime

    return _runtime.isa_levels()


def isa_level() -> str:
    """The instruction set level that kernels are compiled for: NPU_ISA_LEVEL, or the best of the machine."""
    known = isa_levels()
    asked = os.environ.get("NPU_ISA_LEVEL")
    if not asked:
        return known[0] if known else ""
    if asked not in known:
        raise ValueError(f"NPU_ISA_LEVEL: expected {', '.join(known) or 'nothing'} on this machine, got {asked}")
    return asked


def pass_flags(core: str, standard: str) -> list[str]:
    """What every kernel of a pass is compiled with, and so its precompiled header."""
    level = isa_level()
    folders = (include_path(), str(Path(include_path(), "compat", "device")))
    return [
        f"-std=gnu{standard[1:]}",
        *kernel_flags(core),
        *_LIBRARY_FLAGS,
        *([f"-march={level}"] if level else []),
        *(f"-I{folder}" for folder in folders),
    ]


def run(command: list[str], folder: Path | None = None, text: str = "") -> subprocess.CompletedProcess[str]:
    """Runs command on text, with messages in English and without colours.

    Raises:
        CompileError: it does not end.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C", "GCC_COLORS": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        process_group=0,
    ) as process:
        try:
            output, errors = process.communicate(text, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            _kill_all(process)
            raise CompileError(
                f"op_extension: expected {Path(command[0]).name} to end within {_SECONDS:.0f} s, got no end",
                command=shlex.join(command),
            ) from None
        except BaseException:
            _kill_all(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _kill_all(process: subprocess.Popen[str]) -> None:
    """Ends a process and those it has started, as a compiler's driver does: they would keep its output open.

    First they are asked, and given two seconds: a compiler then removes its temporary files.
    """
    with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2)
        os.killpg(process.pid, signal.SIGKILL)


def check_output(compiler: Compiler, *paths: Path) -> None:
    """Raises where the command has ended without an error and left out one of its files."""
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        raise CompileError(
            f"CXX: expected the command of a C++ compiler, got {shlex.join(compiler.command)}, "
            f"which makes no {' and no '.join(missing)}"
        )


def link_command(compiler: Compiler) -> list[str]:
    """The linker call that the compiler would make for ``in.o`` to ``out.so``; the driver costs more than the linking.

    Empty when the compiler's answer is not understood.
    """
    done = run([*compiler.command, "-shared", "-###", "in.o", "-o", "out.so", str(runtime_library())])
    lines = [line for line in done.stderr.splitlines() if "crtbegin" in line]
    # gold takes 10 ms where ld takes 60, most of them for the symbols of the C++ library.
    linkers = (run([*compiler.command, f"-print-prog-name={name}"]).stdout.strip() for name in ("ld.gold", "ld"))
    linker = next(filter(shutil.which, linkers), None)
    if len(lines) != 1 or linker is None:
        return []
    words = iter(shlex.split(lines[0])[1:])
    command = [linker]
    for word in words:
        if word == "-plugin":  # for link-time optimisation
            next(words)
        elif not word.startswith("-plugin-opt"):
            command.append(word)
    return [*command, *LINK_FLAGS] if {"in.o", "out.so"} <= set(command) else []
