# SPDX-License-Identifier: Apache-2.0
"""examples/my_pto_ops, the listings of PTO's guide as a package, is built against the installed wheel and works."""

import os
import shutil
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.packaging.environment import ROOT, clean_variables, installed, last_line, run, succeed

TEMPLATE = ROOT / "examples" / "my_pto_ops"


class MyPtoOpsTest(unittest.TestCase):
    """``python setup.py install`` of a copy of the folder, once for all."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.sources = Path(folder.name, "my_pto_ops")
        built = shutil.ignore_patterns("build", "dist", "*.egg-info", "*.so", "__pycache__")
        shutil.copytree(TEMPLATE, cls.sources, ignore=built)
        path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])  # ninja is there
        cls.variables = clean_variables(PATH=path, MAX_JOBS="2")
        succeed([installed().python, "setup.py", "install"], cwd=cls.sources, env=cls.variables)

    def test_passes_its_own_test(self) -> None:
        done = run([installed().python, "-m", "unittest"], cwd=self.sources / "test")
        self.assertRegex(done.stderr, r"\nRan 1\d tests in .*\n\nOK\n$")

    def test_benchmark_prints_a_line_for_each_pair(self) -> None:
        printed = succeed([installed().python, "benchmark.py"], cwd=self.sources)
        time = r"\d+\.\d{3} ms"
        line = rf": custom op {time}, built-in {time}, speedup \d+\.\d\dx\n"
        self.assertRegex(printed, f"^add{line}add and relu{line}$")

    def test_an_operator_of_torch_library_is_made_of_it(self) -> None:
        self.assertEqual(succeed([installed().python, "library_op.py"], cwd=self.sources), "True True\n")

    def test_is_called_as_the_guide_does(self) -> None:
        python = str(installed().python)
        command = [python, "-m", "op_extension.cli", "run", python, "use.py"]
        self.assertEqual(last_line(succeed(command, cwd=self.sources)), "Custom op works correctly!")

    def test_two_packages_with_one_operator_get_a_sentence(self) -> None:
        done = installed().run("import op_extension, my_pto_ops")
        sentence = "ImportError: my_pto_ops: expected the name npu::my_add to be free, got it taken; "
        self.assertEqual(done.returncode, 1)
        self.assertIn(sentence, last_line(done.stderr))
        done = installed().run("import torch, my_pto_ops, op_extension")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(last_line(done.stderr), r"^ImportError: .*expected the operator name npu::")


if __name__ == "__main__":
    unittest.main()
