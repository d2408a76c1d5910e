# SPDX-License-Identifier: Apache-2.0
"""Every way of installing from a copy of the sources; takes minutes: `make test-packaging`."""

import shutil
import subprocess
import sys
import sysconfig
import unittest

from test.packaging.environment import (
    ADD,
    ROOT,
    Environment,
    clean_variables,
    run,
    scratch,
    succeed,
)


class InstallWaysTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Copies what git tracks, so that nothing built is taken along."""
        cls.sources = scratch() / "sources"
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
        for name in tracked.stdout.decode().split("\0"):
            if name:
                target = cls.sources / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target)

    def assert_adds(self, environment, **variables):
        done = environment.run(ADD, **variables)
        self.assertEqual((done.returncode, done.stdout), (0, "[2.0, 2.0, 2.0]\n"), done.stderr)

    def test_setup_py_install(self):
        environment = Environment("setup_py_install")
        succeed([environment.python, "setup.py", "install"], cwd=self.sources)
        self.assert_adds(environment)

    def test_setup_py_bdist_wheel(self):
        environment = Environment("setup_py_bdist_wheel")
        succeed([environment.python, "setup.py", "bdist_wheel"], cwd=self.sources)
        (wheel,) = self.sources.glob("dist/*.whl")
        environment.install(wheel)
        self.assert_adds(environment)

    def test_pip_install(self):
        environment = Environment("pip_install")
        environment.install("--no-build-isolation", str(self.sources))
        self.assert_adds(environment)

    def test_pip_install_editable(self):
        environment = Environment("pip_install_editable")
        environment.install("--no-build-isolation", "--editable", str(self.sources))
        self.assert_adds(environment)

    def test_pip_install_with_isolation_ends_with_advice(self):
        done = Environment("isolated").pip("install", str(self.sources))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("op_extension: expected torch in the environment", done.stdout + done.stderr)

    def test_cmake(self):
        environment = Environment("cmake")
        tree = scratch() / "cmake_sources"
        shutil.copytree(self.sources, tree, ignore=shutil.ignore_patterns("build", "dist", "lib"))
        path = f"{sysconfig.get_path('scripts')}:/usr/local/bin:/usr/bin:/bin"
        variables = clean_variables(PATH=path)
        succeed(["cmake", "-S", ".", "-B", "build"], cwd=tree, env=variables)
        succeed(["cmake", "--build", "build", "--parallel", "2"], cwd=tree, env=variables)
        done = run([sys.executable, "-c", ADD], cwd=tree, env=clean_variables())
        self.assertEqual((done.returncode, done.stdout), (0, "[2.0, 2.0, 2.0]\n"), done.stderr)
        self.assert_adds(environment, PYTHONPATH=str(tree))


if __name__ == "__main__":
    unittest.main()
