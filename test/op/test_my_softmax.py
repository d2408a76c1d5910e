# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_softmax computes what torch.softmax computes."""

import itertools
import math
import sys
import unittest
from pathlib import Path

import torch
from torch.testing import assert_close

import op_extension

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.op.contract import DEVICES, FLOATS, move
from test.op.row_checks import RowChecks, leaf, normal, ulps
from test.op.values import layouts, random_values

softmax = torch.ops.npu.my_softmax
# Zero-size, one element, short and ragged rows, rows of a tile and of several, of all dimensions.
SHAPES = (
    ((), 0),
    ((1,), 0),
    ((0, 5), 1),
    ((5, 0), 1),
    ((5, 0), 0),
    ((7, 1), 1),
    ((1000, 1), 1),
    ((33, 3), 1),
    ((33, 3), 0),
    ((130, 10), -1),
    ((9, 513), 1),
    ((513, 9), 0),
    ((5, 80), -1),
    ((5, 401), -1),
    ((5, 512), -1),
    ((3, 1024), -1),
    ((2, 5001), 1),
    ((5001, 2), 0),
    ((40_003,), 0),
    ((2, 300, 70), 1),
    ((3, 4, 5, 6), 1),
    ((3, 4, 5, 6), -4),
)


def check_bound(got: torch.Tensor, x: torch.Tensor, dim: int) -> None:
    """The bound of ops.my_softmax: half an ulp for 16 bits, else what exp of a rounded difference leaves."""
    wide = x.double()
    distance = wide.amax(dim, keepdim=True) - wide if wide.numel() else wide
    bound = 0.51 if got.dtype.itemsize == 2 else 4 + distance
    assert bool((ulps(got, torch.softmax(wide, dim)) <= bound).all()), ulps(got, torch.softmax(wide, dim)).max()


class MySoftmaxTest(RowChecks):
    """Values, layouts and errors of the forward direction."""

    def test_long_columns_add_half_an_ulp_per_tile(self) -> None:
        x = normal((40001, 2), torch.float64, 1).float()
        got = softmax(x.npu(), 0).cpu()
        bound = 4 + x.double().amax(0) - x.double() + 0.5 * len(x) / 16
        self.assertTrue(bool((ulps(got, torch.softmax(x.double(), 0)) <= bound).all()))

    def test_is_within_its_bound_of_the_exact_result(self) -> None:
        for (shape, dim), dtype, device in itertools.product(SHAPES, FLOATS[:3], DEVICES):
            for spread in (1, 20):
                with self.subTest(shape=shape, dim=dim, dtype=dtype, device=device, spread=spread):
                    x = normal(shape, torch.float64, 1).mul(spread).to(dtype)
                    z = softmax(x.to(device), dim)
                    self.assertTrue(z.is_contiguous())
                    check_bound(z.cpu(), x, dim)

    def test_equals_torch_in_float64(self) -> None:
        for (shape, dim), device in itertools.product(SHAPES, DEVICES):
            x = normal(shape, torch.float64, 2)
            assert_close(softmax(x.to(device), dim).cpu(), torch.softmax(x, dim), rtol=1e-14, atol=1e-300)

    def test_treats_infinities_and_nan_as_torch_does(self) -> None:
        inf, nan = math.inf, math.nan
        rows = [
            [1.0, -inf, 2],
            [-inf] * 3,
            [inf, 1, 2],
            [nan, 1, 2],
            [1, nan, -inf],
            [inf, inf, -inf],
            [3e38, -3e38, 0],
        ]
        for dtype, device in itertools.product(FLOATS, DEVICES):
            x = torch.tensor(rows, dtype=torch.float64).to(dtype)
            for view, dim in ((x, 1), (x.t().contiguous(), 0), (x.repeat(1, 900), 1)):
                expected = torch.softmax(view.double(), dim).to(dtype)
                got = softmax(view.to(device), dim).cpu()
                assert_close(got, expected, rtol=max(2 * torch.finfo(dtype).eps, 1e-14), atol=1e-44, equal_nan=True)

    def test_random_values_with_special_ones_among_them(self) -> None:
        for dtype, dim in itertools.product(FLOATS, (0, 1)):
            x = random_values((70, 90), dtype, 3)
            got, expected = softmax(x.npu(), dim).cpu(), torch.softmax(x.double(), dim).to(dtype)
            tolerance = 100 * torch.finfo(dtype).eps
            assert_close(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)

    def test_accepts_any_strides_and_offsets(self) -> None:
        for dtype, device, dim in itertools.product(FLOATS[:3], DEVICES, range(4)):
            x = normal((2, 3, 5, 7), dtype, 5)
            for name, view in layouts(x).items():
                with self.subTest(layout=name, dtype=dtype, device=device, dim=dim):
                    z = softmax(move(view, device), dim)
                    self.assertEqual(z.stride(), torch.empty(view.shape).stride())
                    check_bound(z.cpu(), x, dim)

    def test_accepts_expanded_and_overlapping_views(self) -> None:
        base = normal((64,), torch.float32, 7)
        views = (
            base[:8].expand(6, 8),
            base[:6, None].expand(6, 8),
            base[5].expand(6, 8),
            base.as_strided((6, 8), (3, 1)),
            base.as_strided((6, 8), (1, 2)),
        )
        for view, dim, device in itertools.product(views, (0, 1), DEVICES):
            check_bound(softmax(move(view, device), dim).cpu(), view, dim)

    def test_runs_in_tile_instructions(self) -> None:
        x = normal((10, 64), torch.float32, 8, "npu")
        with op_extension.check.count_instructions() as counts:
            softmax(x, 1)
            softmax(x, 0)
            for name in ("TROWMAX", "TROWEXPANDEXPDIF", "TROWSUM", "TCOLMAX", "TCOLEXPANDEXPDIF", "TCOLSUM"):
                self.assertEqual(counts[name].elements, 640, name)

    def test_needs_no_memory_beside_the_result(self) -> None:
        x = normal((512, 1024), torch.float32, 9, "npu")
        for dim in (0, 1):
            self.check_extra_bytes(lambda x, dim=dim: softmax(x, dim), x, bytes_beside=0)

    def test_names_what_was_expected_and_what_came(self) -> None:
        for device in (*DEVICES, "meta"):
            x = torch.ones(2, 3, device=device)
            for dim in (2, -3):
                with self.assertRaisesRegex(IndexError, f"npu::my_softmax: expected dim from -2 to 1, got {dim}"):
                    softmax(x, dim)
            with self.assertRaisesRegex(TypeError, "npu::my_softmax: expected x of a floating point dtype, got Int"):
                softmax(x.int(), 0)
            with self.assertRaisesRegex(TypeError, "npu::my_softmax: expected x of dtype Float, .*, got Long"):
                softmax(x.long(), 0)
            sentence = r"npu::my_softmax_backward: expected result of size \[2, 3\] .*, got \[2\]"
            with self.assertRaisesRegex(RuntimeError, sentence):
                torch.ops.npu.my_softmax_backward(x, x[:, 0], 0)
        with self.assertRaisesRegex(RuntimeError, "npu::my_softmax: expected x of at most 16 dimensions .*, got 1[78]"):
            softmax(torch.zeros([2] * 17).permute(list(range(16, -1, -1))), 3)

    def test_refuses_tangents_and_freed_memory(self) -> None:
        self.check_refuses_tangents_and_freed_memory(lambda x: softmax(x, 0), (2, 3))

    def test_autocast_computes_in_float32(self) -> None:
        with torch.autocast("npu", torch.float16):
            self.assertEqual(softmax(torch.ones(2, 3, dtype=torch.float16, device="npu"), 1).dtype, torch.float32)


