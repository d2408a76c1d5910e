# SPDX-License-Identifier: Apache-2.0
"""The hazard checker finds nothing in the kernels of the operators, there and back."""

import sys
import unittest
from pathlib import Path

import torch

from op_extension import check

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

npu = torch.ops.npu
#: Tiles of matrices in L1 are padded to whole boxes, and what lies in the padding is read, but not used.
PADDED = "order,overlap,flag,range"


def leaf(*shape, dtype=torch.float32):
    """A tensor on npu that wants a gradient."""
    generator = torch.Generator().manual_seed(3)
    return torch.randn(*shape, generator=generator).to("npu", dtype).requires_grad_()


class OperatorsHazardsTest(unittest.TestCase):
    def assert_clean(self, operator, *operands, kinds=None):
        with check.hazards(kinds):
            result = operator(*operands)
            result.backward(torch.ones_like(result))
        self.assertTrue(all(operand.grad is not None for operand in operands))

    def test_element_wise(self):
        for dtype in (torch.float32, torch.float16):
            with self.subTest(dtype=dtype):
                for operator in (npu.my_add, npu.my_mul):
                    self.assert_clean(operator, leaf(70, 700, dtype=dtype), leaf(70, 700, dtype=dtype))
                    self.assert_clean(operator, leaf(70, 700, dtype=dtype), leaf(700, dtype=dtype))
                for operator in (npu.my_relu, npu.my_gelu):
                    self.assert_clean(operator, leaf(50_001, dtype=dtype))

    def test_strided(self):
        self.assert_clean(lambda x, y: npu.my_add(x.t(), y), leaf(700, 70), leaf(70, 700))

    def test_rows(self):
        for shape, dim in (((33, 1000), -1), ((33, 1000), 0), ((3, 17, 40), 1)):
            with self.subTest(shape=shape, dim=dim):
                self.assert_clean(lambda x, dim=dim: npu.my_softmax(x, dim), leaf(*shape))
        self.assert_clean(lambda x, w, b: npu.my_layer_norm(x, [1000], w, b), leaf(33, 1000), leaf(1000), leaf(1000))
        self.assert_clean(lambda x, w: npu.my_rms_norm(x, [1000], w), leaf(33, 1000), leaf(1000))

    def test_matrices_and_images(self):
        for dtype in (torch.float32, torch.float16):
            with self.subTest(dtype=dtype):
                self.assert_clean(npu.my_gemm, leaf(130, 200, dtype=dtype), leaf(200, 300, dtype=dtype), kinds=PADDED)
                operands = leaf(2, 3, 16, 16, dtype=dtype), leaf(4, 3, 3, 3, dtype=dtype)
                self.assert_clean(npu.my_conv, *operands, kinds=PADDED)


if __name__ == "__main__":
    unittest.main()
