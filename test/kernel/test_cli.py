# SPDX-License-Identifier: Apache-2.0
"""The command op-extension: cache and doctor."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from op_extension import cli
from op_extension.jit.cache import Cache

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.docs.page import ROOT
from test.host.python_process import PACKAGES
from test.kernel.kernels_of_test import KernelTest


class CommandTest(KernelTest):
    def run_command(self, *arguments):
        """Exit code and output."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = cli.main(arguments)
        return code, out.getvalue()


class CacheCommandTest(CommandTest):
    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(os.environ, {"NPU_CACHE_DIR": str(self.folder())})
        patch.start()
        self.addCleanup(patch.stop)
        cache = Cache()
        library = cache.root / "work" / "built.so"
        library.write_bytes(b"x" * 2048)
        about = {"source": "/somewhere/add.cpp", "entry": "add", "core": "vector", "level": "x86-64-v3"}
        cache.store("key", library, [], about)

    def test_lists_kernels_with_their_sources(self):
        code, text = self.run_command("cache")
        self.assertEqual(code, 0)
        self.assertRegex(text, r"2\.\d KiB +add \(vector, x86-64-v3\) of /somewhere/add.cpp\n")
        self.assertIn(f"in {os.environ['NPU_CACHE_DIR']}", text)

    def test_gives_the_size_in_bytes(self):
        code, text = self.run_command("cache", "size")
        self.assertEqual((code, int(text)), (0, Cache().size()))
        self.assertGreater(int(text), 2048)

    def test_clears(self):
        code, text = self.run_command("cache", "clear")
        self.assertRegex(text, r"2\.\d KiB removed from ")
        self.assertEqual((code, list(Cache().entries()), Cache().size()), (0, [], 0))

    def test_names_an_action_that_is_none(self):
        with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit):
            cli.main(["cache", "burn"])
        self.assertIn("invalid choice: 'burn'", err.getvalue())


class VersionTest(unittest.TestCase):
    def test_is_that_of_the_package(self):
        with contextlib.redirect_stdout(io.StringIO()) as out, self.assertRaises(SystemExit) as end:
            cli.main(["--version"])
        self.assertEqual((out.getvalue(), end.exception.code), (f"op-extension {cli.__version__}\n", 0))


class HelpTest(unittest.TestCase):
    def help_of(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out, self.assertRaises(SystemExit) as end:
            cli.main([*arguments, "--help"])
        self.assertEqual(end.exception.code, 0)
        return out.getvalue()

    def test_says_what_a_command_is(self):
        for subcommand in ("run", "check"):
            self.assertRegex(self.help_of(subcommand), r"COMMAND \[ARGUMENT\.\.\.\]\s+a program and its arguments")

    def test_the_readme_lists_all_subcommands(self):
        (names,) = re.findall(r"^  \{(.*)\}$", self.help_of(), re.MULTILINE)
        section = (ROOT / "README.md").read_text().partition("## The command `op-extension`")[2].partition("\n## ")[0]
        listed = re.findall(r"^\| `(\w+)[^`]*` \|", section, re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(names.split(",")))


class DoctorTest(CommandTest):
    def test_says_what_is_found_and_built_for_what(self):
        code, text = self.run_command("doctor")
        self.assertEqual(code, 0, text)
        for line in (
            r"ok +torch: 2\.\d+.*; the libraries were built for 2\.",
            r"ok +device npu: \d+ devices, Ascend",
            r"ok +kernels built ahead of time: \S",
            r"ok +headers: /",
            r"ok +compiler: .*\d+\.\d+",
            r"ok +cache: \d+ kernels",
        ):
            self.assertRegex(text, line)

    def test_says_what_is_missing(self):
        with mock.patch.dict(os.environ, {"CXX": "no-such-compiler"}):
            code, text = self.run_command("doctor")
        self.assertEqual(code, 1)
        self.assertRegex(text, r"NOT OK +compiler: .*expected a C\+\+ compiler")

    def test_says_what_is_no_compiler(self):
        with mock.patch.dict(os.environ, {"CXX": "/bin/true"}):
            code, text = self.run_command("doctor")
        self.assertEqual(code, 1)
        self.assertRegex(text, r"NOT OK +compiler: expected a C\+\+ compiler in CXX, got: ")

    def test_works_where_the_libraries_do_not_load(self):
        folder = self.folder()
        for package in ("op_extension", "npu_backend"):
            ignored = shutil.ignore_patterns("lib", "include", "__pycache__", "*.so")
            shutil.copytree(PACKAGES / package, folder / package, ignore=ignored)
        script = folder / "op-extension"
        script.write_text("import sys; from op_extension.cli import main; sys.exit(main())")
        variables = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
        done = subprocess.run(
            [sys.executable, script, "doctor"], env=variables, capture_output=True, text=True, timeout=300, check=False
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"NOT OK +libop_extension.so: expected .*, got no such file")
        self.assertRegex(done.stdout, r"NOT OK +device npu: ")


if __name__ == "__main__":
    unittest.main()
