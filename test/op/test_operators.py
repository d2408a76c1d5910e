# SPDX-License-Identifier: Apache-2.0
"""What holds for the list of operators: each is documented, and the page says what ops.py says."""

import inspect
import sys
import unittest
from pathlib import Path

import torch

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from op_extension import ops
from tools import operators


class OperatorsTest(unittest.TestCase):
    """op_extension.ops and docs/operators.md."""

    def test_each_operator_is_documented_or_a_way_back(self) -> None:
        schemas = torch._C._jit_get_all_schemas()
        names = {schema.name.removeprefix("npu::") for schema in schemas if schema.name.startswith("npu::")}
        ways_back = {name for name in names if "_backward" in name}
        self.assertEqual(names - ways_back, set(ops.__all__))
        for name in ways_back:
            self.assertIn(name.split("_backward")[0], ops.__all__)

    def test_docstrings_state_arguments_results_errors_memory_and_source(self) -> None:
        for name in ops.__all__:
            text = inspect.getdoc(getattr(ops, name))
            for part in ("Args:", "Returns:", "Raises:", "Source:" if name != "sum_to" else "gradient", "stream"):
                self.assertIn(part, text, name)

    def test_page_is_fresh(self) -> None:
        self.assertEqual(operators.PAGE.read_text(encoding="utf-8"), operators.page(), "run python -m tools.operators")


if __name__ == "__main__":
    unittest.main()
