# SPDX-License-Identifier: Apache-2.0
"""``python -m unittest`` finds every test of the tree: a folder that is no package would be passed over in silence."""

import ast
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def written_tests() -> set[str]:
    """Names of all test methods in the files of this folder, by their source."""
    names = set()
    for path in sorted((ROOT / "test").rglob("test*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                methods = [m for m in node.body if isinstance(m, ast.FunctionDef) and m.name.startswith("test")]
                names |= {f"{module}.{node.name}.{method.name}" for method in methods}
    return names


def found_tests(suite: unittest.TestSuite) -> set[str]:
    """Names of the tests that unittest's discovery finds, but for those that a class inherits."""
    names = set()
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            names |= found_tests(test)
        elif test._testMethodName in vars(type(test)):
            names.add(test.id())
    return names


class CollectionTest(unittest.TestCase):
    """Discovery from the project's root."""

    def test_unittest_finds_every_test_that_is_written(self) -> None:
        found = found_tests(unittest.TestLoader().discover(str(ROOT), top_level_dir=str(ROOT)))
        self.assertEqual(found, written_tests())
        self.assertGreater(len(found), 50)


if __name__ == "__main__":
    unittest.main()
