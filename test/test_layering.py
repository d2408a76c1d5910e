# SPDX-License-Identifier: Apache-2.0
"""Arrows between rooms point down only, and every file keeps the rules for files."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tools import file_rules, layering  # noqa: E402

FOLDERS = ("csrc", "op_extension", "npu_backend", "test", "bench", "examples", "tools")
NOT_OURS = {"__pycache__", "lib"}


def files_of_repository():
    """Files in the folders above that a commit would hold."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not NOT_OURS.intersection(path.relative_to(ROOT).parts):
                yield path
    yield from (path for path in sorted(ROOT.iterdir()) if path.is_file())


class RepositoryTest(unittest.TestCase):
    def test_arrows_point_down(self):
        self.assertGreater(len(list(layering.source_files(ROOT))), 10)
        self.assertEqual(layering.broken_arrows(ROOT), [])

    def test_files_have_a_licence_line_a_name_and_at_most_400_lines(self):
        files = list(files_of_repository())
        self.assertGreater(sum(map(file_rules.is_code, files)), 20)
        self.assertEqual([s for path in files for s in file_rules.broken_rules(path)], [])


class PlantedTest(unittest.TestCase):
    """Each rule finds a breach that is planted in a tree of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        for name in (
            "csrc/include/npu/core.hpp",
            "csrc/include/npu/kernel.h",
            "csrc/include/pto/pto-inst.hpp",
            "csrc/include/compat/device/kernel_operator.h",
            "csrc/observe/hazard_checker.hpp",
            "csrc/runtime/npu_runtime.h",
            "csrc/runtime/stream.hpp",
            "csrc/kernel/add.hpp",
            "csrc/op/add.hpp",
            "csrc/host/view.hpp",
        ):
            self.plant(name, "")
        self.assertEqual(layering.broken_arrows(self.root), [])

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def assert_found(self, name, text, sentence):
        self.plant(name, text)
        self.assertRegex("\n".join(layering.broken_arrows(self.root)), sentence)

    def assert_clean(self, name, text):
        self.plant(name, text)
        self.assertEqual(layering.broken_arrows(self.root), [])

    def test_each_room_may_include_what_lies_below(self):
        self.assert_clean("csrc/kernel/a.cpp", '#include "pto/pto-inst.hpp"\n#include <kernel_operator.h>\n')
        self.assert_clean("csrc/op/a.cpp", '#include "npu_runtime.h"\n#include "npu/kernel.h"\n')
        self.assert_clean("csrc/host/a.cpp", '#include <ATen/ATen.h>\n#include "op/add.hpp"\n#include <vector>\n')
        self.assert_clean("csrc/runtime/a.cpp", '#include "observe/hazard_checker.hpp"\n#include "stream.hpp"\n')

    def test_an_include_that_points_up_is_found(self):
        for name, line, sentence in (
            ("csrc/include/npu/a.hpp", '#include "pto/pto-inst.hpp"', "expected npu to include"),
            (
                "csrc/include/pto/a.hpp",
                '#include "../../runtime/stream.hpp"',
                "expected pto to include",
            ),
            (
                "csrc/include/npu/b.hpp",
                '#include "observe/hazard_checker.hpp"',
                "expected npu to include",
            ),
            (
                "csrc/observe/a.cpp",
                '#  include "runtime/stream.hpp"',
                "expected observe to include",
            ),
            ("csrc/kernel/a.cpp", '#include "npu/core.hpp"', "expected kernel to include"),
            ("csrc/kernel/b.cpp", '#include "op/add.hpp"', "expected kernel to include"),
            ("csrc/op/a.cpp", '#include "kernel/add.hpp"', "expected op to include"),
            ("csrc/op/b.cpp", '#include "stream.hpp"', "expected op to include"),
            ("csrc/host/a.cpp", '#include "runtime/stream.hpp"', "expected host to include"),
            ("csrc/host/b.cpp", '#include "pto/pto-inst.hpp"', "expected host to include"),
        ):
            with self.subTest(name=name):
                self.assert_found(name, f"{line}\n", f"{name}: {sentence}")
                (self.root / name).unlink()

    def test_a_framework_below_the_host_is_found(self):
        for room in ("include/npu", "include/pto", "observe", "runtime", "kernel", "op"):
            for header in (
                "torch/torch.h",
                "ATen/ATen.h",
                "c10/core/Device.h",
                "Python.h",
                "pybind11/pybind11.h",
            ):
                with self.subTest(room=room, header=header):
                    name = f"csrc/{room}/planted.cpp"
                    self.assert_found(name, f"#include <{header}>\n", f"{name}: expected no ")
                    (self.root / name).unlink()

    def test_a_header_that_nobody_has_is_found(self):
        self.assert_found("csrc/op/a.cpp", '#include "op/gone.hpp"\n', "expected a header of this repository")

    def test_a_file_outside_the_rooms_is_found(self):
        self.assert_found("csrc/attic/a.cpp", "", "csrc/attic/a.cpp: expected a file in one of the rooms")

    def test_a_checker_named_in_include_is_found(self):
        self.assert_found("csrc/include/npu/a.hpp", "class HazardChecker;\n", "got HazardChecker")
        self.assert_found("csrc/include/pto/a.hpp", "// for hazard_checker\n", "got hazard_checker")

    def test_a_python_import_that_points_up_is_found(self):
        for name, line in (
            ("npu_backend/a.py", "import op_extension"),
            ("npu_backend/b.py", "def f():\n    from op_extension.ops import my_add"),
            ("op_extension/jit/a.py", "from ..kernel import x"),
            ("op_extension/jit/b.py", "from .. import check"),
            ("op_extension/jit/c.py", "import op_extension.ops"),
            ("op_extension/jit/d.py", "from op_extension import cli"),
        ):
            with self.subTest(name=name):
                self.assert_found(name, f"{line}\n", f"{name}: expected .* not to import")
                (self.root / name).unlink()
        self.assert_clean("op_extension/__init__.py", "import npu_backend\nfrom . import jit\n")
        typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from op_extension.kernel import Kernel\n"
        self.assert_clean("op_extension/jit/typed.py", typed)

    def test_each_rule_for_files_can_fail(self):
        licence = f"# {file_rules.LICENCE}\n"
        for name, text, sentence in (
            ("a.py", "import os\n", "expected 'SPDX"),
            ("b.py", licence + "x = 1\n" * 400, "expected at most 400 lines, got 401"),
            ("utils.py", licence, "expected a name that tells"),
        ):
            with self.subTest(name=name):
                self.assertRegex("\n".join(file_rules.broken_rules(self.plant(name, text))), sentence)
        self.assertEqual(file_rules.broken_rules(self.plant("c.py", "#!/bin/sh\n" + licence)), [])


if __name__ == "__main__":
    unittest.main()
