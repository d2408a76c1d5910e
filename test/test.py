# SPDX-License-Identifier: Apache-2.0
"""The check of the Ascend add example: my_add of two [20, 2048] half tensors against torch.add."""

import unittest

import torch

import op_extension  # noqa: F401  (registers the operators)


class TestCustomAdd(unittest.TestCase):
    """npu::my_add on the shape of the example."""

    def test_add_custom_ops(self) -> None:
        x = torch.rand([20, 2048], dtype=torch.float16)
        y = torch.rand([20, 2048], dtype=torch.float16)
        z = torch.ops.npu.my_add(x.npu(), y.npu()).cpu()
        torch.testing.assert_close(z, torch.add(x, y), rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
