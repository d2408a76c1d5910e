# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_mul computes what torch.mul computes."""

import unittest
from unittest import mock

import torch
from torch.testing import assert_close

from test.op import contract


class MyMulTest(contract.ElementwiseContract, unittest.TestCase):
    """Tensor times tensor."""

    overload = torch.ops.npu.my_mul.Tensor
    instruction = "TMUL"

    def expected(self, x, y):
        return x * y

    def test_finding_the_overload_prints_no_tensor(self) -> None:
        x = torch.ones(3, device="npu")
        with mock.patch.object(torch.Tensor, "__repr__", return_value="x") as printed:
            torch.ops.npu.my_mul(x, x)
            torch.ops.npu.my_mul(x, 2)
        printed.assert_not_called()


class MyMulByNumberTest(contract.ElementwiseContract, unittest.TestCase):
    """Tensor times number."""

    overload = torch.ops.npu.my_mul.default
    instruction = "TMULS"
    operands = 1
    number = 3

    def call(self, x):
        return torch.ops.npu.my_mul(x, self.number)

    def expected(self, x):
        return x * self.number

    def test_opcheck(self) -> None:
        for device, number in (("cpu", 2), ("cpu", 0.1)):
            x = torch.randn(3, 4, device=device, requires_grad=True)
            self.assertEqual(set(contract.opcheck(self.overload, (x, number)).values()), {"SUCCESS"})

    def test_rounds_once_from_a_number_in_float(self) -> None:
        for number in (0.1, -2.5, 1e-8, 7, True):
            for dtype in contract.FLOATS:
                x = contract.random_values((1000,), dtype, 3)
                z = torch.ops.npu.my_mul(x.npu(), number).cpu()
                assert_close(z, x * number, rtol=0, atol=0, equal_nan=True)

    def test_gradient_is_alpha_times_that_of_the_result(self) -> None:
        x = torch.ones(3, device="npu", requires_grad=True)
        torch.ops.npu.my_mul(x, 0.25).sum().backward()
        self.assertEqual(x.grad.tolist(), [0.25] * 3)

    def test_refuses_a_product_of_another_dtype(self) -> None:
        x = torch.ones(3, dtype=torch.int32, device="npu")
        with self.assertRaisesRegex(TypeError, "npu::my_mul: expected an integer alpha for x of dtype Int, got 2.5"):
            torch.ops.npu.my_mul(x, 2.5)
        with self.assertRaisesRegex(TypeError, "npu::my_mul: expected a real alpha, got a complex one"):
            torch.ops.npu.my_mul(x.float(), 1j)


if __name__ == "__main__":
    unittest.main()
