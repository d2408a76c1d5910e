# SPDX-License-Identifier: Apache-2.0
"""check.trace: the scalar unit of a core while other cores write to the same words."""

import sys
import unittest
from contextlib import nullcontext
from pathlib import Path

import torch

from op_extension import check, kernel

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.kernel.kernels_of_test import KernelTest

HERE = Path(__file__).resolve().parent
SEEDS = (None, *range(8))  # None: the order of the text


class OrderTest(KernelTest):
    def written(self, entry, seed, blocks, *params):
        """Block and value of each word that the scalar unit has written, in the order of execution."""
        run = kernel.load(HERE / "traced_words.cpp", entry=entry)
        word = torch.zeros(1, dtype=torch.int32, device="npu")
        with nullcontext() if seed is None else check.random_order(seed), check.trace(values=True) as trace:
            run[blocks](word, *params)
        self.assertTrue(all(step.is_complete and step.order > 0 for step in trace.steps), str(trace))
        steps = sorted(trace.steps, key=lambda step: step.order)
        self.assertEqual(len({step.order for step in steps}), len(steps))
        return [
            (step.block, operand.bits.view("int32").item())
            for step in steps
            if step.pipe == "PIPE_S"
            for operand in step.destinations
        ]

    def test_instructions_that_write_at_once_are_numbered_as_they_were_executed(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                found = self.written("counts", seed, 4, 5)
                self.assertEqual([value for _, value in found], list(range(1, 21)))

    def test_a_store_has_the_value_of_its_core_when_others_write_behind_it(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                self.assertEqual(self.written("in_turn", seed, 4), [(block, block + 1) for block in range(4)])

    def test_a_store_has_the_value_of_its_core_when_others_write_at_any_time(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                found = self.written("at_any_time", seed, 4, torch.empty(4, 64, device="npu"))
                self.assertEqual(sorted(found), [(block, block + 1) for block in range(4)])

    def test_what_waits_has_its_end_though_others_of_its_core_end_meanwhile(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                found = self.written("meets", seed, 4, torch.empty(4, 64, device="npu"))
                self.assertEqual([value for _, value in found], list(range(1, 5)))


if __name__ == "__main__":
    unittest.main()
