# SPDX-License-Identifier: Apache-2.0
"""``op-extension run`` and ``op-extension env``: unmodified programs that were written for Ascend."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import tempfile
from pathlib import Path

from op_extension.compat import child, environment, in_the_way, overlay, shipped
from op_extension.jit import cache

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
        with child.Signals() as signals:
            if kept:
                return _run_in(overlay.make(Path(kept)), command, signals)
            with tempfile.TemporaryDirectory(prefix=_PREFIX) as temporary:
                made = overlay.make(Path(temporary))
                code = _run_in(made, command, signals)
                if made.installed():
                    names = ", ".join(made.installed())
                    _say(f"installed for this run only: {names}; --overlay FOLDER keeps what a command installs")
                return code
    except child.Ended as end:
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
        with child.Signals():
            kept = folder or os.environ.get("NPU_OVERLAY") or _folder_of_shells()
            print(environment.exports(overlay.make(Path(kept))))
    except child.Ended as end:
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


def _run_in(made: overlay.Overlay, command: list[str], signals: child.Signals) -> int:
    toolkit = in_the_way.original_toolkit()
    if toolkit:
        _say(f"took the place of the toolkit at {toolkit} for this command")
    variables = environment.variables(made, os.environ)
    with cache.locked(made.folders.home.parent, fcntl.LOCK_SH):
        return child.run(command, variables, signals, _say)


def _say(sentence: str, command: str = "run") -> None:
    print(f"op-extension {command}: {sentence}", file=sys.stderr)
