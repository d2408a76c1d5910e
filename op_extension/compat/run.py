# SPDX-License-Identifier: Apache-2.0
"""``op-extension run`` and ``op-extension env``: unmodified programs that were written for Ascend."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

from op_extension.compat import environment, in_the_way, overlay, shipped
from op_extension.jit import cache

_NOT_FOUND = 127
_NOT_STARTED = 126
_TAKEN = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_PREFIX = "op_extension_overlay_"


def run(words: list[str], folder: str | None) -> int:
    """Runs a command and returns its exit code; 128 and more when a signal has ended it.

    Args:
        words: the program and its arguments, behind ``--`` or not.
        folder: an overlay to keep; when not given, the one that this process runs in, else one that ends with the
            command.
    """
    command = words[1:] if words[:1] == ["--"] else words
    sentence = _refusal(command, folder)
    if sentence:
        _say(sentence)
        return 2
    kept = folder or os.environ.get("NPU_OVERLAY")
    try:
        with _Signals() as signals:
            if kept:
                return _run_in(overlay.make(Path(kept)), command, signals)
            with tempfile.TemporaryDirectory(prefix=_PREFIX) as temporary:
                made = overlay.make(Path(temporary))
                code = _run_in(made, command, signals)
                if made.installed():
                    names = ", ".join(made.installed())
                    _say(f"installed for this run only: {names}; --overlay FOLDER keeps what a command installs")
                return code
    except _Ended as end:
        _say(f"expected the command to start, got {signal.Signals(end.number).name}")
        return 128 + end.number
    except (OSError, ValueError) as error:
        _say(_sentence(error))
        return 2


def env(folder: str | None) -> int:
    """Prints the variables of a run as lines for a shell: ``eval "$(op-extension env)"``."""
    sentence = _refusal(["env"], folder)
    if sentence:
        _say(sentence, "env")
        return 2
    try:
        with _Signals():
            kept = folder or os.environ.get("NPU_OVERLAY") or _folder_of_shells()
            print(environment.exports(overlay.make(Path(kept))))
    except _Ended as end:
        return 128 + end.number
    except (OSError, ValueError) as error:
        _say(_sentence(error), "env")
        return 2
    return 0


def _folder_of_shells() -> Path:
    """One for each environment: nobody says when a shell ends."""
    key = cache.digest(os.path.realpath(sys.prefix), sys.version, str(shipped.ROOT))[:16]
    return cache.folder() / cache.RUNS / f"overlay-{key}"


def _sentence(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"expected a file or folder that can be written, got {error.filename}: {error.strerror}"
    return str(error)


def _refusal(command: list[str], folder: str | None) -> str:
    if not command:
        return "expected a command, got none; usage: op-extension run [--overlay FOLDER] COMMAND [ARGUMENT...]"
    if folder == "":
        return "--overlay: expected a folder, got an empty name"
    original = in_the_way.original_torch_npu()
    return in_the_way.torch_npu_sentence(original) if original is not None else ""


def _run_in(made: overlay.Overlay, command: list[str], signals: _Signals) -> int:
    toolkit = in_the_way.original_toolkit()
    if toolkit:
        _say(f"took the place of the toolkit at {toolkit} for this command")
    variables = environment.variables(made, os.environ)
    # The new PATH, not this process's, says which program it is.
    program = shutil.which(command[0], path=variables["PATH"])
    if program is None:
        return _not_found(command[0])
    with cache.locked(made.folders.home.parent, fcntl.LOCK_SH):
        try:
            process = signals.start(command, program, variables)
        except OSError as error:
            _say(f"expected a program, got {program}: {error.strerror}")
            return _NOT_STARTED
        code = process.wait()
    return 128 - code if code < 0 else code


def _not_found(name: str) -> int:
    """Says what name is instead of a program; returns the exit code that a shell has for it."""
    if "/" in name and Path(name).exists():
        _say(f"expected a program, got {name}, which is {'a folder' if Path(name).is_dir() else 'not executable'}")
        return _NOT_STARTED
    _say(f"expected a program, got {name or 'an empty name'}, which is not on PATH")
    return _NOT_FOUND


class _Ended(BaseException):
    """A signal has come before the command was started."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _Signals:
    """What signals do: they end what is made for the command, then go to the command."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.is_starting = False
        self.caught: list[int] = []
        self.before: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        self.before = {number: signal.signal(number, self._take) for number in _TAKEN}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def start(self, command: list[str], program: str, variables: dict[str, str]) -> subprocess.Popen[bytes]:
        """Starts the command; what has come meanwhile goes to it, too."""
        self.is_starting = True
        try:
            process = subprocess.Popen(command, executable=program, env=variables)
        finally:
            self.is_starting = False
        self.process = process
        for number in self.caught:
            self._take(number, None)
        return process

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self.process is not None:
            if number != signal.SIGINT:  # Ctrl-C reaches the command by its terminal
                self.process.send_signal(number)
        elif self.is_starting:
            self.caught.append(number)
        elif not self.caught:  # the second one does not end the removal that the first has begun
            self.caught.append(number)
            raise _Ended(number)


def _say(sentence: str, command: str = "run") -> None:
    print(f"op-extension {command}: {sentence}", file=sys.stderr)
