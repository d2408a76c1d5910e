# SPDX-License-Identifier: Apache-2.0
"""Autograd's threads at the end of the process."""

from __future__ import annotations

import atexit
import contextlib
from pathlib import Path

import torch

_kept: list[torch.Tensor] = []  # until the interpreter has ended


def _are_there() -> bool:
    names = Path("/proc/self/task").glob("*/comm")
    with contextlib.suppress(OSError):  # a thread has ended meanwhile
        return any(name.read_text().startswith("pt_autograd_") for name in names)
    return True


def _settle() -> None:
    """Waits until autograd's threads have let go of all earlier passes.

    ``backward()`` returns when its results are there. What is left of the pass, objects of Python among it, goes a
    little later, on the thread of the device; one that wants the interpreter when that has begun to end is ended in a
    destructor, and the process aborts. A thread does one thing after the other: when it has done a pass without
    objects of Python, it has let go of those before.
    """
    if not _are_there():
        return
    with contextlib.suppress(RuntimeError):  # a device that a fault has stopped, say
        for device in range(torch.npu.device_count()):  # type: ignore[attr-defined]
            x = torch.ones((), device=f"npu:{device}", requires_grad=True)
            y, gradient = x.clone(), torch.ones((), device=x.device)
            _kept.extend((x, y, gradient))
            # Not backward(), which keeps an object of Python for its threads; nor for inputs, whose gradients are such.
            run = torch.autograd.Variable._execution_engine.run_backward
            run((y,), (gradient,), False, False, (), allow_unreachable=True, accumulate_grad=True)


def apply() -> None:
    """Lets autograd's threads come to an end before the interpreter does."""
    atexit.register(_settle)
