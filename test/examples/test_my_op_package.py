# SPDX-License-Identifier: Apache-2.0
"""examples/my_op_package, a package of a user's own, is built against the installed wheel and works."""

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

TEMPLATE = ROOT / "examples" / "my_op_package"
CALL = """
import my_op_package, torch
x, y = torch.arange(5000.0, device="npu"), torch.ones(5000, device="npu")
z = torch.ops.my_ops.scaled_add(x, y, 0.5)
print(z.device, torch.equal(z.cpu(), torch.arange(5000.0) + 0.5))
"""
REFUSED = "import my_op_package, torch; x = torch.ones(2, device='npu'); my_op_package.scaled_add(x, x.half(), 1.0)"


class MyOpPackageTest(unittest.TestCase):
    """``pip install --no-build-isolation .`` and ``python setup.py install`` of a copy of the folder."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.sources = Path(folder.name, "my_op_package")
        built = shutil.ignore_patterns("build", "dist", "*.egg-info", "*.so", "__pycache__")
        shutil.copytree(TEMPLATE, cls.sources, ignore=built)
        path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])  # ninja is there
        cls.variables = clean_variables(PATH=path, MAX_JOBS="2")

    def check_calls(self) -> None:
        done = installed().run(CALL)
        self.assertEqual((done.returncode, done.stdout), (0, "npu:0 True\n"), done.stderr)
        done = installed().run(REFUSED)
        sentence = "TypeError: my_ops::scaled_add: expected y of dtype Float, got Half"
        self.assertEqual((done.returncode, last_line(done.stderr)), (1, sentence))

    def test_installs_both_ways_and_passes_its_own_test(self) -> None:
        environment = installed()
        environment.install("--no-build-isolation", str(self.sources), env=self.variables)
        self.check_calls()
        done = run([environment.python, "-m", "unittest"], cwd=self.sources / "test")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\nRan [7-9] tests in .*\n\nOK\n$")
        environment.pip("uninstall", "--yes", "my_op_package")
        self.assertNotEqual(environment.run(CALL).returncode, 0)
        succeed([environment.python, "setup.py", "install"], cwd=self.sources, env=self.variables)
        self.check_calls()


if __name__ == "__main__":
    unittest.main()
