# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_split gives the halves of a tensor, as torch.chunk does."""

import sys
import unittest
from pathlib import Path

import torch
from torch.testing import assert_close

import op_extension

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.op import contract

SHAPES = (
    ((4, 6), 0),
    ((5, 7), -1),
    ((5, 7), 0),
    ((1, 3), 0),
    ((0, 3), 0),
    ((3, 0), 0),
    ((9,), 0),
    ((3, 1, 5, 4), 2),
    ((2, 5000), 1),
)
DTYPES = (*contract.FLOATS, torch.int32)


def halves(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """What torch says."""
    first = (x.size(dim) + 1) // 2
    return x.narrow(dim, 0, first), x.narrow(dim, first, x.size(dim) - first)


class MySplitTest(unittest.TestCase):
    """Copies of the two halves along a dimension; the first has the odd element."""

    def test_equals_the_halves(self) -> None:
        for shape, dim in SHAPES:
            for dtype in DTYPES:
                for device in contract.DEVICES:
                    with self.subTest(shape=shape, dim=dim, dtype=dtype, device=device):
                        x = contract.random_values(shape, dtype, 1)
                        parts = torch.ops.npu.my_split(x.to(device), dim)
                        for part, expected in zip(parts, halves(x, dim), strict=True):
                            assert_close(part.cpu(), expected.contiguous(), rtol=0, atol=0, equal_nan=True)
                            self.assertTrue(part.is_contiguous())
                            self.assertFalse(part.is_set_to(x))

    def test_takes_any_strides_and_offsets(self) -> None:
        x = contract.random_values((2, 3, 5, 7), torch.float32, 2)
        for name, view in contract.layouts(x).items():
            for dim in range(4):
                with self.subTest(layout=name, dim=dim):
                    for part, expected in zip(
                        torch.ops.npu.my_split(contract.move(view, "npu"), dim), halves(x, dim), strict=True
                    ):
                        assert_close(part.cpu(), expected.contiguous(), rtol=0, atol=0, equal_nan=True)

    def test_gradients(self) -> None:
        for device in contract.DEVICES:
            for shape, dim in (((3, 4), 1), ((3, 4), 0), ((1, 2), 0)):
                x = torch.randn(shape, dtype=torch.float64, device=device, requires_grad=True)
                self.assertTrue(torch.autograd.gradcheck(lambda x, dim=dim: torch.ops.npu.my_split(x, dim), (x,)))
                self.assertTrue(torch.autograd.gradgradcheck(lambda x, dim=dim: torch.ops.npu.my_split(x, dim), (x,)))

    def test_gradient_of_one_half_alone(self) -> None:
        x = torch.ones(5, device="npu", requires_grad=True)
        torch.ops.npu.my_split(x, 0)[1].sum().backward()
        self.assertEqual(x.grad.tolist(), [0.0, 0, 0, 1, 1])

    def test_opcheck_and_compiled(self) -> None:
        op = torch.ops.npu.my_split.default
        for device, tests in (("cpu", None), ("npu", contract.CHECKS_ON_NPU)):
            kwargs = {} if tests is None else {"test_utils": tests}
            for wanted in (False, True):
                x = torch.randn(5, 4, device=device, requires_grad=wanted)
                self.assertEqual(set(contract.opcheck(op, (x, 0), **kwargs).values()), {"SUCCESS"})
            torch._dynamo.reset()
            compiled = torch.compile(lambda x: op(x, -1)[0] + 1, backend="aot_eager", fullgraph=True, dynamic=True)
            x = torch.randn(3, 7, device=device)
            assert_close(compiled(x), x[:, :4] + 1, rtol=0, atol=0)

    def test_computes_in_tile_instructions(self) -> None:
        x = torch.randn(6, 4, device="npu", requires_grad=True)
        with op_extension.check.count_instructions() as counts, contract.Recorder() as recorder:
            parts = torch.ops.npu.my_split(x, 0)
            torch.autograd.grad(parts, x, [part.detach() for part in parts])
        self.assertEqual([n for n in recorder.names if not n.startswith((*contract.BELOW, "aten::narrow"))], [])
        self.assertEqual(counts["TMOV"].elements, 48)

    def test_names_what_was_expected_and_what_came(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "npu::my_split: expected x of at least one dimension, got none"):
            torch.ops.npu.my_split(torch.tensor(1.0, device="npu"), 0)
        with self.assertRaisesRegex(IndexError, "Dimension out of range"):
            torch.ops.npu.my_split(torch.ones(2, device="npu"), 1)


if __name__ == "__main__":
    unittest.main()
