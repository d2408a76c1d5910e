# SPDX-License-Identifier: Apache-2.0
import unittest
import warnings

import torch

import npu_backend  # noqa: F401


class IndexingTest(unittest.TestCase):
    def setUp(self):
        self.x = torch.arange(6.0, device="npu").view(3, 2)

    def test_indices_may_lie_on_cpu(self):
        rows = torch.tensor([2, 0])
        self.assertEqual(self.x[rows].tolist(), [[4, 5], [0, 1]])
        self.x[rows, torch.tensor([1, 1], device="npu")] = torch.tensor([7.0, 8.0], device="npu")
        self.assertEqual(self.x.tolist(), [[0, 8], [2, 3], [4, 7]])
        self.x[torch.tensor([True, False, False])] = 9
        self.assertEqual(self.x[0].tolist(), [9, 9])

    def test_what_is_written_or_read_may_not(self):
        index = (torch.tensor([0, 1]),)
        for accumulate in (False, True):
            with self.subTest(accumulate=accumulate), self.assertRaisesRegex(RuntimeError, "npu:0 and cpu"):
                self.x.index_put_(index, torch.ones(2, 2), accumulate=accumulate)
        with self.assertRaises(RuntimeError):
            torch.ones(3)[torch.tensor([0], device="npu")]
        self.x.index_put_(index, torch.tensor(5.0))  # a number in a tensor may lie anywhere
        self.assertEqual(self.x.tolist(), [[5, 5], [5, 5], [4, 5]])

    def test_a_mask_of_bytes_warns_once(self):
        for mask in (torch.tensor([1, 0, 1], dtype=torch.uint8), torch.tensor([1, 0, 1], dtype=torch.uint8).npu()):
            with self.subTest(device=mask.device), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.assertEqual(self.x[mask].tolist(), [[0, 1], [4, 5]])
                self.assertEqual(len(caught), 1)


if __name__ == "__main__":
    unittest.main()
