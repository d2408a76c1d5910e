# SPDX-License-Identifier: Apache-2.0
"""op_extension[compat]: ``import torch_npu`` works, and an original that is installed stays the one that is found."""

import functools
import shutil
import sys
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.packaging.environment import ROOT, Environment, clean_variables, scratch, succeed, wheel

ADD = "import torch_npu, torch; x = torch.ones(2).npu(); print((x + x).tolist(), torch_npu.__file__)"


@functools.cache
def extra():
    """Folder with the wheel that the extra asks for."""
    folder = scratch() / "wheel_of_the_extra"
    folder.mkdir()
    command = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", folder]
    command += ["build", "--build-base", folder / "build", "bdist_wheel", "--dist-dir", folder]
    succeed(command, cwd=ROOT / "tools" / "compat_extra", env=clean_variables())
    return folder


class ExtraTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.environment = Environment("extra")
        cls.environment.install(f"{wheel()}[compat]", "--find-links", extra())

    def test_torch_npu_works_without_a_run(self):
        done = self.environment.run(ADD)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^\[2.0, 2.0\] .*/op_extension/compat/torch_npu/__init__.py\n$")

    def test_it_is_the_device_alone_so_that_another_op_extension_may_be_imported(self):
        other = self.environment.folder / "other"
        (other / "op_extension").mkdir(parents=True)
        (other / "op_extension" / "__init__.py").write_text("import torch_npu\nname = 'another'\n", encoding="utf-8")
        done = self.environment.run("import op_extension; print(op_extension.name)", folder=other)
        self.assertEqual((done.stdout, done.stderr), ("another\n", ""))

    def test_an_original_is_found_first_and_named(self):
        original = self.environment.site_packages / "torch_npu"
        original.mkdir()
        try:
            (original / "__init__.py").write_text("name = 'original'\n", encoding="utf-8")
            done = self.environment.run("import torch_npu; print(torch_npu.name)")
            self.assertEqual(done.stdout, "original\n")
            done = self.environment.run("import op_extension")
            self.assertRegex(
                done.stderr, r"ImportError: npu_backend: expected to be the only package for the device npu"
            )
        finally:
            shutil.rmtree(original)


if __name__ == "__main__":
    unittest.main()
