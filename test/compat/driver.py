# SPDX-License-Identifier: Apache-2.0
"""The driver bisheng, run as the files that are called so run it."""

import signal
import subprocess
import sys

from op_extension.compat import isolated

COMMAND = [sys.executable, "-I", isolated.__file__, "op_extension.compat.bisheng"]


def bisheng(*arguments, cwd=None, code=0):
    """Its finished run, which must end with code."""
    done = subprocess.run([*COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise AssertionError(f"bisheng {arguments}: expected exit code {code}, got {done.returncode}: {done.stderr}")
    return done


def heed_interrupts():
    """For a new process: what a shell starts in the background takes no interrupt, nor do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
