# SPDX-License-Identifier: Apache-2.0
"""From a source with kernels to one object file with the passes of all its cores."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from op_extension._load import include_path
from op_extension.building import include_paths
from op_extension.compat import launch_functions
from op_extension.compat.bisheng_options import OptionError, Options, with_own_headers
from op_extension.jit import toolchain
from op_extension.launch_brackets import line_directive, rewrite

# The linker must not take what one pass defines for what the other does.
_HIDDEN = ("-fvisibility=hidden", "-fvisibility-inlines-hidden")
# A library that is compiled again has kernels of the same names, and other ones; an empty kernel must be seen to be so.
_KERNELS = ("-fPIC", "-fno-semantic-interposition", "-fno-gnu-unique", "-w")
# The chip's compiler knows its intrinsics (pipe_barrier, get_sys_cnt) without a header.
_INTRINSICS = ("-include", "pto/intrinsics.hpp")

_REGISTRATION = re.compile(r"^[ \t]*TORCH_LIBRARY(?:_FRAGMENT|_IMPL)?\s*\([^()]*?(?P<m>\w+)\s*\)", re.MULTILINE)
_Result = TypeVar("_Result")


class CommandError(Exception):
    """A command has ended with an error, about which it has written itself."""

    def __init__(self, code: int) -> None:
        """Args: its exit code."""
        super().__init__(code)
        self.code = code


def host_compiler(language: str = "c++") -> list[str]:
    """The command in CXX, or CC for C, unless it is this driver; else g++ or gcc."""
    default = "gcc" if language == "c" else "g++"
    variable = "CC" if language == "c" else "CXX"
    given = os.environ.get("CC", "") if language == "c" else os.environ.get("CXX", "")
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise OptionError(f"{variable}: expected the command of a compiler, got {given!r} ({error})") from None
    return [default] if not words or toolchain.is_driver(words) else words


def call(command: Sequence[str], output: Path | None = None, messages: list[bytes] | None = None) -> None:
    """Runs command, which writes its own messages; its output goes into the file output.

    Args:
        command: the program and its words.
        output: a file for its output.
        messages: a list that gets its messages instead.

    Raises:
        CommandError: it has ended with an error.
    """
    if os.environ.get("NPU_BISHENG_VERBOSE") == "1":
        print(shlex.join(command), file=sys.stderr, flush=True)
    errors = None if messages is None else subprocess.PIPE
    try:
        with output.open("wb") if output is not None else contextlib.nullcontext() as file:
            done = subprocess.run(command, check=False, stdout=file, stderr=errors)
    except OSError as error:
        print(f"bisheng: expected the program {command[0]}, got: {error.strerror}", file=sys.stderr)
        raise CommandError(1) from None
    if messages is not None:
        messages.append(done.stderr)
    if done.returncode:
        raise CommandError(done.returncode if done.returncode > 0 else 1)


def own_include_words() -> list[str]:
    """Folders of the headers here, which come before all others."""
    return [f"-I{folder}" for folder in include_paths()]


def kernel_words(options: Options, core: str) -> list[str]:
    """What kernels for core are compiled with: the caller's words, then those that are not his to choose."""
    level = toolchain.isa_level()
    return [
        *own_include_words(),
        *with_own_headers(options.kernel_words(), Path(include_path())),
        *toolchain.kernel_flags(core + options.generation),
        *_KERNELS,
        *_INTRINSICS,
        *([f"-march={level}"] if level else []),
        f"-std={options.standard()}",
    ]


