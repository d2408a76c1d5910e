# SPDX-License-Identifier: Apache-2.0
"""What tests of compiled kernels share: sources, and one cache folder per run, so that nothing is compiled twice."""

import atexit
import functools
import os
import shutil
import tempfile
import unittest
from pathlib import Path

import op_extension

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
