# SPDX-License-Identifier: Apache-2.0
"""Builds op_extension_compat, which the extra ``compat`` of op_extension installs beside it.

An extra of a wheel can only ask for further distributions. This one holds no package: a ``.pth`` file adds a finder of
modules behind all others, which finds op_extension's torch_npu where no other is installed. So nothing of an original
is overwritten or hidden, whichever is installed first.
"""

import re
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULE = "op_extension_stand_in"


class WithModule(Distribution):
    """A distribution that has modules, though none that setuptools knows of."""

    def has_pure_modules(self) -> bool:
        """So that they are built."""
        return True


class BuildModule(build_py):
    """Adds the file that Python reads when it starts."""

    def run(self) -> None:
        """Copies the module, which a run uses too, and writes the file that imports it."""
        super().run()
        folder = Path(self.build_lib)
        folder.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(ROOT / "op_extension" / "compat" / "startup" / f"{MODULE}.py"), str(folder))
        (folder / "op_extension_compat.pth").write_text(f"import {MODULE}\n", encoding="utf-8")


def version() -> str:
    """That of op_extension."""
    text = (ROOT / "op_extension" / "_version.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "([^"]+)"', text)
    assert found is not None
    return found[1]


setup(
    name="op_extension_compat",
    version=version(),
    description="torch_npu of op_extension for programs that import it; installed by op_extension[compat]",
    license="Apache-2.0",
    python_requires=">=3.11",
    py_modules=[],
    distclass=WithModule,
    cmdclass={"build_py": BuildModule},
    install_requires=[f"op_extension=={version()}"],
)
