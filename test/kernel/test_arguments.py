# SPDX-License-Identifier: Apache-2.0
"""What a compiled kernel takes: every type of parameter, and the sentence for what does not fit."""

import ctypes
import struct
import sys
import unittest
from pathlib import Path

import numpy as np
import torch

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.kernel.kernels_of_test import KernelTest, load


def slots(count):
    return torch.zeros(count, dtype=torch.int64)


class ScalarTest(KernelTest):
    def test_passes_every_integer_type_at_its_limits(self):
        k = load("scalars.cpp", "integers")
        for values in (
            (-128, 0, -(2**15), 0, -(2**31), 0, -(2**63), 0, False, 0),
            (127, 255, 2**15 - 1, 2**16 - 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1, True, 1),
            (-1, 1, -2, 2, -3, 3, -4, 4, np.bool_(True), np.uint8(1)),
        ):
            out = slots(10)
            k[1](out, *values)
            raw = out.numpy().tobytes()
            got = [struct.unpack_from(f"<{code}", raw, 8 * i)[0] for i, code in enumerate("bBhHiIqQBB")]
            self.assertEqual(got, [int(value) for value in values])

    def test_rounds_floats_to_nearest_even(self):
        k = load("scalars.cpp", "floats")
        for value in (0.1, -2.5, 1.0 + 2**-8, 1.0 + 3 * 2**-9, 65504.0, float("inf"), 7, np.float32(0.3), 5e-8):
            out = slots(4)
            k[1](out, value, value, value, value)
            low = out.numpy().view(np.uint8).reshape(4, 8)
            reference = torch.tensor(float(value), dtype=torch.float64)
            self.assertEqual(low[0, :2].view(np.float16)[0], np.float16(float(value)))
            self.assertEqual(low[1, :2].view(np.int16)[0], reference.float().bfloat16().view(torch.int16).item())
            self.assertEqual(low[2, :4].view(np.float32)[0], np.float32(float(value)))
            self.assertEqual(low[3].view(np.float64)[0], float(value))

    def test_passes_nan(self):
        out = slots(4)
        load("scalars.cpp", "floats")[1](out, *[float("nan")] * 4)
        low = out.numpy().view(np.uint8).reshape(4, 8)
        bfloat16 = torch.from_numpy(low[1, :2].copy().view(np.int16)).view(torch.bfloat16)
        self.assertTrue(np.isnan(low[0, :2].view(np.float16)[0]) and bfloat16.isnan().item())
        self.assertTrue(np.isnan(low[2, :4].view(np.float32)[0]) and np.isnan(low[3].view(np.float64)[0]))

    def test_passes_structs_and_null(self):
        class Pair(ctypes.Structure):
            _fields_ = (("first", ctypes.c_int32), ("second", ctypes.c_double))

        more = np.array([(1, 7.5)], dtype=np.dtype([("first", "<i4"), ("second", "<f8")], align=True))
        out = slots(4)
        load("scalars.cpp", "structs")[1](out, Pair(5, 2.25), more, None)
        self.assertEqual(out.tolist()[0], 5)
        self.assertEqual(out[1:3].view(torch.float64).tolist(), [2.25, 7.5])
        self.assertEqual(out[3].item() & 1, 1)

    def test_names_a_number_out_of_range(self):
        good = [0] * 8 + [False, 0]
        for index, value, sentence in (
            (1, 128, r"argument 1 \(int8_t\): expected an integer from -128 to 127, got 128"),
            (1, -129, "got -129"),
            (2, -1, r"argument 2 \(uint8_t\): expected an integer from 0 to 255, got -1"),
            (6, 2**32, r"\(uint32_t\): expected an integer from 0 to 4294967295, got 4294967296"),
            (7, 2**63, r"\(int64_t\): expected an integer from -9223372036854775808 to 9223372036854775807, got 9223"),
            (8, 2**64, "expected an integer from 0 to 18446744073709551615, got 18446744073709551616"),
            (8, -(2**70), "got -1180591620717411303424"),
            (9, 2, r"\(bool\): expected an integer from 0 to 1, got 2"),
            (5, 10**399, "expected an integer from -2147483648 to 2147483647, got 10{79}$"),
            (5, 1 << 20000, "expected an integer from -2147483648 to 2147483647, got one of 20001 bits$"),
        ):
            with self.subTest(sentence), self.assertRaisesRegex(ValueError, sentence):
                load("scalars.cpp", "integers")[1](slots(10), *good[: index - 1], value, *good[index:])

    def test_names_a_float_out_of_range(self):
        k = load("scalars.cpp", "floats")
        for values, sentence in (
            ((65520.0, 0, 0, 0), r"argument 1 \(half\): expected a number within the range of half, got 65520.0"),
            ((0, 1e39, 0, 0), r"argument 2 \(bfloat16_t\): .*got 1e\+39"),
            ((0, 0, -1e39, 0), r"argument 3 \(float\): .*got -1e\+39"),
            ((0, 0, 10**399, 0), r"argument 3 .*: expected a number within the range of float, got 10{79}$"),
            ((0, 0, 0, -(10**399)), r"argument 4 .*: expected a number within the range of double, got -10{78}$"),
            ((0, 0, 1 << 20000, 0), r"argument 3 .*: .* range of float, got one of 20001 bits$"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                k[1](slots(4), *values)

    def test_names_an_object_of_another_type(self):
        with self.assertRaisesRegex(TypeError, r"integers: argument 5 \(int32_t\): expected an integer, got float 1.5"):
            load("scalars.cpp", "integers")[1](slots(10), 0, 0, 0, 0, 1.5, 0, 0, 0, False, 0)
        with self.assertRaisesRegex(TypeError, r"argument 3 \(float\): expected a number, got str 'x'"):
            load("scalars.cpp", "floats")[1](slots(4), 0, 0, "x", 0)
        with self.assertRaisesRegex(TypeError, r"argument 1 \(Pair\): expected 16 bytes .*got int 3"):
            load("scalars.cpp", "structs")[1](slots(4), 3, None, None)
        with self.assertRaisesRegex(ValueError, r"argument 1 \(Pair\): expected 16 bytes, got 3"):
            load("scalars.cpp", "structs")[1](slots(4), b"abc", None, None)

    def test_numbers_of_16_bytes_are_taken_as_bytes(self):
        k = load("scalars.cpp", "wide_numbers")
        number = -(2**90) - 5
        wide = np.longdouble("1.25")
        out = slots(4)
        k[1](out, number.to_bytes(16, "little", signed=True), wide.tobytes(), None, None)
        self.assertEqual(int.from_bytes(out[:2].numpy().tobytes(), "little", signed=True), number)
        self.assertEqual(out[2:].numpy().view(np.longdouble)[0], wide)
        with self.assertRaisesRegex(TypeError, "argument 1 .*expected 16 bytes .*got int 3"):
            k[1](out, 3, wide.tobytes(), None, None)
        with self.assertRaisesRegex(TypeError, "argument 2 .*expected 16 bytes .*got float 1.5"):
            k[1](out, bytes(16), 1.5, None, None)
        k[1](out, bytes(16), bytes(16), torch.zeros(2), torch.zeros(2, dtype=torch.half))

    def test_cuts_what_it_shows_between_characters(self):
        for text in ("\u00e9" * 200, "x" + "\u20ac" * 200, "\U0001f600" * 200):
            with self.subTest(text[:2]), self.assertRaisesRegex(TypeError, f"expected a number, got str '{text[:79]}$"):
                load("scalars.cpp", "floats")[1](slots(4), 0, 0, text, 0)

    def test_names_a_wrong_number_of_arguments(self):
        with self.assertRaisesRegex(TypeError, "add_float: expected 4 arguments, got 3"):
            load("add.cpp", "add_float")[1](slots(1), slots(1), slots(1))


class TensorTest(KernelTest):
    def refuse(self, exception, sentence, *args, file="add.cpp", entry="add_float"):
        with self.subTest(sentence), self.assertRaisesRegex(exception, sentence):
            load(file, entry)[1](*args)

    def test_names_another_dtype(self):
        x, half = torch.zeros(4), torch.zeros(4, dtype=torch.half)
        sentence = r"add_float: argument 1 \(const float\*\): expected a tensor of dtype Float, got Half"
        self.refuse(TypeError, sentence, x, half, x, 4)
        good = [slots(1), half, half.bfloat16(), x.int(), x.short(), x.bool()]
        for index, name in enumerate(("Half", "BFloat16", "Int", "UInt16 or Short", "Bool"), 1):
            args = [*good[:index], x, *good[index + 1 :]]
            sentence = rf"argument {index} .*expected a tensor of dtype {name}, got Float"
            self.refuse(TypeError, sentence, *args, file="scalars.cpp", entry="pointers")
        load("scalars.cpp", "pointers")[1](*good)
        self.assertEqual(good[0].item(), 1)

    def test_bytes_take_any_dtype(self):
        x = torch.ones(32, dtype=torch.half)
        z = torch.zeros(32, dtype=torch.int16)
        load("add.cpp", "add_bytes")[1](x, x, z, 32)
        self.assertEqual(z.view(torch.half).tolist(), [2.0] * 32)

    def test_names_several_devices(self):
        x, y = torch.zeros(4, device="npu"), torch.zeros(4)
        self.refuse(
            ValueError, r"argument 1 .*expected a tensor on npu:0 \(as the first one\), got one on cpu", x, y, x, 4
        )
        other = torch.zeros(4, device="npu:1")
        self.refuse(ValueError, "expected a tensor on cpu .*got one on npu:1", y, y, other, 4)
        self.refuse(ValueError, "expected a tensor on npu or cpu, got one on meta", y.to("meta"), y, y, 4)

    def test_names_strides_unless_they_are_accepted(self):
        x = torch.zeros(4, 4).t()
        self.refuse(ValueError, r"argument 0 .*expected a contiguous tensor \(or strided=True", x, x, x, 16)
        z = torch.zeros(16)
        load("add.cpp", "add_float", strided=True)[1](x, x, z, 16)

    def test_names_a_view_that_shows_other_values_than_its_memory_holds(self):
        x = torch.ones(4, dtype=torch.complex64)
        for view in (x.conj(), torch._neg_view(torch.ones(4)), x.conj().imag):
            sentence = (
                r"argument 0 .*expected a tensor whose memory holds its values .*got a conjugated or negated view"
            )
            for strided in (False, True):
                with self.subTest(view=view, strided=strided), self.assertRaisesRegex(ValueError, sentence):
                    load("add.cpp", "add_bytes", strided=strided)[1](view, x, x, 4)

    def test_names_a_tensor_without_memory(self):
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            fake = torch.empty(4)
        x = torch.zeros(4)
        self.refuse((TypeError, ValueError), "argument 0 .*expected a", fake, x, x, 4)
        sentence = "expected a dense tensor with memory, got one of layout Sparse$"
        self.refuse(TypeError, sentence, torch.eye(4).to_sparse(), x, x, 4)

    def test_takes_empty_tensors(self):
        x = torch.zeros(0, device="npu")
        load("add.cpp", "add_float")[1](x, x, x, 0)
        torch.npu.synchronize()


class LaunchTest(KernelTest):
    def test_names_a_launch_without_blocks(self):
        k = load("add.cpp", "add_float")
        with self.assertRaisesRegex(TypeError, r"expected a number of blocks, as in kernel\[block_dim\]"):
            k(1, 2, 3)
        for blocks in (0, -1, 65536, 2**31, 2**33):
            sentence = f"add_float: expected a block_dim of 1 to 65535, got {blocks}"
            with self.subTest(blocks), self.assertRaisesRegex(ValueError, sentence):
                k[blocks]
        with self.assertRaisesRegex(TypeError, r"expected kernel\[block_dim\] or .*got kernel\['x'\]"):
            k["x"]

    def test_names_options_that_are_none(self):
        for options, sentence in (
            ({"entry": "a b"}, "expected the name of a function as entry, got 'a b'"),
            ({"core": "gpu"}, "expected 'vector', 'cube' or 'mix' as core, got 'gpu'"),
            ({"std": "c++98"}, r"expected 'c\+\+17' or 'c\+\+20' as std, got 'c\+\+98'"),
            ({"defines": ["1X"]}, "expected NAME or NAME=value as defines, got '1X'"),
        ):
            with self.subTest(sentence), self.assertRaisesRegex(ValueError, sentence):
                load("add.cpp", **{"entry": "add_float", **options})
        with self.assertRaisesRegex(FileNotFoundError, "expected a C.. source, got no file .*gone.cpp"):
            load("gone.cpp", "k")


if __name__ == "__main__":
    unittest.main()
