# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_add_ computes what Tensor.add_ computes, into its first argument."""

import itertools
import sys
import unittest
from pathlib import Path

import torch
from torch.testing import assert_close

import op_extension  # noqa: F401  (registers the operators)

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.op import contract

DTYPES = (*contract.FLOATS, torch.int32)


class MyAddInPlaceTest(unittest.TestCase):
    """x += y."""

    def test_changes_and_returns_its_argument_in_any_layout(self) -> None:
        for dtype, device in itertools.product(DTYPES, contract.DEVICES):
            x, y = (contract.random_values((2, 3, 5, 7), dtype, seed) for seed in (1, 2))
            for name, view in contract.layouts(x).items():
                with self.subTest(layout=name, dtype=dtype, device=device):
                    changed = contract.move(view.clone(memory_format=torch.preserve_format), device)
                    version = changed._version
                    self.assertIs(torch.ops.npu.my_add_(changed, y.to(device)), changed)
                    self.assertGreater(changed._version, version)
                    assert_close(changed.cpu().contiguous(), x + y, rtol=0, atol=0, equal_nan=True)

    def test_broadcasts_the_other_operand_alone(self) -> None:
        x = torch.zeros(3, 4, device="npu")
        for other in (torch.arange(4.0), torch.tensor([[1.0], [2], [3]]), torch.tensor(5.0)):
            expected = x.cpu() + other
            assert_close(torch.ops.npu.my_add_(x, other.npu()).cpu(), expected, rtol=0, atol=0)
        sentence = r"npu::my_add_: expected y of a size that broadcasts to \[4\] .the size of x., got \[3, 4\]"
        with self.assertRaisesRegex(RuntimeError, sentence):
            torch.ops.npu.my_add_(torch.zeros(4, device="npu"), x)

    def test_leaves_what_lies_between_its_elements(self) -> None:
        base = torch.zeros(6, 8, device="npu")
        torch.ops.npu.my_add_(base[1::2, ::3], torch.ones(3, 3, device="npu"))
        expected = torch.zeros(6, 8)
        expected[1::2, ::3] = 1
        assert_close(base.cpu(), expected, rtol=0, atol=0)

    def test_operands_that_share_memory(self) -> None:
        x = torch.arange(6.0, device="npu")
        self.assertEqual(torch.ops.npu.my_add_(x, x).tolist(), [0.0, 2, 4, 6, 8, 10])
        square = torch.arange(9.0, device="npu").view(3, 3)
        torch.ops.npu.my_add_(square, square[1].expand(3, 3))
        assert_close(square.cpu(), torch.arange(9.0).view(3, 3) + torch.tensor([3.0, 4, 5]), rtol=0, atol=0)
        with self.assertRaisesRegex(RuntimeError, "single memory location"):
            torch.ops.npu.my_add_(torch.ones(2, device="npu").expand(3, 2), torch.ones(2, device="npu"))
        for other in (x[1], x[:1]):  # as Tensor.add_ does
            with self.assertRaisesRegex(RuntimeError, "some elements of the input tensor"):
                torch.ops.npu.my_add_(x, other)
        with self.assertRaisesRegex(RuntimeError, "some elements of the input tensor"):
            torch.ops.npu.my_add_(x[1:], x[:-1])

    def test_gradients_equal_those_of_add_(self) -> None:
        results = []
        for device, add_ in (("npu", torch.ops.npu.my_add_), ("cpu", torch.Tensor.add_)):
            x = torch.ones(3, 4, device=device, requires_grad=True)
            y = torch.arange(4.0, device=device).requires_grad_()
            z = x * 2
            add_(z[1:], y)
            (z * z).sum().backward()
            results.append((x.grad.cpu(), y.grad.cpu()))
        assert_close(results[0], results[1], rtol=0, atol=0)
        with self.assertRaisesRegex(RuntimeError, "a leaf Variable that requires grad"):
            torch.ops.npu.my_add_(x, y)

    def test_needs_no_memory(self) -> None:
        x, y = torch.ones(1000, device="npu"), torch.ones(1000, device="npu")
        torch.npu.empty_cache()  # a block of a freed tensor may be larger than what is asked for
        torch.npu.reset_peak_memory_stats()
        before = torch.npu.memory_allocated()
        torch.ops.npu.my_add_(x, y)
        torch.npu.synchronize()
        self.assertEqual(torch.npu.max_memory_allocated(), before)

    def test_opcheck_exported_and_compiled(self) -> None:
        op = torch.ops.npu.my_add_.default
        for device in contract.DEVICES:
            x, y = torch.tensor([-1.0, 2], device=device), torch.ones(2, device=device)
            self.assertEqual(set(contract.opcheck(op, (x.clone(), y)).values()), {"SUCCESS"})

            class Module(torch.nn.Module):
                def forward(self, x, y):
                    return op(x * 2, y) + 1

            program = torch.export.export(Module(), (x, y))
            self.assertEqual(program.module()(x, y).tolist(), [0.0, 6.0])
            torch._dynamo.reset()
            compiled = torch.compile(Module(), backend="aot_eager", fullgraph=True, dynamic=True)
            self.assertEqual(compiled(x, y).tolist(), [0.0, 6.0])


if __name__ == "__main__":
    unittest.main()
