# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_rms_norm computes what torch.nn.functional.rms_norm computes."""

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

rms_norm = torch.ops.npu.my_rms_norm


class MyRmsNormTest(NormChecks, RowChecks):
    """Values, layouts, gradients and transformations."""

    name = "my_rms_norm"
    takes_bias = False

    @staticmethod
    def apply(x, shape, weight=None) -> torch.Tensor:
        return torch.ops.npu.my_rms_norm(x, shape, weight, 1e-5)

    @staticmethod
    def exact(x, shape, weight=None) -> torch.Tensor:
        return torch.nn.functional.rms_norm(x, shape, weight, 1e-5)

    def test_eps_is_that_of_the_computing_dtype_unless_it_is_given(self) -> None:
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
            x = (normal((3, 7), torch.float64, 1) * 1e-4).to(dtype)
            for eps in (None, 1e-2, 0.0):
                expected = torch.nn.functional.rms_norm(x, (7,), eps=eps)
                tolerance = 4 * torch.finfo(dtype).eps
                assert_close(rms_norm(x.npu(), (7,), eps=eps).cpu(), expected, rtol=tolerance, atol=0)

    def test_opcheck(self) -> None:
        def operands(device: str, wanted: bool) -> tuple:
            x, weight = (leaf(s, torch.float32, 1, device).requires_grad_(wanted) for s in ((4, 5), (5,)))
            return (x, (5,), weight)

        self.check_opcheck(rms_norm.default, operands)
        self.check_opcheck(rms_norm.default, lambda device, wanted: (normal((4, 5), torch.float32, 1, device), (4, 5)))

    def test_scripted(self) -> None:
        @torch.jit.script
        def f(x, weight):
            return torch.ops.npu.my_rms_norm(x, [4], weight)

        x, weight = normal((3, 4), torch.float32, 1, "npu"), normal((4,), torch.float32, 2, "npu")
        assert_close(f(x, weight), rms_norm(x, (4,), weight), rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
