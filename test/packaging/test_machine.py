# SPDX-License-Identifier: Apache-2.0
"""What `make` asks of the machine."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.packaging.environment import ROOT


def check_machine(compiler):
    """The script's answer with another compiler."""
    command = ["sh", ROOT / "tools" / "check_machine.sh", sys.executable]
    return subprocess.run(command, env={**os.environ, "CXX": compiler}, capture_output=True, text=True, check=False)


class AnswerTest(unittest.TestCase):
    def answer(self, *arguments):
        command = ["sh", ROOT / "tools" / "check_machine.sh", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_a_python_without_an_answer_is_named(self):
        self.assertIn("expected Python 3.11", self.answer("/bin/false").stderr)
        self.assertIn("got no answer from /bin/false;", self.answer("/bin/false").stderr)

    def test_a_number_of_jobs_that_is_none_is_named(self):
        for jobs in ("abc", "0", "-1", ""):
            done = self.answer(sys.executable, jobs)
            sentence = f"make: expected a number of at least 1 as JOBS, got {jobs}\n"
            self.assertEqual((done.returncode, done.stderr), (1, sentence))
        self.assertEqual(self.answer(sys.executable, "12").returncode, 0)


class FirstTimeTest(unittest.TestCase):
    def test_says_before_it_installs_that_it_takes_minutes(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        for target in ("demo", "test"):
            with self.subTest(target), tempfile.TemporaryDirectory() as folder:
                command = ["make", "--dry-run", "-C", ROOT, target, f"VENV={folder}/venv"]
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                self.assertRegex(done.stdout.partition("pip install")[0], "the first time takes minutes")


class CompilerTest(unittest.TestCase):
    def test_one_that_lacks_what_the_headers_use_is_named(self):
        for lacking in ("_Float16", "__builtin_shufflevector", "constinit"):
            with self.subTest(lacking), tempfile.TemporaryDirectory() as folder:
                compiler = Path(folder, "old-g++")
                answer = "[ $1 = --version ] && echo old-g++ 11 && exit"
                compiler.write_text(f"#!/bin/sh\n{answer}\ncase $(cat) in *{lacking}*) exit 1;; esac\n")
                compiler.chmod(0o755)
                done = check_machine(str(compiler))
                self.assertEqual(done.returncode, 1)
                self.assertIn("expected a C++20 compiler (g++ 12 or newer), got old-g++ 11;", done.stderr)

    def test_the_one_that_builds_passes(self):
        done = check_machine(os.environ.get("CXX", "g++"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
