# SPDX-License-Identifier: Apache-2.0
"""The command ``op-extension``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from op_extension import doctor
from op_extension._version import __version__

__all__ = ["main"]


def _bytes(count: int) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024  # type: ignore[assignment]
    return f"{count:.1f} GiB"


def _cache_list() -> int:
    from op_extension.jit.cache import Cache

    cache = Cache()
    for entry, size in cache.entries():
        about = f"{entry.get('core')}, {entry.get('level') or 'no level'}"
        print(f"{_bytes(size):>10}  {entry.get('entry')} ({about}) of {entry.get('source')}")
    print(f"{_bytes(cache.size('headers')):>10}  precompiled headers")
    print(f"{_bytes(cache.size()):>10}  in {cache.root}")
    return 0


def _cache_size() -> int:
    from op_extension.jit.cache import Cache

    print(Cache().size())
    return 0


def _cache_clear() -> int:
    from op_extension.jit.cache import Cache

    cache = Cache()
    print(f"{_bytes(cache.clear())} removed from {cache.root}")
    return 0


def _doctor() -> int:
    findings = doctor.examine()
    for finding in findings:
        print(f"{'ok     ' if finding.good else 'NOT OK '}  {finding.subject}: {finding.text}")
    return 0 if all(finding.good for finding in findings) else 1


def _add_words(command: argparse.ArgumentParser) -> None:
    about = "a program and its arguments, as in a shell: python train.py --steps 10, or bash build.sh"
    command.add_argument("words", metavar="COMMAND [ARGUMENT...]", nargs=argparse.REMAINDER, help=about)


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = commands.add_parser("run", help="run a program that was written for Ascend")
    _add_words(run)
    env = commands.add_parser("env", help='the same for a shell: eval "$(op-extension env)"')
    for command in (run, env):
        command.add_argument("--overlay", metavar="FOLDER", help="where packages are installed; kept")


def _add_portable(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    portable = commands.add_parser("portable", help="what in a kernel does not run on each chip, with lines")
    portable.add_argument("--std", choices=["c++17", "c++20"], default="c++17")
    portable.add_argument("file", metavar="FILE")
    flags = portable.add_argument("flags", metavar="FLAG", nargs=argparse.REMAINDER)
    flags.help = "flags of the compiler, such as -I"
    flags.required = False  # no flags are flags too; argparse would name them as missing beside FILE


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    check = commands.add_parser("check", help="run a command and report hazards of the kernels that it launches")
    check.add_argument("--format", choices=["text", "json", "junit", "sarif"], help="as FILE ends, else text")
    check.add_argument("--output", metavar="FILE", help="where the report goes; standard output otherwise")
    check.add_argument("--kinds", help="such as order,flag; or unwritten, overlap, range, vector_order")
    check.add_argument("--suppressions", metavar="FILE", help="findings that are known, in TOML")
    _add_words(check)


def _check(given: argparse.Namespace) -> int:
    from op_extension.hazards import command

    return command.check(command.Options(given.words, given.format, given.output, given.kinds, given.suppressions))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code, 1 when the doctor finds something missing or unfit."""
    parser = argparse.ArgumentParser(prog="op-extension", description="Tile kernels on the emulated device npu.")
    parser.add_argument("--version", action="version", version=f"op-extension {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    cache = commands.add_parser("cache", help="the folder of compiled kernels")
    cache.add_argument("action", nargs="?", choices=["list", "size", "clear"], default="list")
    commands.add_parser("doctor", help="what is found, what is missing, and what it was built for")
    _add_run(commands)
    _add_portable(commands)
    _add_check(commands)
    given = parser.parse_args(arguments)
    if given.command == "doctor":
        return _doctor()
    if given.command == "check":
        return _check(given)
    if given.command == "portable":
        from op_extension import portable

        return portable.main(given.file, given.flags, given.std)
    if given.command in ("run", "env"):
        from op_extension.compat import run

        return run.run(given.words, given.overlay) if given.command == "run" else run.env(given.overlay)
    return {"list": _cache_list, "size": _cache_size, "clear": _cache_clear}[given.action]()


if __name__ == "__main__":
    sys.exit(main())
