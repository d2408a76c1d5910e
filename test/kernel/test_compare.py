# SPDX-License-Identifier: Apache-2.0
"""kernel.compare: the place of the first difference."""

import sys
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from op_extension import _runtime
from op_extension.kernel import compare

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.kernel.kernels_of_test import KernelTest, load


class CompareTest(KernelTest):
    def setUp(self):
        super().setUp()
        self.k = load("add.cpp", "add_float")
        self.x = torch.arange(20 * 30, dtype=torch.float32).reshape(20, 30)
        self.z = torch.empty(20, 30)

    def compare(self, reference, **options):
        return compare(self.k[2], reference, self.x, self.x, self.z, 600, **options)

    def test_is_true_where_nothing_differs(self):
        found = self.compare(lambda x, y, z, n: x + y)
        self.assertTrue(found)
        self.assertEqual(str(found), "no element differs")

    def test_names_tile_row_column_index_values_and_distance(self):
        want = 2 * self.x
        want[13, 17] = torch.nextafter(want[13, 17], torch.tensor(float("inf")))
        want[19, 0] = 0
        found = self.compare(want, tile=(8, 16))
        self.assertFalse(found)
        self.assertEqual(
            (found.differing, found.index, found.tile, found.row, found.column), (2, (13, 17), (1, 1), 5, 1)
        )
        self.assertEqual((found.got, found.ulp), (2 * (13 * 30 + 17), 1))
        self.assertRegex(
            str(found),
            r"argument 2: first of 2 differing elements at tile \(1, 1\), row 5, column 1, index \(13, 17\): "
            r"expected 814.0\d*, got 814.0, 1 ulp apart",
        )

    def test_names_the_store_of_the_tile(self):
        want = 2 * self.x
        want[9, 10] = 0  # element 280, in the second row of 256: of block 1
        found = self.compare(want)
        self.assertEqual((found.row, found.column), (0, 280 - 256))
        self.assertRegex(
            str(found), r"at the tile stored by block 1, instruction \d+ \(.*(add\.cpp:\d+|\.so\+0x\w+)\), row 0"
        )
        unwritten = compare(self.k[1], want, self.x, self.x, torch.zeros(20, 30), 30)
        self.assertIn("an element that no tile was stored to", str(unwritten))

    def test_names_no_store_when_the_record_is_full(self):
        with mock.patch.object(_runtime, "MAX_RECORDED_STORES", 3):  # as many as the kernel makes
            found = self.compare(torch.zeros(20, 30))
        self.assertIn("at an element whose store nobody knows (the record of 3 stores is full)", str(found))

    def test_takes_npu_tensors_and_arrays(self):
        z = torch.empty(600, device="npu")
        x = self.x.reshape(-1).npu()
        self.assertTrue(compare(self.k[1], lambda x, y, z, n: x + y, x, x, z, 600))
        array = self.x.numpy()
        self.assertTrue(compare(self.k[1], 2 * array, array, array, np.empty_like(array), 600))
        self.assertFalse(compare(self.k[1], 3 * array, array, array, np.empty_like(array), 600))

    def test_accepts_what_the_caller_accepts(self):
        want = 2 * self.x
        want[3, 3] *= 1 + 1e-6
        self.assertFalse(self.compare(want))
        self.assertTrue(self.compare(want, rtol=1e-5))
        self.assertTrue(self.compare(want, max_ulp=20))
        self.assertFalse(self.compare(want, max_ulp=2))

    def test_ulp_counts_across_zero_and_nan_equals_nan(self):
        self.x[0, 0] = float("nan")
        self.x[0, 1] = 0.0
        want = 2 * self.x
        want[0, 1] = -1e-45
        found = self.compare(want)
        self.assertEqual((found.index, found.ulp), ((0, 1), 1))

    def test_compares_the_outputs_that_are_named(self):
        found = compare(self.k[1], self.x + 1, self.x, self.x, self.z, 600, outputs=[0])
        self.assertEqual((found.argument, found.differing), (0, 600))

    def test_names_a_reference_of_another_form(self):
        with self.assertRaisesRegex(ValueError, r"expected a reference of shape \(20, 30\) for argument 2, got \(3,\)"):
            self.compare(torch.zeros(3))
        with self.assertRaisesRegex(ValueError, "expected 1 results of the reference, got 2"):
            self.compare((self.x, self.x), outputs=[2])

    def test_names_a_reference_without_a_result(self):
        x = torch.ones(8, device="npu")
        launcher = load("faults.cpp", "fill")[1]
        with self.assertRaisesRegex(
            TypeError, "expected a tensor or an array as result of the reference, got NoneType"
        ):
            compare(launcher, lambda x, n: None, x, 8)
        with self.assertRaisesRegex(ValueError, "expected indices of tensors or arrays as outputs, got 1"):
            compare(launcher, torch.ones(8), x, 8, outputs=[1])
        self.assertTrue(compare(launcher, torch.full((8,), 7.0), x, 8, outputs=[-2]))


if __name__ == "__main__":
    unittest.main()
