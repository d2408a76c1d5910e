# SPDX-License-Identifier: Apache-2.0
"""docs/environment.md names each environment variable that the sources read, and no other."""

import ast
import re
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import run_python

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("bench", "csrc", "examples", "npu_backend", "op_extension", "test", "tools")
#: The only file that reads variables whose names it is given.
READS_BY_NAME = ROOT / "csrc" / "runtime" / "environment.cpp"
#: What every program reads, and what another program does.
OF_THE_SYSTEM = {"PATH", "HOME"}
OF_TORCH = {"TORCH_DEVICE_BACKEND_AUTOLOAD"}


def files(*suffixes: str) -> Iterator[Path]:
    """The sources with these suffixes."""
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes)
    yield from (path for path in sorted(ROOT.iterdir()) if path.suffix in suffixes)


def is_environ(node: ast.AST) -> bool:
    """Whether node is ``os.environ``."""
    return isinstance(node, ast.Attribute) and node.attr == "environ"


def key_of(node: ast.AST) -> ast.AST | None:
    """What a node asks ``os.environ`` for."""
    if isinstance(node, ast.Subscript) and is_environ(node.value) and isinstance(node.ctx, ast.Load):
        return node.slice
    if isinstance(node, ast.Compare) and is_environ(node.comparators[0]):
        return node.left
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        asks_environ = is_environ(node.func.value) and node.func.attr in {"get", "pop", "setdefault"}
        return node.args[0] if asks_environ or node.func.attr == "getenv" else None
    return None


def read_in_python() -> set[str]:
    """Names that Python sources read."""
    names = set()
    for path in files(".py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            key = key_of(node)
            if isinstance(key, ast.Constant):
                names.add(key.value)
            elif key is not None:
                raise AssertionError(f"{path}:{node.lineno}: expected the name of a variable, got {ast.unparse(key)}")
    return names


def read_in_cpp() -> set[str]:
    """Names that C and C++ sources read."""
    names = set()
    for path in files(".c", ".cpp", ".h", ".hpp"):
        text = path.read_text(encoding="utf-8")
        if path == READS_BY_NAME:
            names |= set(re.findall(r'"([A-Z]+_[A-Z_]+)"', text))
            continue
        for argument in re.findall(r"\bgetenv\(([^)]*)\)", text):
            if not re.fullmatch(r'"\w+"', argument):
                raise AssertionError(f"{path}: expected the name of a variable in getenv, got {argument}")
            names.add(argument.strip('"'))
    return names


def read_in_scripts() -> set[str]:
    """Names that the Makefile, shell scripts and CMake read."""
    names = set(re.findall(r"^(\w+) \?=", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for path in files(".sh", ".cmake", ".txt"):
        found = re.finditer(r"\$\{([A-Z_]+):?-|\$ENV\{(\w+)\}", path.read_text(encoding="utf-8"))
        names |= {match[1] or match[2] for match in found}
    return names


def documented() -> set[str]:
    """Names in the first column of the page."""
    return set(
        re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "environment.md").read_text(encoding="utf-8"), re.MULTILINE)
    )


class EnvironmentPageTest(unittest.TestCase):
    def test_names_each_variable_that_is_read_and_no_other(self):
        read = read_in_python() | read_in_cpp() | read_in_scripts()
        self.assertEqual(documented(), (read - OF_THE_SYSTEM) | OF_TORCH)

    def test_the_search_finds_all_ways_of_reading(self):
        self.assertLessEqual({"CXX", "NPU_CACHE_DIR", "NPU_TEST_WHEEL"}, read_in_python())
        self.assertLessEqual({"NPU_SOC", "NPU_CHECK", "ASCEND_LAUNCH_BLOCKING", "NPU_ISA_LEVEL"}, read_in_cpp())
        self.assertLessEqual({"PYTHON", "JOBS", "CXX"}, read_in_scripts())

    def test_shows_the_sentence_of_a_wrong_value(self):
        code = "import torch, npu_backend; torch.ones(1, device='npu')"
        done = run_python(code, NPU_CHECK="all", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        self.assertEqual(done.returncode, 1)
        sentence = "NPU_CHECK: expected one of off, limits, hazards, got all"
        self.assertIn(sentence, done.stderr)
        self.assertIn(sentence, " ".join((ROOT / "docs" / "environment.md").read_text(encoding="utf-8").split()))


if __name__ == "__main__":
    unittest.main()
