# SPDX-License-Identifier: Apache-2.0
"""my_pto_ops, as it is installed."""

import itertools
import unittest

import torch
import torch.nn.functional as F
from torch.testing import assert_close

import my_pto_ops  # noqa: F401  (loads torch.ops.npu.my_add and its neighbours)

ops = torch.ops.npu
SHAPES = ((), (0, 3), (1,), (4095,), (4097,), (100, 100), (3, 5, 7), (24 * 4096 + 1,))


def values(*shape, wanted=False):
    """Random numbers of npu, a leaf: what .npu() of a leaf makes has no .grad."""
    return torch.randn(shape, device="npu", requires_grad=wanted)


class TestMyOps(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def test_my_add(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                x, y = values(*shape), values(*shape)
                assert_close(ops.my_add(x, y), x + y, rtol=0, atol=0)
                assert_close(ops.my_add_async(x, y), x + y, rtol=0, atol=0)

    def test_my_add_backward(self):
        x, y = values(100, 100, wanted=True), values(100, 100, wanted=True)
        ops.my_add(x, y).sum().backward()
        self.assertIsNotNone(x.grad)
        self.assertIsNotNone(y.grad)
        self.assertTrue(torch.allclose(x.grad, torch.ones_like(x)))
        self.assertTrue(torch.allclose(y.grad, torch.ones_like(y)))

    def test_in_place(self):
        x, y = values(5000), values(5000)
        expected, address = x + y, x.data_ptr()
        self.assertIs(ops.my_add_(x, y), x)
        assert_close(x, expected, rtol=0, atol=0)
        self.assertIs(ops.my_relu_(x), x)
        assert_close(x, expected.relu(), rtol=0, atol=0)
        self.assertEqual(x.data_ptr(), address)

    def test_in_place_on_a_part_leaves_the_rest(self):
        x = values(3, 64)
        expected = x.clone()
        expected[1] = expected[1].relu()
        ops.my_relu_(x[1])  # a view that starts within the memory of x
        assert_close(x, expected, rtol=0, atol=0)

    def test_fused(self):
        x, y = values(7, 999), values(7, 999)
        assert_close(ops.fused_add_relu(x, y), torch.relu(x + y), rtol=0, atol=0)

    def test_my_mul(self):
        x = values(5000)
        for alpha in (2.5, -3, 0):
            assert_close(ops.my_mul(x, alpha), x * alpha, rtol=0, atol=0)

    def test_my_split(self):
        for shape, dim in (((5, 4), 0), ((3, 9), 1), ((2, 5, 3000), 1), ((2, 3, 4), -1), ((1,), 0)):
            with self.subTest(shape=shape, dim=dim):
                x = values(*shape)
                first = (shape[dim] + 1) // 2
                assert_close(ops.my_split(x, dim), x.split((first, shape[dim] - first), dim), rtol=0, atol=0)

    def test_any_strides(self):
        x, y = values(64, 96).t()[1::2], values(48, 64)
        assert_close(ops.my_add(x, y), x + y, rtol=0, atol=0)
        assert_close(ops.my_split(x, 1)[1], x[:, 32:], rtol=0, atol=0)

    def test_my_conv_and_its_gradients(self):
        cases = itertools.product((1, 2), (0, 1), (False, True))
        for stride, padding, has_bias in cases:
            with self.subTest(stride=stride, padding=padding, bias=has_bias):
                leaves = [values(2, 3, 9, 8, wanted=True), values(4, 3, 3, 2, wanted=True)]
                bias = values(4, wanted=True) if has_bias else None
                leaves += [bias] if has_bias else []
                results = []
                for conv in (ops.my_conv, F.conv2d):
                    out = conv(*leaves[:2], bias, stride, padding)
                    results.append((out, *torch.autograd.grad(out.square().sum(), leaves)))
                assert_close(*results, rtol=1e-4, atol=1e-4)

    def test_runs_on_the_current_stream_and_keeps_operands_alive(self):
        expected = torch.arange(40960.0)
        stream = torch.npu.Stream()
        with torch.npu.stream(stream):
            z = ops.my_add(expected.npu(), torch.zeros(40960, device="npu"))
            event = torch.npu.Event()
            event.record(stream)
        event.synchronize()
        assert_close(z.cpu(), expected, rtol=0, atol=0)

    def test_names_what_it_expects(self):
        x = values(4)
        cases = (
            (TypeError, "npu::my_add: expected a tensor of dtype Float, got Half", ops.my_add, (x.half(), x.half())),
            (ValueError, r"expected y of size \[4\] \(the size of x\), got \[3\]", ops.my_add, (x, x[:3])),
            (ValueError, "expected y on npu:0 .*, got it on cpu", ops.my_add, (x, x.cpu())),
            (ValueError, "expected x of a dimension or more", ops.my_split, (values(), 0)),
            (ValueError, "expected a contiguous tensor", ops.my_relu_, (values(4, 4).t(),)),
            (ValueError, "expected weight for 3 channels", ops.my_conv, (values(1, 3, 4, 4), values(1, 2, 2, 2))),
        )
        for error, sentence, op, arguments in cases:
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                op(*arguments)


if __name__ == "__main__":
    unittest.main()
