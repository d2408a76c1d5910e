# SPDX-License-Identifier: Apache-2.0
"""The command line of ``bisheng``: which of its words a C++ compiler of the host takes, and what the others ask for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Cores that a source is compiled for, and the suffix of its lines in csrc/include/kernel_flags.txt.
BOTH = ("vector", "cube")
_CORES = {"": BOTH, "-vec": ("vector",), "-cube": ("cube",)}
_A2A3, _A5 = "", "_a5"
_CCE_ARCHS = {"dav-c220": _A2A3, "dav-c310": _A5}
_NPU_ARCHS = {"dav-2201": _A2A3, "dav-3510": _A5, "dav-3101": _A5}

# Words that change how the chip's compiler works inside, or name what is so here anyway.
_WITHOUT_EFFECT = {
    "--cce-fatobj-link",
    "--cce-pto-enable",
    "--cce-enable-print",
    "-cce-enable-mix",
    "-Xhost-start",
    "-Xhost-end",
    "-Xaicore-start",
    "-Xaicore-end",
}
_LLVM_WITHOUT_EFFECT = re.compile(
    r"-cce-aicore-(stack-size|function-stack-size|record-overflow|addr-transform|dcci-\S*-for-scalar|jump-expand)(=.*)?"
)
_VENDORS = re.compile(r"--?(cce|npu|ascend)\b.*|-X(clang|aicore|host).*")

# Words of the host's compiler whose value is the next word.
_TAKES_VALUE = {
    *("-o", "-I", "-D", "-U", "-L", "-l", "-T", "-u", "-z", "-B", "-include", "-imacros", "-isystem", "-iquote"),
    *("-idirafter", "-isysroot", "--sysroot", "-MF", "-MT", "-MQ", "-Xlinker", "-Xassembler", "-Xpreprocessor"),
    *("-arch", "--param", "-x", "-wrapper", "-specs", "--std", "-dumpbase", "-dumpdir", "-aux-info"),
}
_INCLUDES = ("-I", "-isystem", "-iquote", "-idirafter")
_LINK_PREFIXES = ("-l", "-L", "-Wl,")
_LINK_WORDS = {"-shared", "-static", "-rdynamic", "-s", "-pie", "-no-pie", "-Xlinker", "-z", "-T", "-u"}
_RULES = {"-MD", "-MMD", "-MP"}
_STAGES = {"-c": "compile", "-E": "preprocess", "-S": "assemble", "-M": "preprocess", "-MM": "preprocess"}
_STAGES["-fsyntax-only"] = "check"
# Of several the first: it says least.
_ORDER = ("preprocess", "check", "assemble", "compile", "link")
# The level of optimisation, the arithmetic and the language of kernels are not the caller's; the code that is only made
# when all is linked would take flags from there.
_NOT_FOR_KERNELS = re.compile(
    r"-O.*|--?std=.*|-f(no-)?(visibility.*|gnu-unique|lto.*|fat-lto-objects|whole-program|fast-math"
    r"|unsafe-math-optimizations|associative-math|reciprocal-math|finite-math-only|signed-zeros|trapping-math"
    r"|rounding-math|signaling-nans|math-errno|cx-.*|single-precision-constant|float-store|excess-precision=.*"
    r"|fp-contract=.*|fp-int-builtin-inexact)|-m(no-)?(recip.*|fpmath=.*|fma|fma4|daz-ftz)"
)
_FILES = 1000  # @file
_SOURCES = {".c", ".cc", ".cpp", ".cxx", ".cce", ".C", ".c++"}


class OptionError(ValueError):
    """A word of the command line that cannot be taken."""


@dataclass
class Source:
    """A file to compile, and its language: "cce", "c++" or "c"."""

    path: str
    language: str


@dataclass
class Options:
    """What a command line asks for."""

    stage: str = "link"  # how far: "preprocess", "check", "assemble", "compile", "link"
    output: str | None = None
    sources: list[Source] = field(default_factory=list)
    words: list[str] = field(default_factory=list)  # all that the host's compiler takes, files but sources too
    cores: tuple[str, ...] = BOTH
    generation: str = _A2A3
    rules: list[str] = field(default_factory=list)  # -MD and its neighbours
    rules_file: str | None = None
    rules_targets: list[str] = field(default_factory=list)
    launch_functions: bool = False  # of ascendc.cmake: the object holds aclrtlaunch_<name>() of its kernels
    defines: set[str] = field(default_factory=set)

    @property
    def simulates(self) -> bool:
        """Whether a source for the host runs kernels in itself."""
        return "__CPU_SIM" in self.defines

    def compile_words(self) -> list[str]:
        """What compiling a source takes: no libraries, no object files."""
        return [word for word, is_link in _with_link_marks(self.words) if not is_link]

    def kernel_words(self) -> list[str]:
        """What compiling a kernel takes: the level of optimisation and the arithmetic are not the caller's."""
        return [word for word in self.compile_words() if not _NOT_FOR_KERNELS.fullmatch(word)]

    def standard(self) -> str:
        """Of C++, for kernels: c++17 at least."""
        given = (re.fullmatch(r"--?std=(?:gnu|c)\+\+(.*)", word) for word in self.words)  # that of C is another's
        year = ["17", *(match[1] for match in given if match)][-1]
        return "gnu++" + ("17" if year in ("98", "03", "11", "0x", "14", "1y", "1z") else year)


