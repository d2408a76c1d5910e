# SPDX-License-Identifier: Apache-2.0
"""Trial 26: dtypes that chips refuse or convert in silence are kept here and compute what they compute on CPU."""

import unittest

import torch
from torch.testing import assert_close

import npu_backend  # noqa: F401
import op_extension  # noqa: F401  (registers my_add)

WIDE = (torch.float64, torch.complex64, torch.complex128)
UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)


class DtypeTest(unittest.TestCase):
    def test_wide_dtypes_compute_as_on_cpu(self):
        for dtype in WIDE:
            with self.subTest(dtype=dtype):
                x = torch.arange(1, 5).to(dtype).view(2, 2)
                y = x.npu()
                self.assertEqual(y.dtype, dtype)
                for function in (torch.exp, lambda t: t @ t, lambda t: t.sum(0), lambda t: 1 / t, torch.linalg.inv):
                    assert_close(function(y).cpu(), function(x))

    def test_unsigned_dtypes_are_created_copied_and_printed(self):
        for dtype in UNSIGNED:
            with self.subTest(dtype=dtype):
                most = torch.iinfo(dtype).max
                x = torch.tensor([0, most], dtype=dtype, device="npu")
                self.assertEqual(x.clone().tolist(), [0, most])
                self.assertEqual(x.npu(1).cpu().dtype, dtype)
                self.assertIn(str(most), repr(x))
                self.assertEqual((x == x).tolist(), [True, True])

    def test_an_operator_that_cpu_refuses_names_itself_and_the_dtype(self):
        for device in ("cpu", "npu"):
            x = torch.ones(2, dtype=torch.uint64, device=device)
            with self.assertRaisesRegex(RuntimeError, "add.* not implemented for 'UInt64'"):
                x + x

    def test_large_integers_add_exactly(self):
        x = torch.full((1025,), 2**40, device="npu")
        self.assertEqual(x.sum().item(), 1025 * 2**40)
        self.assertEqual((x + 1).max().item(), 2**40 + 1)

    def test_repeat_interleave(self):
        for dtype in (torch.int64, torch.float64):
            x = torch.tensor([1, 2, 3], dtype=dtype, device="npu")
            self.assertEqual(x.repeat_interleave(2).tolist(), [1, 1, 2, 2, 3, 3])
            self.assertEqual(x.repeat_interleave(torch.tensor([0, 1, 2], device="npu")).tolist(), [2, 3, 3])

    def test_my_add_names_a_dtype_that_it_does_not_take(self):
        for dtype in (torch.uint64, torch.complex64, torch.int8, torch.bool):
            x = torch.ones(2, dtype=dtype, device="npu")
            with self.subTest(dtype=dtype), self.assertRaisesRegex(TypeError, "my_add: expected .*, got "):
                torch.ops.npu.my_add(x, x)


if __name__ == "__main__":
    unittest.main()
