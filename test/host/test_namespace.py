# SPDX-License-Identifier: Apache-2.0
"""Trial 29: the namespace ``npu`` and the libraries, met twice. Second copies of a library: test_process.py."""

import sys
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import output_of

ADD = "print(torch.ops.npu.my_add(torch.ones(2).npu(), torch.ones(2).npu()).tolist())"


class NamespaceTest(unittest.TestCase):
    def check(self, code, *lines):
        output = output_of(f"import torch, op_extension\n{code}\n{ADD}", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        self.assertEqual(output.splitlines(), [*lines, "[2.0, 2.0]"])

    def test_loading_the_library_again_changes_nothing(self):
        self.check("for _ in range(3): torch.ops.load_library(op_extension.library_path())")

    def test_reloading_the_package_changes_nothing(self):
        self.check("import importlib\nimportlib.reload(op_extension)\nimportlib.reload(op_extension.ops)")

    def test_others_may_add_operators_to_the_namespace(self):
        self.check(
            "other = torch.library.Library('npu', 'FRAGMENT')\n"
            "other.define('twice(Tensor x) -> Tensor')\n"
            "other.impl('twice', lambda x: x * 2, 'PrivateUse1')\n"
            "print(torch.ops.npu.twice(torch.ones(1).npu()).tolist())",
            "[2.0]",
        )

    def test_another_definition_of_a_name_is_an_exception(self):
        self.check(
            "try:\n"
            "    torch.library.Library('npu', 'FRAGMENT').define('my_add(Tensor x) -> Tensor')\n"
            "except RuntimeError as error:\n"
            "    print('my_add' in str(error))",
            "True",
        )

    def test_a_name_that_is_taken_when_the_package_comes_is_an_import_error(self):
        output = output_of(
            "import torch\n"
            "other = torch.library.Library('npu', 'FRAGMENT')\n"
            "other.define('my_add(Tensor x) -> Tensor')\n"
            "try:\n"
            "    import op_extension\n"
            "except ImportError as error:\n"
            "    print(error)\n"
            "print((torch.ones(2, device='npu') + 1).tolist())",
            TORCH_DEVICE_BACKEND_AUTOLOAD="0",
        )
        self.assertRegex(output, r"expected the operator name npu::my_add to be free[^\n]*\n\[2.0, 2.0\]")


if __name__ == "__main__":
    unittest.main()
