# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_gelu computes what torch.nn.functional.gelu computes."""

import unittest

import torch

from test.op import contract


def ulps(actual: torch.Tensor, exact: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Distance of ``actual`` from ``exact`` (float64) in units of the last place of ``scale``."""
    info = torch.finfo(actual.dtype)
    unit = torch.maximum(scale.abs(), torch.tensor(info.smallest_normal, dtype=torch.float64)) * info.eps
    return (actual.double() - exact).abs() / unit


class MyGeluTest(contract.ElementwiseContract, unittest.TestCase):
    """x times the normal distribution at x."""

    overload = torch.ops.npu.my_gelu.default
    instruction = "TEXP"
    dtypes = contract.FLOATS
    operands = 1
    approximate = "none"

    def call(self, x):
        return torch.ops.npu.my_gelu(x, approximate=self.approximate)

    def expected(self, x):
        return torch.nn.functional.gelu(x, approximate=self.approximate)

    def check(self, actual, expected, x):
        finite = x.isfinite()
        exact = torch.nn.functional.gelu(x.double(), approximate=self.approximate)
        error = ulps(actual[finite], exact[finite], x[finite].double())
        # The reference is in float64 itself.
        bound = 4.0 if x.dtype == torch.float64 else 2.0
        self.assertLessEqual(error.max().item() if error.numel() else 0.0, bound)
        self.assertEqual(actual[x.isnan()].isnan().all().item(), True)
        self.assertEqual(actual[x == torch.inf].tolist(), [torch.inf] * int((x == torch.inf).sum()))

    def exact_below_zero(self, x):
        """Without the cancellation of 1 + erf."""
        tail = torch.special.erfcx(x * -(0.5**0.5)) * torch.exp(x * x / -2) / 2
        return x * tail

    def test_bound_in_the_lower_tail(self) -> None:
        x = torch.linspace(-9, 0, 100_001)
        exact = self.exact_below_zero(x.double())
        error = ulps(self.call(x.npu()).cpu(), exact, exact)
        self.assertTrue(bool((error <= 6 + x.double() ** 2).all()))

    def test_names_another_approximation(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "npu::my_gelu: expected approximate of .none. or .tanh., got .erf."):
            torch.ops.npu.my_gelu(torch.ones(2, device="npu"), approximate="erf")

    def test_third_derivative_is_refused_in_a_sentence(self) -> None:
        x = torch.ones(2, dtype=torch.float64, device="npu", requires_grad=True)
        (first,) = torch.autograd.grad(self.call(x).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
        with self.assertRaisesRegex(NotImplementedError, "npu::my_gelu: expected at most two derivatives"):
            second.sum().backward()


class MyGeluTanhTest(MyGeluTest):
    """The form with tanh."""

    approximate = "tanh"

    def exact_below_zero(self, x):
        return x * torch.sigmoid((8 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))

    def test_opcheck(self) -> None:
        x = torch.randn(3, 4, requires_grad=True)
        results = contract.opcheck(self.overload, (x,), {"approximate": "tanh"})
        self.assertEqual(set(results.values()), {"SUCCESS"})


if __name__ == "__main__":
    unittest.main()
