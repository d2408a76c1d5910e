# SPDX-License-Identifier: Apache-2.0
"""What kernel.load and a launch refuse: a sentence with the argument and its value."""

import os
import sys
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import torch

import op_extension

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.kernel.kernels_of_test import KERNELS, KernelTest, load

SOURCE = KERNELS / "faults.cpp"


class LoadArgumentsTest(unittest.TestCase):
    def test_of_another_type_are_named(self):
        for name, value, expected in (
            ("entry", None, "the name of a function"),
            ("core", ["vector"], "'vector', 'cube' or 'mix'"),
            ("std", 17, r"'c\+\+17' or 'c\+\+20'"),
            ("defines", 3, "a dict or a list"),
            ("defines", [3], "a sequence of strings"),
            ("defines", {3: 1}, "NAME or NAME=value"),
            ("flags", "-O0", "a sequence of strings"),
            ("flags", [3], "a sequence of strings"),
            ("include_dirs", "/usr", "a sequence of paths"),
            ("include_dirs", [3], "a sequence of paths"),
            ("float64", 1, "True or False"),
            ("strided", "no", "True or False"),
            ("any_global", None, "True or False"),
        ):
            with self.subTest(name=name, value=value):
                sentence = f"op_extension.kernel.load: expected {expected} as {name}, got "
                with self.assertRaisesRegex(ValueError, sentence):
                    op_extension.kernel.load(SOURCE, **{"entry": "fill", name: value})
        with self.assertRaisesRegex(ValueError, "expected a path as source, got None"):
            op_extension.kernel.load(None, entry="fill")

    def test_sanitizers_are_refused(self):
        with self.assertRaisesRegex(ValueError, "expected flags without a sanitizer.* as flags, got '-fsanitize=add"):
            op_extension.kernel.load(SOURCE, entry="fill", flags=["-fsanitize=address"])

    def test_flags_that_make_something_else_are_refused(self):
        for flag in ("-E", "-S", "-c", "-o", "-okernel.o", "-M", "-MF", "-fsyntax-only"):
            sentence = f"expected flags with which the compiler makes the object file .* as flags, got '{flag}'"
            with self.subTest(flag), self.assertRaisesRegex(ValueError, sentence):
                op_extension.kernel.load(SOURCE, entry="fill", flags=["-O0", flag])
        op_extension.kernel.load(SOURCE, entry="fill", flags=["-march=native", "-Og", "-fno-exceptions"])


class LaunchArgumentsTest(KernelTest):
    def test_by_name_are_refused(self):
        with self.assertRaisesRegex(TypeError, "fill: expected arguments by place, got n, x by name"):
            load("faults.cpp", "fill")[1](n=3, x=torch.zeros(3))

    def test_a_tensor_of_another_device_is_named(self):
        for args in ((torch.zeros(3, device="meta"), 3), (torch.zeros(3, device="meta"), np.int32(3))):
            sentence = r"argument 0 \(float\*\): expected a tensor on npu or cpu, got one on meta"
            with self.assertRaisesRegex(ValueError, sentence):
                load("faults.cpp", "fill")[1](*args)

    def test_dates_are_refused(self):
        dates = np.zeros(3, dtype="datetime64[s]")
        with self.assertRaisesRegex(TypeError, "expected an array of numbers, got one of dtype datetime64"):
            load("faults.cpp", "fill")[1](dates, 3)

    def test_an_array_of_another_byte_order_is_named(self):
        k = load("faults.cpp", "fill")
        for dtype in (">f4", [("a", "<f4"), ("b", ">i4")]):
            sentence = r"fill: argument 0 .*: expected an array in the byte order of this machine, got one of dtype .*>"
            with self.assertRaisesRegex(ValueError, sentence):
                k[1](np.zeros(4, dtype), 4)

    def test_a_read_only_array_is_an_input_only(self):
        x = np.zeros(3, np.float32)
        x.flags.writeable = False
        load("faults.cpp", "fill")[1](x, 3)
        self.assertEqual(x.tolist(), [0.0] * 3)


class CompilerTest(KernelTest):
    def assert_refused(self, error, sentence, **environment):
        with mock.patch.dict(os.environ, environment), self.assertRaisesRegex(error, sentence):
            op_extension.kernel.load(SOURCE, entry="fill").compile()

    def test_a_command_that_makes_nothing_is_named(self):
        self.assert_refused(
            op_extension.errors.CompileError,
            "CXX: expected the command of a C.. compiler, got /bin/true, which makes no bodies.o",
            CXX="/bin/true",
        )

    def test_an_unclosed_quotation_is_named(self):
        sentence = 'CXX: expected the command of a C.. compiler, got "\'g\\+\\+" .No closing quotation'
        self.assert_refused(op_extension.errors.CompileError, sentence, CXX="'g++")

    def test_a_line_break_in_the_name_of_the_cache_is_named(self):
        sentence = r"NPU_CACHE_DIR: expected a path of printable characters, got '/tmp/a\\nb'"
        self.assert_refused(ValueError, sentence, NPU_CACHE_DIR="/tmp/a\nb")


if __name__ == "__main__":
    unittest.main()
