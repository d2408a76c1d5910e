# SPDX-License-Identifier: Apache-2.0
"""my_op_package, as it is installed."""

import itertools
import unittest

import torch
from my_op_package import scaled_add
from torch.library import opcheck
from torch.testing import assert_close

import op_extension

DEVICES = ("npu", "cpu")
# What the checks of torch.library do on tensors of npu; on CPU all of them run.
CHECKS_ON_NPU = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")


def operands(shape, device="npu", wanted=False):
    generator = torch.Generator().manual_seed(1)
    made = [torch.randn(shape, generator=generator).to(device) for _ in range(2)]
    return [x.requires_grad_(wanted) for x in made]


class ScaledAddTest(unittest.TestCase):
    def test_equals_torch_bit_for_bit(self):
        shapes = ((), (0, 3), (1,), (2047,), (2048,), (2049,), (3, 5, 7), (100_003,))
        for shape, device in itertools.product(shapes, DEVICES):
            with self.subTest(shape=shape, device=device):
                x, y = operands(shape, device)
                z = scaled_add(x, y, 0.3)
                assert_close(z.cpu(), x.cpu() + 0.3 * y.cpu(), rtol=0, atol=0)

    def test_takes_any_strides(self):
        x, y = operands((6, 8))
        z = scaled_add(x.t()[::2], y.t()[::2], 2.0)
        assert_close(z, x.t()[::2] + 2 * y.t()[::2], rtol=0, atol=0)
        self.assertTrue(z.is_contiguous())

    def test_runs_its_own_kernel_on_the_current_stream_and_keeps_operands_alive(self):
        launches = op_extension.check.launch_count("scaled_add")
        expected = sum(operands(40960)).cpu()
        stream = torch.npu.Stream()
        with torch.npu.stream(stream):
            z = scaled_add(*operands(40960), 1.0)
            others = [torch.zeros(40960, device="npu") for _ in range(4)]  # would reuse freed memory
        stream.synchronize()
        self.assertEqual(op_extension.check.launch_count("scaled_add"), launches + 1)
        assert_close(z.cpu(), expected, rtol=0, atol=0)
        self.assertEqual(sum(other.sum().item() for other in others), 0)

    def test_gradients(self):
        for device in DEVICES:
            x, y = operands((3, 4), device, wanted=True)
            scaled_add(x, y, 3.0).square().sum().backward()
            got, x.grad, y.grad = (x.grad, y.grad), None, None
            (x + 3.0 * y).square().sum().backward()
            assert_close(got, (x.grad, y.grad))

    def test_passes_the_checks_of_torch_library(self):
        for device, checks in (("cpu", {}), ("npu", {"test_utils": CHECKS_ON_NPU})):
            for wanted in (False, True):
                opcheck(torch.ops.my_ops.scaled_add, (*operands((3, 4), device, wanted), 2.0), **checks)

    def test_compiles_into_one_graph(self):
        compiled = torch.compile(lambda x, y: scaled_add(x, y, 2.0) + 1, backend="aot_eager", fullgraph=True)
        x, y = operands((5, 3))
        assert_close(compiled(x, y), scaled_add(x, y, 2.0) + 1, rtol=0, atol=0)

    def test_names_what_it_expects(self):
        x, y = operands((4,))
        cases = (
            (TypeError, "expected x of dtype Float, got Half", (x.half(), y.half(), 1.0)),
            (ValueError, r"expected y of size \[4\] \(the size of x\), got \[3\]", (x, y[:3], 1.0)),
            (ValueError, r"argument 2 \(float\*\): expected a tensor on npu:0 .*, got one on cpu", (x, y.cpu(), 1.0)),
            (ValueError, r"argument 3 \(float\): expected a number that this type holds, got 1e\+300", (x, y, 1e300)),
        )
        for error, sentence, arguments in cases:
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                scaled_add(*arguments)


if __name__ == "__main__":
    unittest.main()
