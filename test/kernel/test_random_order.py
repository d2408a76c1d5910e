# SPDX-License-Identifier: Apache-2.0
"""check.random_order: kernels that miss a flag compute wrong numbers, right ones do not."""

import sys
import unittest
from pathlib import Path

import torch

from op_extension import check
from op_extension.kernel import compare

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.kernel.kernels_of_test import KernelTest, load

BLOCKS, TILE = 3, 256
SEEDS = range(20)


class RandomOrderTest(KernelTest):
    def setUp(self):
        super().setUp()
        self.kernel = load("ordered_add.cpp", "ordered_add")
        self.x = torch.arange(BLOCKS * TILE, dtype=torch.float32)
        self.z = torch.zeros(BLOCKS * TILE)

    def found(self, seed, loaded, added):
        """What compare says of the sum under seed."""
        with check.random_order(seed):
            return compare(self.kernel[BLOCKS], lambda x, y, *_: x + y, self.x, self.x + 1, self.z, loaded, added)

    def test_kernels_with_all_flags_are_right_under_every_seed(self):
        for seed in SEEDS:
            for times in (1, 2):  # as in a loop of one and of two
                self.assertTrue(self.found(seed, times, times), (seed, times))

    def test_kernels_without_a_flag_are_wrong_and_the_first_wrong_element_is_named(self):
        for flags in ((0, 1), (1, 0), (0, 0)):  # without one of them, and a loop of none
            wrong = [found for seed in SEEDS if not (found := self.found(seed, *flags))]
            self.assertTrue(wrong, flags)
            for found in wrong:
                self.assertEqual(found.index[0] % TILE, 0)  # tiles are late as a whole
                self.assertRegex(
                    str(found), r"argument 2: first of \d+ differing elements at the tile stored by block \d"
                )

    def test_kernels_in_auto_mode_need_no_flags(self):
        kernel = load("auto_add.cpp", "auto_add", flags=["-D__PTO_AUTO__"])
        for seed in SEEDS:
            with check.random_order(seed):
                kernel[1](self.x, self.z, BLOCKS)
            torch.testing.assert_close(self.z, self.x + 1, rtol=0, atol=0)

    def test_a_fault_in_auto_mode_ends_the_kernel_and_its_tiles(self):
        kernel = load("auto_add.cpp", "auto_add", flags=["-D__PTO_AUTO__"])
        for seed in SEEDS:
            with self.assertRaisesRegex(RuntimeError, "TLOAD: expected an address"), check.random_order(seed):
                kernel[1](self.x, self.z, BLOCKS + 1)

    def test_one_seed_gives_the_same_bits_each_time(self):
        for seed in SEEDS:
            first = [self.found(seed, 0, 0), self.z.clone()]
            again = [self.found(seed, 0, 0), self.z]
            self.assertEqual(str(first[0]), str(again[0]))
            self.assertTrue(torch.equal(first[1].view(torch.int32), again[1].view(torch.int32)))

    def test_the_usual_order_returns_behind_the_context(self):
        for seed in SEEDS:
            self.found(seed, 0, 0)
            self.kernel[BLOCKS](self.x, self.x, self.z, 0, 0)
            torch.testing.assert_close(self.z, 2 * self.x, rtol=0, atol=0)

    def test_says_what_seeds_there_are_and_that_contexts_do_not_nest(self):
        with (
            self.assertRaisesRegex(ValueError, r"random_order: expected a seed from 0 to \d+, got -1"),
            check.random_order(-1),
        ):
            pass
        with (
            check.random_order(2**64 - 1),
            self.assertRaisesRegex(ValueError, "expected no random order that is on already, got one"),
            check.random_order(1),
        ):
            pass


if __name__ == "__main__":
    unittest.main()
