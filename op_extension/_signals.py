# SPDX-License-Identifier: Apache-2.0
"""Commands of this package end at a signal without a traceback, from their first import on."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path
from types import FrameType


def end(number: int, _: FrameType | None) -> None:
    """A handler that leaves by way of everything that cleans up, with the status that a shell has for the signal."""
    signal.signal(number, signal.SIG_IGN)
    _end_children()
    sys.exit(128 + number)


def _end_children() -> None:
    """Of a child that is just being started nobody else knows, and those of other threads are waited for."""
    for listed in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread, or the child, has ended
            for child in listed.read_text(encoding="utf-8").split():
                os.kill(int(child), signal.SIGTERM)


def end_at_interrupt() -> None:
    """Ctrl-C ends this process so, unless it is ignored or somebody takes it already."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end)
