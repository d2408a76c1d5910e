# SPDX-License-Identifier: Apache-2.0
"""What bisheng does of commands, files and an environment that are wrong, and when it is told to stop."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.compat.driver import COMMAND, bisheng, heed_interrupts


class BadInputTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_words_and_files_that_it_cannot_take_are_one_sentence(self):
        (self.folder / "open").write_text("-O2 'a")
        (self.folder / "itself").write_text("@itself @itself")
        for words, sentence in (
            (["@open"], "bisheng: expected words in @open, got: No closing quotation\n"),
            (
                ["@itself"],
                "bisheng: expected at most 1000 files of words, got @itself, which may name itself\n",
            ),
            (
                ["--npu-launch-headers"],
                "bisheng: expected a folder behind --npu-launch-headers, got the end of the command\n",
            ),
        ):
            self.assertEqual(bisheng(*words, cwd=self.folder, code=1).stderr, sentence)

    def test_takes_words_that_are_not_utf8(self):
        (self.folder / "words").write_bytes(b"-c -DX='\xe9' host.cpp -o host.o\n")
        (self.folder / "host.cpp").write_text("int x;\n")
        bisheng("@words", cwd=self.folder)
        self.assertTrue((self.folder / "host.o").is_file())

    def test_variables_that_it_cannot_take_are_one_sentence(self):
        (self.folder / "k.cpp").write_text("int x;\n")
        for name, value, sentence in (
            ("NPU_ISA_LEVEL", "foo", r"\ANPU_ISA_LEVEL: expected .* on this machine, got foo\n\Z"),
            ("CXX", "g++ 'x", r"\ACXX: expected the command of a compiler, got .* \(No closing quotation\)\n\Z"),
        ):
            done = subprocess.run(
                [*COMMAND, "-xcce", "-c", "k.cpp"],
                cwd=self.folder,
                env={**os.environ, name: value},
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, sentence)

    def test_ends_at_a_signal_and_leaves_nothing(self):
        compiler, started = self.folder / "compiler", self.folder / "started"
        compiler.write_text(f"#!/bin/sh\ntouch {started}\nexec sleep 600\n")
        compiler.chmod(0o755)
        (self.folder / "host.cpp").write_text("int x;\n")
        environment = {**os.environ, "CXX": str(compiler), "TMPDIR": str(self.folder)}
        for number in (signal.SIGINT, signal.SIGTERM):
            command = [*COMMAND, "-c", "host.cpp"]
            with subprocess.Popen(
                command, cwd=self.folder, env=environment, stderr=subprocess.PIPE, preexec_fn=heed_interrupts
            ) as process:
                while not started.is_file():
                    self.assertIsNone(process.poll())
                    time.sleep(0.01)  # the compiler says that it runs by a file
                process.send_signal(number)
                _, said = process.communicate(timeout=60)
            self.assertEqual((process.returncode, said), (128 + number, b""))
            self.assertEqual(list(self.folder.glob("bisheng-*")), [])
            started.unlink()

    def test_a_compiler_that_is_just_being_started_ends_too(self):
        compiler = self.folder / "compiler"
        (self.folder / "host.cpp").write_text("int x;\n")
        for number in (signal.SIGINT, signal.SIGTERM) * 5:
            compiler.write_text(f"#!/bin/sh\nkill -{number:d} $PPID\nexec sleep 600\n")
            compiler.chmod(0o755)
            with subprocess.Popen(
                [*COMMAND, "-c", "host.cpp"],
                cwd=self.folder,
                env={**os.environ, "CXX": str(compiler)},
                stderr=subprocess.PIPE,
                preexec_fn=heed_interrupts,
            ) as process:
                _, said = process.communicate(timeout=60)  # until nobody has it open
            self.assertEqual((process.returncode, said), (128 + number, b""))


if __name__ == "__main__":
    unittest.main()
