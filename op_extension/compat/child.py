# SPDX-License-Identifier: Apache-2.0
"""A command that a command of this package starts, and the signals that are meant for it."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["Ended", "Signals", "run"]

_NOT_FOUND = 127
_NOT_STARTED = 126
_TAKEN = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class Ended(BaseException):
    """A signal has come before the command was started."""

    def __init__(self, number: int) -> None:
        """Args: number of the signal."""
        super().__init__(number)
        self.number = number


class Signals:
    """What signals do: they end what is made for the command, then go to the command."""

    def __init__(self) -> None:
        """Takes no signal yet."""
        self.process: subprocess.Popen[bytes] | None = None
        self.is_starting = False
        self.caught: list[int] = []
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        """Takes signals from here on."""
        self.before = {number: signal.signal(number, self._take) for number in _TAKEN}
        return self

    def __exit__(self, *error: object) -> None:
        """Gives them back."""
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
            raise Ended(number)


def run(command: list[str], variables: dict[str, str], signals: Signals, say: Callable[[str], None]) -> int:
    """Runs a command in an environment and returns its exit code; 128 and more when a signal has ended it."""
    # The new PATH, not this process's, says which program it is.
    program = shutil.which(command[0], path=variables.get("PATH"))
    if program is None:
        return _not_found(command[0], say)
    try:
        process = signals.start(command, program, variables)
    except OSError as error:
        say(f"expected a program, got {program}: {error.strerror}")
        return _NOT_STARTED
    code = process.wait()
    return 128 - code if code < 0 else code


def _not_found(name: str, say: Callable[[str], None]) -> int:
    """Says what name is instead of a program; returns the exit code that a shell has for it."""
    if "/" in name and Path(name).exists():
        say(f"expected a program, got {name}, which is {'a folder' if Path(name).is_dir() else 'not executable'}")
        return _NOT_STARTED
    say(f"expected a program, got {name or 'an empty name'}, which is not on PATH")
    return _NOT_FOUND
