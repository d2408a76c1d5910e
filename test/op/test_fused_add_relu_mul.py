# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.fused_add_relu_mul computes relu(x + y) * z."""

import unittest

import torch

from test.op import contract


class FusedAddReluMulTest(contract.ElementwiseContract, unittest.TestCase):
    """One kernel for torch.relu(x + y) * z. 16-bit floats are rounded once, at the end."""

    overload = torch.ops.npu.fused_add_relu_mul.default
    instruction = "TMUL"
    operands = 3

    def expected(self, x, y, z):
        if x.dtype not in (torch.float16, torch.bfloat16):
            return torch.relu(x + y) * z
        return (torch.relu(x.float() + y.float()) * z.float()).to(x.dtype)


if __name__ == "__main__":
    unittest.main()
