# SPDX-License-Identifier: Apache-2.0
"""Starts a program once for each rank: ``mpirun -n 4 PROGRAM ARGUMENT...``.

The ranks find each other by memory without a name, which this process makes and the system takes back with the last
of them. When one ends otherwise than well, the others are ended, too; they end, at the latest, with this process.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MAX_RANKS = 64
_LAUNCHER_BYTE = MAX_RANKS  # that this process keeps locked; kLauncherByte of csrc/ranks/group_memory.hpp
_GRACE = 2.0  # seconds between the request to end and the end
_PERIOD = 0.02  # seconds between two looks at the ranks
_LAST_WORDS = 0.3  # seconds in which ranks that lost another one say so
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl
_LIBRARY = str(Path(__file__).resolve().parents[1] / "lib" / "libmpi.so")  # that programs find this launcher by
_USAGE = "usage: mpirun -n RANKS PROGRAM [ARGUMENT...]"
# Options of other launchers that place ranks on machines and processors, of which there is one machine here.
_WITHOUT_VALUE = {"--allow-run-as-root", "--oversubscribe", "-l", "--tag-output"}
_WITH_VALUE = {"--bind-to", "--map-by", "-bind-to", "-map-by"}


class UsageError(Exception):
    """A command line that is none."""


@dataclass
class Command:
    """What a command line asks for."""

    ranks: int = 1
    words: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)


def _rank_count(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= MAX_RANKS:
        return int(text)
    raise UsageError(f"mpirun: expected 1 to {MAX_RANKS} ranks, got {text}")


def _name(name: str, option: str) -> str:
    if name and "=" not in name:
        return name
    raise UsageError(f"mpirun: expected the name of a variable behind {option}, got {name or 'none'}")


def parse(arguments: Sequence[str]) -> Command:
    """Reads the options up to the program; raises UsageError."""
    command = Command()
    rest = list(arguments)

    def take(option: str) -> str:
        if rest:
            return rest.pop(0)
        raise UsageError(f"mpirun: expected a value behind {option}, got none")

    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in {"-n", "-np", "--n", "--np"}:
            command.ranks = _rank_count(take(option))
        elif option == "-x":
            name, is_given, value = take(option).partition("=")
            command.environment |= {_name(name, option): value} if is_given else {}  # the ranks inherit the others
        elif option in {"-env", "-genv"}:
            name = _name(take(option), option)
            command.environment[name] = take(option)
        elif option in _WITH_VALUE:
            take(option)
        elif option not in _WITHOUT_VALUE:
            raise UsageError(f"mpirun: expected an option that it knows, got {option}\n{_USAGE}")
    if not rest:
        raise UsageError(f"mpirun: expected a program, got none\n{_USAGE}")
    command.words = rest
    return command


def _end_with(launcher: int) -> Callable[[], None]:
    """What a rank does before its program starts: it ends with the launcher."""
    prctl = ctypes.CDLL(None).prctl

    def prepare() -> None:
        prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != launcher:
            os._exit(1)

    return prepare


def _start(command: Command, address: str) -> list[subprocess.Popen[bytes]]:
    """Starts all ranks, each as a process group of its own; ends them again where one does not start."""
    ranks: list[subprocess.Popen[bytes]] = []
    devices = os.environ.get("NPU_DEVICE_COUNT") or str(max(2, command.ranks))
    for rank in range(command.ranks):
        environment = {"MPI_LIB_PATH": _LIBRARY, **os.environ, "NPU_DEVICE_COUNT": devices, **command.environment}
        environment |= {"NPU_RANKS": address, "NPU_RANK": f"{rank}/{command.ranks}"}
        try:
            process = subprocess.Popen(
                command.words,
                env=environment,
                stdin=None if rank == 0 else subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=_end_with(os.getpid()),
            )
        except OSError as error:
            _end(ranks)
            raise UsageError(f"mpirun: expected a program, got {command.words[0]}: {error.strerror}") from error
        ranks.append(process)
    return ranks


def _signal(ranks: Sequence[subprocess.Popen[bytes]], number: int) -> None:
    """Sends a signal to ranks and all that they have started."""
    for rank in ranks:
        try:
            os.killpg(rank.pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def _end(ranks: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ends ranks: first by request, then without."""
    alive = [rank for rank in ranks if rank.poll() is None]
    _signal(alive, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE
    while time.monotonic() < deadline and any(rank.poll() is None for rank in alive):
        time.sleep(_PERIOD)  # there is no wait for the first of several processes that also has an end
    _signal(alive, signal.SIGKILL)
    for rank in ranks:
        rank.wait()


def _describe(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    # Those for real-time programs have no names but the first and the last.
    return signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"


def _failed(ranks: Sequence[subprocess.Popen[bytes]]) -> int:
    """The exit code of a rank that did not end well, rather one that a signal ended; 0 while all do."""
    codes = [process.poll() or 0 for process in ranks]
    worst = min(codes) if min(codes) < 0 else next(filter(None, codes), 0)
    if worst == 0:
        return 0
    rank = codes.index(worst)
    print(f"mpirun: expected rank {rank} of {len(ranks)} to end well, got {_describe(worst)}", file=sys.stderr)
    return worst if worst > 0 else 128 - worst


def _await(ranks: Sequence[subprocess.Popen[bytes]], caught: Sequence[int]) -> int:
    """Waits for all ranks; the exit code of the first that failed, 0 where none did."""
    while any(rank.poll() is None for rank in ranks):
        if caught:
            _end(ranks)
            return 128 + caught[0]
        if any(rank.poll() for rank in ranks):
            time.sleep(_LAST_WORDS)  # the others may say whom they miss
            code = _failed(ranks)
            _end(ranks)
            return code
        time.sleep(_PERIOD)  # as in _end
    return _failed(ranks)


def launch(command: Command) -> int:
    """Runs all ranks; returns the exit code."""
    memory = os.memfd_create("npu_ranks")
    fcntl.lockf(memory, fcntl.LOCK_EX, 1, _LAUNCHER_BYTE)
    address = f"{os.getpid()}:{memory}:{os.fstat(memory).st_ino}"
    caught: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: caught.append(number))
    return _await(_start(command, address), caught)


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code."""
    try:
        return launch(parse(arguments))
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
