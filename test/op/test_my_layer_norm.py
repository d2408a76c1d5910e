# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_layer_norm computes what torch.nn.functional.layer_norm computes."""

import sys
import unittest
from pathlib import Path

import torch
from torch.testing import assert_close

import op_extension  # noqa: F401  (registers the operators)

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.op.norm_checks import NormChecks
from test.op.row_checks import RowChecks, leaf, normal

layer_norm = torch.ops.npu.my_layer_norm


class MyLayerNormTest(NormChecks, RowChecks):
    """Values, layouts, gradients and transformations."""

    name = "my_layer_norm"
    takes_bias = True

    @staticmethod
    def apply(x, shape, weight=None, bias=None) -> torch.Tensor:
        return torch.ops.npu.my_layer_norm(x, shape, weight, bias)

    @staticmethod
    def exact(x, shape, weight=None, bias=None) -> torch.Tensor:
        return torch.nn.functional.layer_norm(x, shape, weight, bias)

    def test_eps(self) -> None:
        x = normal((3, 7), torch.float64, 1) * 1e-3
        for eps in (1e-5, 1e-2, 0.0):
            expected = torch.nn.functional.layer_norm(x, (7,), eps=eps)
            assert_close(layer_norm(x.npu(), (7,), eps=eps).cpu(), expected, rtol=1e-12, atol=1e-12)

    def test_bias_without_weight(self) -> None:
        x, bias = normal((3, 7), torch.float64, 1), leaf((7,), torch.float64, 2, "cpu")
        expected = torch.nn.functional.layer_norm(x, (7,), None, bias)
        for device in ("npu", "cpu"):
            own = bias.detach().to(device).requires_grad_()
            z = layer_norm(x.to(device), (7,), None, own)
            assert_close(z.cpu(), expected, rtol=1e-12, atol=1e-12)
            z.sum().backward()
            assert_close(own.grad.cpu(), torch.full((7,), 3.0, dtype=torch.float64))

    def test_names_a_bias_of_another_kind(self) -> None:
        x = torch.ones(2, 3, device="npu")
        with self.assertRaisesRegex(RuntimeError, "npu::my_layer_norm: expected bias on npu:0 .*, got cpu"):
            layer_norm(x, (3,), None, torch.ones(3))

    def test_opcheck(self) -> None:
        def operands(device: str, wanted: bool) -> tuple:
            x, weight, bias = (leaf(s, torch.float32, 1, device).requires_grad_(wanted) for s in ((4, 5), (5,), (5,)))
            return (x, (5,), weight, bias)

        self.check_opcheck(layer_norm.default, operands)
        self.check_opcheck(
            layer_norm.default, lambda device, wanted: (normal((4, 5), torch.float32, 1, device), (4, 5))
        )

    def test_scripted(self) -> None:
        @torch.jit.script
        def f(x, weight):
            return torch.ops.npu.my_layer_norm(x, [4], weight)

        x, weight = normal((3, 4), torch.float32, 1, "npu"), normal((4,), torch.float32, 2, "npu")
        assert_close(f(x, weight), layer_norm(x, (4,), weight), rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
