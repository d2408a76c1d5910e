# SPDX-License-Identifier: Apache-2.0
"""A compiler driver in place of the chip's: the same command line, over the C++ compiler of the host.

Sources of the language ``cce`` (``-xcce``) are compiled once for each kind of core, with launches in brackets
rewritten; all others, and the linker, get what they are given. Headers of this package come before all others.
"""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from op_extension import _signals
from op_extension._load import include_path
from op_extension._version import __version__
from op_extension.compat import launch_functions
from op_extension.compat.bisheng_compile import (
    CommandError,
    KernelSource,
    call,
    host_compiler,
    kernel_words,
    own_include_words,
)
from op_extension.compat.bisheng_options import OptionError, Options, Source, parse, with_own_headers
from op_extension.jit import toolchain

_QUESTIONS = ("-print-", "-dump", "--help", "--target-help", "-###")


def _runtime_words() -> list[str]:
    """What kernels, and calls of the vendor's interface, are linked to where they are there."""
    library = toolchain.runtime_library()
    return ["-Wl,--push-state,--as-needed", str(library), "-Wl,--pop-state", f"-Wl,-rpath,{library.parent}"]


def _host_words(options: Options) -> list[str]:
    """What a source for the host is compiled with; one that runs kernels itself (``__CPU_SIM``), with their flags."""
    words = with_own_headers(options.compile_words(), Path(include_path()))
    if options.simulates:
        level = toolchain.isa_level()
        words += [*toolchain.kernel_flags("all"), "-w", *([f"-march={level}"] if level else [])]
    return [*own_include_words(), *words]


def _rules(options: Options) -> list[str]:
    file = ["-MF", options.rules_file] if options.rules_file else []
    return [*options.rules, *options.rules_targets, *file]


def _compile(options: Options, source: Source, target: Path, work: Path) -> None:
    """Compiles a source to an object file."""
    if source.language == "cce":
        work.mkdir()
        KernelSource(source.path, options, target, work).compile()
        return
    command = [*host_compiler(source.language), *_host_words(options), *_rules(options)]
    call([*command, "-x", source.language, "-c", source.path, "-o", str(target)])


def _show(options: Options) -> None:
    """Preprocesses, checks or assembles, of several passes the last one."""
    out = ["-o", options.output] if options.output else []
    for source in options.sources:
        of_kernels = source.language == "cce"
        if of_kernels and options.stage != "preprocess":
            target = Path(options.output or f"{Path(source.path).stem}.{'s' if options.stage == 'assemble' else 'o'}")
            with tempfile.TemporaryDirectory(prefix="bisheng-") as folder:
                KernelSource(source.path, options, target, Path(folder)).show()
            continue
        words = kernel_words(options, options.cores[-1]) if of_kernels else _host_words(options)
        language = "c++" if of_kernels else source.language
        call([*host_compiler(language), *words, *_rules(options), "-x", language, source.path, *out])


def _with_places_of_rules(options: Options, source: Source) -> Options:
    """The options, with the places that g++ gives the make rule of a source that is linked at once."""
    made = Path(f"{Path(source.path).stem}.o")
    if options.output:
        output = Path(options.output)
        made = output if len(options.sources) == 1 else output.with_name(f"{output.stem}-{made}")
    return replace(
        options,
        rules_file=options.rules_file or str(made.with_suffix(".d")),
        rules_targets=options.rules_targets or ["-MT", str(made)],
    )


def _build(options: Options) -> None:
    if options.output is not None and options.stage == "compile" and len(options.sources) > 1:
        raise OptionError(f"bisheng: expected one source for -c -o {options.output}, got {len(options.sources)}")
    with tempfile.TemporaryDirectory(prefix="bisheng-") as folder:
        objects = []
        for index, source in enumerate(options.sources):
            target = Path(folder, f"{index}.o")
            if options.stage == "compile":
                target = Path(options.output or f"{Path(source.path).stem}.o")
            given = _with_places_of_rules(options, source) if options.rules and options.stage == "link" else options
            _compile(given, source, target, Path(folder, str(index)))
            objects.append(str(target))
        if options.stage == "link":
            out = ["-o", options.output] if options.output else []
            call([*host_compiler(), *objects, *options.words, *_runtime_words(), *out])


def _run(arguments: Sequence[str]) -> None:
    if "--version" in arguments:
        print(f"bisheng of op_extension {__version__}, for emulated cores, over:", flush=True)
        call([*host_compiler(), "--version"])
        return
    if "--npu-runtime-library" in arguments:
        print(toolchain.runtime_library())
        return
    if arguments[:1] == ["--npu-launch-headers"]:
        if len(arguments) < 2:
            raise OptionError("bisheng: expected a folder behind --npu-launch-headers, got the end of the command")
        launch_functions.write_headers(Path(arguments[1]), [Path(name) for name in arguments[2:]])
        return
    options = parse(list(arguments))
    is_question = any(word.startswith(_QUESTIONS) for word in arguments)
    inputs = options.sources or any(not word.startswith("-") for word in options.words)
    if is_question or not inputs:
        call([*host_compiler(), *options.words, *(["-c"] if options.stage == "compile" else [])])
    elif options.stage in ("preprocess", "check", "assemble"):
        _show(options)
    else:
        _build(options)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    signal.signal(signal.SIGTERM, _signals.end)
    try:
        _run(sys.argv[1:] if arguments is None else arguments)
    except CommandError as error:
        return error.code
    except ValueError as error:  # of options, launches and kernels; of variables of the environment
        print(error, file=sys.stderr)
    except OSError as error:
        is_sentence = error.filename is None
        print(
            error if is_sentence else f"bisheng: expected a file {error.filename}, got: {error.strerror}",
            file=sys.stderr,
        )
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
