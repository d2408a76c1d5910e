# SPDX-License-Identifier: Apache-2.0
"""How a compiler is ended that nobody waits for any more."""

import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from op_extension.errors import CompileError
from op_extension.jit import toolchain


def _ends(pid: int) -> bool:
    """Whether the process, which has been sent a signal, ends or is only waited for."""
    for _ in range(600):
        try:
            if " Z " in Path(f"/proc/{pid}/stat").read_text():
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)  # the system delivers signals when it comes to it
    return False


class CompilerEndsTest(unittest.TestCase):
    def test_an_interrupt_stays_one_when_the_compiler_ends_at_that_moment(self) -> None:
        def interrupted(process: subprocess.Popen[str], *_args: object, **_named: object) -> None:
            process.wait()
            raise KeyboardInterrupt

        with mock.patch.object(subprocess.Popen, "communicate", interrupted), self.assertRaises(KeyboardInterrupt):
            toolchain.run(["true"])

    def test_it_may_remove_its_files_before_it_is_killed(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(toolchain, "_SECONDS", 1.0):
            file = Path(folder, "made")
            script = f"trap 'rm {file}; exit 1' TERM; touch {file}; while :; do sleep 0.05; done"
            with self.assertRaisesRegex(CompileError, "expected sh to end within 1 s, got no end"):
                toolchain.run(["sh", "-c", script])
            self.assertFalse(file.exists())

    def test_one_that_does_not_heed_is_killed_with_what_it_started(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(toolchain, "_SECONDS", 1.0):
            file = Path(folder, "pid")
            with self.assertRaisesRegex(CompileError, "expected sh to end"):
                toolchain.run(["sh", "-c", f"trap '' TERM; sleep 60 & echo $! > {file}; wait"])
            self.assertTrue(_ends(int(file.read_text())))


if __name__ == "__main__":
    unittest.main()
