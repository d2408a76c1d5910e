# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_relu and my_relu_ compute what torch.relu computes."""

import unittest

import torch
from torch.testing import assert_close

from test.op import contract


class MyReluTest(contract.ElementwiseContract, unittest.TestCase):
    """max(x, 0)."""

    overload = torch.ops.npu.my_relu.default
    instruction = "TRELU"
    operands = 1

    def expected(self, x):
        return torch.relu(x)

    def test_nan_stays_and_negative_zero_does_not(self) -> None:
        z = torch.ops.npu.my_relu(torch.tensor([float("nan"), -0.0, -1.0], device="npu")).cpu()
        self.assertTrue(z[0].isnan())
        self.assertEqual(torch.signbit(z[1:]).tolist(), [False, False])

    def test_gradient_is_that_of_torch_at_zero_and_nan(self) -> None:
        values = [float("nan"), 0.0, -0.0, 1.0, -1.0]
        for dtype in contract.FLOATS:
            x = torch.tensor(values, dtype=dtype, device="npu", requires_grad=True)
            y = torch.tensor(values, dtype=dtype, requires_grad=True)
            torch.ops.npu.my_relu(x).backward(torch.ones(5, dtype=dtype, device="npu"))
            torch.relu(y).backward(torch.ones(5, dtype=dtype))
            assert_close(x.grad.cpu(), y.grad, rtol=0, atol=0)

    def test_result_must_not_change_before_its_gradient(self) -> None:
        x = torch.ones(3, device="npu", requires_grad=True)
        z = torch.ops.npu.my_relu(x)
        z.add_(1)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            z.sum().backward()

    def test_sees_hooks_of_saved_tensors(self) -> None:
        x = torch.ones(3, device="npu", requires_grad=True)
        packed = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t.cpu(), lambda t: t.npu()):
            z = torch.ops.npu.my_relu(x)
        self.assertEqual(len(packed), 1)
        z.sum().backward()
        self.assertEqual(x.grad.tolist(), [1.0] * 3)


class MyReluInPlaceTest(unittest.TestCase):
    """max(x, 0), into x."""

    def test_changes_and_returns_its_argument_in_any_layout(self) -> None:
        values = contract.random_values((2, 3, 5, 7), torch.float32, 1)
        for name, view in contract.layouts(values).items():
            for device in contract.DEVICES:
                with self.subTest(layout=name, device=device):
                    x = contract.move(view.clone(memory_format=torch.preserve_format), device)
                    version = x._version
                    self.assertIs(torch.ops.npu.my_relu_(x), x)
                    self.assertGreater(x._version, version)
                    assert_close(x.cpu(), torch.relu(values), rtol=0, atol=0, equal_nan=True)

    def test_gradient_through_a_view_that_is_changed_in_place(self) -> None:
        results = []
        for device, relu_ in (("npu", torch.ops.npu.my_relu_), ("cpu", torch.relu_)):
            x = torch.tensor([[-1.0, 2, 3], [4, -5, 6]], device=device, requires_grad=True)
            y = x * 2
            relu_(y[:, 1:])
            (y * y).sum().backward()
            results.append(x.grad.cpu())
        assert_close(results[0], results[1], rtol=0, atol=0)

    def test_refuses_what_torch_refuses(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "a leaf Variable that requires grad"):
            torch.ops.npu.my_relu_(torch.ones(2, device="npu", requires_grad=True))
        with self.assertRaisesRegex(RuntimeError, "single memory location"):
            torch.ops.npu.my_relu_(torch.ones(2, device="npu").expand(3, 2))

    def test_opcheck_and_compiled(self) -> None:
        op = torch.ops.npu.my_relu_.default
        for device in contract.DEVICES:
            self.assertEqual(set(contract.opcheck(op, (torch.tensor([-1.0, 2], device=device),)).values()), {"SUCCESS"})
            torch._dynamo.reset()
            compiled = torch.compile(lambda t: op(t * 2) + 1, backend="aot_eager", fullgraph=True)
            self.assertEqual(compiled(torch.tensor([-1.0, 2], device=device)).tolist(), [1.0, 5.0])


if __name__ == "__main__":
    unittest.main()