class KernelSource:
    """A source with kernels, to be compiled to one object file."""

    def __init__(self, path: str, options: Options, target: Path, work: Path) -> None:
        """Reads the source.

        Args:
            path: the file, as the command line names it.
            options: of the command line.
            target: the object file.
            work: a folder for this source alone.

        Raises:
            OSError: there is no such file.
            LaunchSyntaxError: a launch in brackets does not end.
        """
        self._path = Path(path)
        self._options = options
        self._target = target
        self._work = work
        self._messages: list[bytes] = []
        self._text = self._path.read_text(encoding="utf-8", errors="surrogateescape")
        self._rewritten = rewrite(self._text, path)

    def compile(self) -> None:
        """Makes the object file.

        Raises:
            CommandError: it does not compile.
            KernelError: of a kernel no launch function can be made.
        """
        try:
            objects = self._launched_by_function() if self._options.launch_functions else self._launched_in_brackets()
        finally:
            self._show_messages()
        self._join(objects, self._target)
        self._write_rules()

    def show(self) -> None:
        """Checks or assembles the pass of the last core.

        Raises:
            CommandError: it does not compile.
        """
        output = ["-o", str(self._target)] if self._options.output else []
        try:
            self._call(self._options.cores[-1], self._rewritten, *output)
        finally:
            self._show_messages()
        self._write_rules()

    def _show_messages(self) -> None:
        """What the compilers said: most of it is the same in all passes, and shown once."""
        sys.stderr.flush()
        for message in dict.fromkeys(itertools.chain(*map(_messages_of, self._messages))):
            sys.stderr.buffer.write(message)
        sys.stderr.buffer.flush()

    def _launched_in_brackets(self) -> list[Path]:
        """The pass of the cube core, behind which that of the vector core is hidden; or the only one."""
        main = self._options.cores[-1]
        text = self._rewritten
        key = hashlib.sha256(
            "\0".join([str(self._path.resolve()), text, *self._options.words]).encode(errors="replace")
        )
        define = f'-DNPU_SOURCE_KEY="{key.hexdigest()}"'

        def one(core: str) -> Path:
            if core == main:
                return self._compile(core, text, define)
            once = without_registrations(text)
            return self._apart(self._compile(core, once, define, "-DNPU_VECTOR_PASS_ONLY", *_HIDDEN))

        return _each(self._options.cores, one)

    def _launched_by_function(self) -> list[Path]:
        """All passes, hidden, and the functions that launch their kernels."""
        kernels = launch_functions.kernels_of(self._text, str(self._path))
        defined = dict(zip(self._options.cores, _each(self._options.cores, self._preprocessed), strict=True))
        passes = launch_functions.passes(kernels, defined, str(self._path))

        def one(core: str) -> Path:
            end = f'\n#line 1 "<launch functions>"\n{launch_functions.exports(passes, core)}'
            text = self._rewritten + end
            return self._apart(self._compile(core, text, *_HIDDEN))

        cores = [core for core in self._options.cores if any(core in found for found in passes.values())]
        unit = self._work / "launch_functions.cpp"
        unit.write_text(launch_functions.source(passes), encoding="utf-8")
        made = unit.with_suffix(".o")
        call([*host_compiler(), *own_include_words(), "-O1", "-fPIC", "-std=gnu++17", "-c", str(unit), "-o", str(made)])
        return [*_each(cores, one), made]

    def _preprocessed(self, core: str) -> str:
        """What is left of the source for core."""
        made = self._work / f"{core}.i"
        command = [*host_compiler(), *kernel_words(self._options, core), "-E", "-P", "-x", "c++", str(self._path)]
        call(command, made, self._messages)
        return made.read_text(encoding="utf-8", errors="replace")

    def _compile(self, core: str, text: str, *words: str) -> Path:
        """The object file of a pass."""
        made = self._work / f"{core}.o"
        self._call(core, text, *words, "-c", "-o", str(made))
        return made

    def _call(self, core: str, text: str, *words: str) -> None:
        """Compiles a pass as the words say."""
        unit = [str(self._path)]
        if text != self._text:
            changed = self._work / core / self._path.name
            changed.parent.mkdir(exist_ok=True)
            line = line_directive(str(self._path))
            text = text if line in text else f"{line}\n{text}"
            changed.write_text(text, encoding="utf-8", errors="surrogateescape")
            unit = ["-iquote", str(self._path.parent), f"-ffile-prefix-map={changed.parent}/=", str(changed)]
        if self._options.rules:
            targets = self._options.rules_targets or ["-MT", str(self._target)]
            words = (*words, *self._options.rules, *targets, "-MF", str(self._work / f"{core}.d"))
        colour = ["-fdiagnostics-color=always"] if sys.stderr.isatty() else []
        command = [*host_compiler(), *colour, *kernel_words(self._options, core), *words, "-x", "c++", *unit]
        call(command, messages=self._messages)

    def _apart(self, made: Path) -> Path:
        """An object file whose hidden symbols the linker takes for nobody else's."""
        grouped = made.with_suffix(".grouped.o")
        made.rename(grouped)
        call([_program("ld"), "-r", "--force-group-allocation", str(grouped), "-o", str(made)])
        call([_program("objcopy"), "--localize-hidden", str(made)])
        return made

    def _join(self, objects: list[Path], target: Path) -> None:
        call([_program("ld"), "-r", *map(str, objects), "-o", str(target)])

    def _write_rules(self) -> None:
        """The make rule of all passes, with the source in place of what was made of it."""
        if not self._options.rules:
            return
        targets, files = "", dict[str, None]()
        for core in self._options.cores:
            made = self._work / f"{core}.d"
            if made.is_file():
                text = made.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
                targets, _, named = text.partition("\n")[0].partition(": ")
                changed, source = _escaped(self._work / core / self._path.name), _escaped(self._path)
                words = re.findall(r"(?:\\.|\S)+", named)
                files |= dict.fromkeys(source if word == changed else word for word in words)
        # One rule: CMake reads the last one of a target. -MP: a header that is gone is no error.
        rules = [f"{targets}: {' '.join(files)}"]
        rules += [f"{file}:" for file in list(files)[1:] if "-MP" in self._options.rules]
        target = Path(self._options.rules_file or self._target.with_suffix(".d"))
        target.write_text("\n".join([*rules, ""]), encoding="utf-8", errors="surrogateescape")


def _messages_of(said: bytes) -> list[bytes]:
    """The errors and warnings of a compiler, each with the lines that belong to it."""
    messages = [b""]
    is_begun = False  # the last one has its error or warning
    for line in said.splitlines(keepends=True):
        if is_begun and not line.startswith(b" ") and b"note: " not in line:
            messages.append(b"")
            is_begun = False
        messages[-1] += line
        is_begun = is_begun or b"error: " in line or b"warning: " in line
    return messages


def without_registrations(text: str) -> str:
    """A source whose operators are not told to PyTorch: the other pass of it tells them."""
    numbers = itertools.count()

    def function(match: re.Match[str]) -> str:
        lines = "\n" * match[0].count("\n")
        return f"[[maybe_unused]] static void npu_not_registered_{next(numbers)}(torch::Library& {match['m']}){lines}"

    return _REGISTRATION.sub(function, text)


def _escaped(path: Path) -> str:
    """As in a make rule."""
    return str(path).replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def _program(name: str) -> str:
    """The program of the compiler's own tools, such as its linker."""
    done = subprocess.run([*host_compiler(), f"-print-prog-name={name}"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or name


def _each(cores: Sequence[str], one: Callable[[str], _Result]) -> list[_Result]:
    """What one gives for each of the cores, found at the same time."""
    if len(cores) < 2:
        return [one(core) for core in cores]
    with ThreadPoolExecutor(len(cores)) as pool:
        return list(pool.map(one, cores))
