# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.fused_add_relu computes relu(x + y)."""

import unittest

import torch
from torch.testing import assert_close

from test.op import contract


class FusedAddReluTest(contract.ElementwiseContract, unittest.TestCase):
    """One kernel for torch.relu(x + y)."""

    overload = torch.ops.npu.fused_add_relu.default
    instruction = "TRELU"

    def expected(self, x, y):
        return torch.relu(x + y)

    def test_equals_the_scripted_and_the_traced_pair(self) -> None:
        def pair(x, y):
            return torch.relu(x + y)

        for dtype in contract.FLOATS:
            x, y = (contract.random_values((7, 9), dtype, seed).npu() for seed in (1, 2))
            z = torch.ops.npu.fused_add_relu(x, y)
            for f in (torch.jit.script(pair), torch.jit.trace(pair, (x, y))):
                assert_close(f(x, y), z, rtol=0, atol=0, equal_nan=True)

    def test_scripted(self) -> None:
        @torch.jit.script
        def f(x, y):
            return torch.ops.npu.fused_add_relu(x, y) * 2

        x = torch.tensor([-1.0, 2], device="npu")
        self.assertEqual(f(x, x).tolist(), [0.0, 8.0])


if __name__ == "__main__":
    unittest.main()
