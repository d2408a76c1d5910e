# SPDX-License-Identifier: Apache-2.0
"""What tests of compiled kernels share: sources, and one cache folder per run, so that nothing is compiled twice."""

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import op_extension

ROOT = Path(__file__).resolve().parents[2]
KERNELS = Path(__file__).resolve().parent / "kernels"


@functools.cache
def cache_folder() -> Path:
    """The folder, removed at the end of the process."""
    folder = Path(tempfile.mkdtemp(prefix="kernel_cache_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def load(file: str, entry: str, **options) -> op_extension.kernel.Kernel:
    """A kernel of the folder kernels/."""
    return op_extension.kernel.load(KERNELS / file, entry=entry, **options)


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a new process."""
    return start_python(code, **environment)()


def start_python(code: str, **environment: str):
    """Starts code in a new process; the result waits for it and returns what it wrote."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )

    def wait() -> subprocess.CompletedProcess[str]:
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    return wait


class KernelTest(unittest.TestCase):
    """A test whose kernels are compiled into the folder of the run."""

    def setUp(self):
        before = os.environ.get("NPU_CACHE_DIR")
        os.environ["NPU_CACHE_DIR"] = str(cache_folder())
        self.addCleanup(self._restore, before)

    @staticmethod
    def _restore(before):
        if before is None:
            os.environ.pop("NPU_CACHE_DIR")
        else:
            os.environ["NPU_CACHE_DIR"] = before

    def folder(self) -> Path:
        """A folder that is removed after the test."""
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def source(self, text: str, name: str = "k.cpp") -> Path:
        """A file with a kernel."""
        path = self.folder() / name
        path.write_text(text)
        return path