class MySoftmaxGradientTest(RowChecks):
    """Reverse mode, once and twice, and torch's transformations."""

    def test_gradient_is_that_of_torch(self) -> None:
        for (shape, dim), dtype, device in itertools.product(SHAPES, FLOATS, DEVICES):
            with self.subTest(shape=shape, dim=dim, dtype=dtype, device=device):
                x, gradient = leaf(shape, dtype, 1, device), normal(shape, dtype, 2)
                softmax(x, dim).backward(gradient.to(device))
                wide = x.detach().cpu().double().requires_grad_()
                torch.softmax(wide, dim).backward(gradient.double())
                eps = torch.finfo(dtype).eps
                assert_close(x.grad.cpu().double(), wide.grad, rtol=16 * eps, atol=16 * eps)

    def test_gradient_through_strided_and_expanded_gradients(self) -> None:
        for device, dim in itertools.product(DEVICES, (0, 1)):
            x = leaf((6, 40), torch.float64, 1, device)
            got = torch.autograd.grad(softmax(x, dim).t()[::2].square().sum(), x)[0].cpu()
            wide = x.detach().cpu().requires_grad_()
            expected = torch.autograd.grad(torch.softmax(wide, dim).t()[::2].square().sum(), wide)[0]
            assert_close(got, expected, rtol=1e-13, atol=1e-15)
            zero = torch.autograd.grad(softmax(x, dim).sum(), x)[0].cpu()
            assert_close(zero, torch.zeros(6, 40, dtype=torch.float64), rtol=0, atol=1e-16)

    def test_gradcheck_and_gradgradcheck(self) -> None:
        for shape, dim in (((3, 4), 1), ((3, 4), 0), ((2, 3, 2), 1), ((), 0), ((5,), -1)):
            self.check_gradients(lambda x, dim=dim: softmax(x, dim), shape)

    def test_same_bits_with_any_number_of_threads(self) -> None:
        for dim in (0, 1):
            x = leaf((300, 700), torch.float32, 1)
            self.check_same_bits_with_any_number_of_threads(lambda x, dim=dim: softmax(x, dim), x)

    def test_nothing_but_our_operators_runs_below_it(self) -> None:
        for dim in (0, 1):
            x = leaf((30, 70), torch.float32, 1)
            self.check_nothing_but_our_operators_runs(lambda x, dim=dim: softmax(x, dim), x)

    def test_opcheck(self) -> None:
        self.check_opcheck(
            softmax.default, lambda device, wanted: (normal((4, 5), torch.float32, 1, device).requires_grad_(wanted), 1)
        )
        self.check_opcheck(
            torch.ops.npu.my_softmax_backward.default,
            lambda device, wanted: (
                *(leaf((4, 5), torch.float32, k, device).requires_grad_(wanted) for k in (1, 2)),
                0,
            ),
        )

    def test_exported_scripted_and_compiled(self) -> None:
        x = leaf((6, 7), torch.float32, 1)
        self.check_export_and_compilation(lambda x: torch.ops.npu.my_softmax(x, -1), "npu.my_softmax", x)

        @torch.jit.script
        def f(x):
            return torch.ops.npu.my_softmax(x, 1)

        assert_close(f(x), softmax(x, 1), rtol=0, atol=0)

    def test_vmap(self) -> None:
        self.check_vmap(lambda x: softmax(x, -1), normal((3, 4, 5), torch.float32, 1, "npu"))


if __name__ == "__main__":
    unittest.main()
