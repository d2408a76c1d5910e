# SPDX-License-Identifier: Apache-2.0
"""``op-extension run`` and ``op-extension env``: unmodified programs that were written for Ascend."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from op_extension.compat import environment, in_the_way, overlay
from op_extension.jit import cache

_NOT_FOUND = 127
_NOT_STARTED = 126
_PREFIX = "op_extension_overlay_"


def run(command: list[str], folder: str | None) -> int:
    """Runs command and returns its exit code; 128 and more when a signal has ended it.

    Args:
        command: the program and its arguments.
        folder: an overlay to keep; when not given, the one that this process runs in, else one that ends with the
            command.
    """
    sentence = _refusal(command)
    if sentence:
        print(f"op-extension run: {sentence}", file=sys.stderr)
        return 2
    kept = folder or os.environ.get("NPU_OVERLAY")
    try:
        if kept:
            return _run_in(overlay.make(Path(kept)), command)
        with tempfile.TemporaryDirectory(prefix=_PREFIX) as temporary:
            made = overlay.make(Path(temporary))
            code = _run_in(made, command)
            if made.installed():
                names = ", ".join(made.installed())
                _say(f"installed for this run only: {names}; --overlay FOLDER keeps what a command installs")
            return code
    except (OSError, ValueError) as error:
        _say(str(error))
        return 2


def env(folder: str | None) -> int:
    """Prints the variables of a run as lines for a shell: ``eval "$(op-extension env)"``."""
    original = in_the_way.original_torch_npu()
    if original is not None:
        print(f"op-extension env: {in_the_way.torch_npu_sentence(original)}", file=sys.stderr)
        return 2
    kept = folder or os.environ.get("NPU_OVERLAY") or tempfile.mkdtemp(prefix=_PREFIX)
    try:
        print(environment.exports(overlay.make(Path(kept))))
    except (OSError, ValueError) as error:
        print(f"op-extension env: {error}", file=sys.stderr)
        return 2
    return 0


def _refusal(command: list[str]) -> str:
    if not command:
        return "expected a command, got none; usage: op-extension run [--overlay FOLDER] COMMAND [ARGUMENT...]"
    original = in_the_way.original_torch_npu()
    return in_the_way.torch_npu_sentence(original) if original is not None else ""


def _run_in(made: overlay.Overlay, command: list[str]) -> int:
    toolkit = in_the_way.original_toolkit()
    if toolkit:
        _say(f"took the place of the toolkit at {toolkit} for this command")
    variables = environment.variables(made, os.environ)
    # The new PATH, not this process's, says which program it is.
    program = shutil.which(command[0], path=variables["PATH"])
    if program is None:
        _say(f"expected a program, got {command[0]}, which is not on PATH")
        return _NOT_FOUND
    try:
        process = subprocess.Popen(command, executable=program, env=variables)
    except OSError as error:
        _say(f"expected a program, got {program}: {error.strerror}")
        return _NOT_STARTED
    with _signals_to(process), cache.locked(made.folders.home.parent, fcntl.LOCK_SH):
        code = process.wait()
    return 128 - code if code < 0 else code


@contextlib.contextmanager
def _signals_to(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ctrl-C reaches the command by its terminal; what asks this process to end is handed on."""

    def hand_on(number: int, frame: FrameType | None) -> None:
        process.send_signal(number)

    before = {number: signal.signal(number, hand_on) for number in (signal.SIGTERM, signal.SIGHUP)}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(sentence: str) -> None:
    print(f"op-extension run: {sentence}", file=sys.stderr)