def parse(arguments: list[str]) -> Options:
    """The options.

    Raises:
        OptionError: a word of the vendor's that is not known here, or one whose value is missing.
    """
    options, language = Options(), ""
    words = iter(list(_expanded(arguments)))
    for word in words:
        if word in _TAKES_VALUE or word == "-mllvm":
            value = next(words, None)
            if value is None:
                raise OptionError(f"bisheng: expected a value behind {word}, got the end of the command")
            if word == "-x":
                language = value
            else:
                _take_pair(options, word, value)
        elif word.startswith("-x") and len(word) > 2:
            language = word[2:]
        elif word.startswith("-") and word != "-":
            _take_word(options, word)
        elif _is_source(word, language):
            options.sources.append(Source(word, _language(word, language)))
        else:
            options.words.append(word)
    return options


def _expanded(arguments: list[str]) -> Iterator[str]:
    """The arguments, with those of files named ``@file`` in place of these."""
    pending, files = arguments[::-1], 0
    while pending:
        argument = pending.pop()
        if not (argument.startswith("@") and Path(argument[1:]).is_file()):
            yield argument
            continue
        files += 1
        if files > _FILES:
            raise OptionError(
                f"bisheng: expected at most {_FILES} files of words, got {argument}, which may name itself"
            )
        try:
            words = shlex.split(Path(argument[1:]).read_text(encoding="utf-8", errors="surrogateescape"))
        except ValueError as error:
            raise OptionError(f"bisheng: expected words in {argument}, got: {error}") from None
        pending += words[::-1]


def _is_source(word: str, language: str) -> bool:
    suffix = Path(word).suffix
    is_linked = suffix in (".o", ".a", ".so", ".lo", ".obj") or ".so." in Path(word).name
    return not is_linked and (suffix in _SOURCES or language not in ("", "none"))


def _language(word: str, language: str) -> str:
    if language not in ("", "none"):
        return language
    return {".c": "c", ".cce": "cce"}.get(Path(word).suffix, "c++")


def _take_pair(options: Options, word: str, value: str) -> None:
    if word == "-mllvm":
        if not _LLVM_WITHOUT_EFFECT.fullmatch(value):
            raise OptionError(
                f"bisheng: expected of -mllvm what has no effect here (-cce-aicore-stack-size=... and its neighbours), "
                f"got {value}"
            )
    elif word == "-o":
        options.output = value
    elif word == "-MF":
        options.rules_file = value
    elif word == "--std":
        options.words.append(f"-std={value}")
    elif word in ("-MT", "-MQ"):
        options.rules_targets += [word, value]
    else:
        if word == "-D":
            options.defines.add(value.partition("=")[0])
        options.words += [word, value]


def _take_word(options: Options, word: str) -> None:
    name, _, value = word.partition("=")
    if name == "--cce-aicore-arch":
        match = re.fullmatch(r"(dav-c\d+)(-vec|-cube)?", value)
        if match is None or match[1] not in _CCE_ARCHS:
            raise OptionError(f"bisheng: expected {' or '.join(_CCE_ARCHS)} (-vec, -cube) in {name}, got {value}")
        options.generation, options.cores = _CCE_ARCHS[match[1]], _CORES[match[2] or ""]
    elif name == "--npu-arch":
        if value not in _NPU_ARCHS:
            got = value or "nothing behind it (it is written --npu-arch=dav-2201)"
            raise OptionError(f"bisheng: expected {', '.join(_NPU_ARCHS)} in {name}, got {got}")
        options.generation, options.cores = _NPU_ARCHS[value], BOTH
    elif word == "--cce-pto-auto-enable":
        options.words.append("-D__PTO_AUTO__")
    elif word == "--npu-launch-functions":
        options.launch_functions = True
    elif word in _STAGES:
        options.stage = min(options.stage, _STAGES[word], key=_ORDER.index)
        if word != "-c":
            options.words.append(word)
    elif word in _RULES:
        options.rules.append(word)
    elif word.startswith("-o"):
        options.output = word[2:]
    elif word.startswith("-MF"):
        options.rules_file = word[3:]
    elif _VENDORS.fullmatch(word) and word not in _WITHOUT_EFFECT:
        raise OptionError(
            f"bisheng: expected an option of g++ or one of the chip's compiler that is known here, got {word}"
        )
    elif word not in _WITHOUT_EFFECT:
        if word.startswith("-D"):
            options.defines.add(word[2:].partition("=")[0])
        options.words.append(word)


def _with_link_marks(words: list[str]) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it is for the linker only."""
    is_value = is_link = False
    for word in words:
        if not is_value:
            is_link = word.startswith(_LINK_PREFIXES) or word in _LINK_WORDS or not word.startswith("-")
        yield word, is_link
        is_value = not is_value and word in _TAKES_VALUE


def with_own_headers(words: list[str], own: Path) -> list[str]:
    """The words without folders that hold another instruction layer: of two, only one can be compiled against.

    Args:
        words: of a command line.
        own: folder of the headers of this package.
    """
    result: list[str] = []
    pending = ""
    for word in words:
        flag = pending or next((name for name in _INCLUDES if word.startswith(name)), "")
        if not flag:
            result.append(word)
        elif not pending and word == flag:
            pending = flag
            continue
        else:
            folder = _own_folder(Path(word if pending else word[len(flag) :]), own)
            if folder is not None:
                result += [flag, str(folder)]
        pending = ""
    return result


def _own_folder(folder: Path, own: Path) -> Path | None:
    """The folder, or the one here that stands for it in another instruction layer; None where there is none."""
    resolved = folder.resolve()
    for parent in (resolved, *resolved.parents):
        if (parent / "pto" / "pto-inst.hpp").is_file():
            if parent == own.resolve():
                return folder
            mine = own / resolved.relative_to(parent)
            return mine if mine.is_dir() else None
    return folder
