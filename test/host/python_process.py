# SPDX-License-Identifier: Apache-2.0
"""Runs Python code in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import npu_backend

#: The folder with the packages under test.
PACKAGES = Path(npu_backend.__file__).absolute().parent.parent


def start_python(code, *, path=(), cwd=None, arguments=(), seconds=300, **variables):
    """Starts code in a new process; the result waits for it, at most seconds, and returns it finished."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TORCH_DEVICE_BACKEND")}
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, path), str(PACKAGES)])
    environment.update(variables)
    command = [sys.executable, *arguments, "-c", code]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd or PACKAGES, env=environment
    )

    def wait():
        with process:
            try:
                out, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    return wait


def run_python(code, **options):
    """The finished process of code; folders in path come before the packages under test."""
    return start_python(code, **options)()


def output_of(code, **options):
    """What code prints; fails with its errors when it does not end with exit code 0."""
    done = run_python(code, **options)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
