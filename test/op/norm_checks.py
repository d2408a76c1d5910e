# SPDX-License-Identifier: Apache-2.0
"""Tests that my_layer_norm and my_rms_norm share."""

import itertools
import math
from collections.abc import Sequence

import torch
from torch.testing import assert_close

import op_extension
from test.op.contract import DEVICES, FLOATS, move
from test.op.row_checks import RowChecks, leaf, normal
from test.op.values import layouts

# x and how many of its dimensions are a row: one element, zero rows, rows of no element, short and ragged rows, rows
# of a tile and of several.
SHAPES = (
    ((1,), 1),
    ((7, 1), 1),
    ((0, 5), 1),
    ((5, 0), 1),
    ((33, 3), 1),
    ((130, 10), 1),
    ((70, 130), 1),
    ((5, 80), 1),
    ((5, 401), 1),
    ((5, 512), 1),
    ((3, 1024), 1),
    ((2, 5001), 1),
    ((40_003,), 1),
    ((2, 3, 4, 5), 2),
    ((2, 3, 4, 5), 4),
    ((4, 1, 300), 2),
)


class NormChecks:
    """Mixed into a RowChecks that has name, takes_bias, apply and exact."""

    name: str
    takes_bias: bool

    @staticmethod
    def apply(x, shape, weight=None, bias=None) -> torch.Tensor:
        """The operator; bias only where it takes one."""
        raise NotImplementedError

    @staticmethod
    def exact(x, shape, weight=None, bias=None) -> torch.Tensor:
        """What torch computes in float64."""
        raise NotImplementedError

    def operands(self, shape: Sequence[int], rows: int, dtype: torch.dtype) -> list[torch.Tensor]:
        """x, weight and, where there is one, bias."""
        row = shape[len(shape) - rows :]
        shift = (normal(row, dtype, 3),) if self.takes_bias else ()
        return [normal(shape, dtype, 1), normal(row, dtype, 2), *shift]

    def check_bound(self: RowChecks, got: torch.Tensor, x: torch.Tensor, rows: int, *vectors: torch.Tensor) -> None:
        """The bound that ops.py states, against float64."""
        wide, row = x.double(), x.shape[x.dim() - rows :]
        exact = self.exact(wide, row, *(v.double() for v in vectors))
        dims = tuple(range(x.dim() - rows, x.dim()))
        mean = wide.mean(dims, keepdim=True) if self.takes_bias else torch.zeros((), dtype=torch.float64)
        scale = ((wide - mean).square().mean(dims, keepdim=True) + 1e-5).rsqrt()
        weight = vectors[0].double().abs() if vectors else 1.0
        bias = vectors[1].double().abs() if len(vectors) > 1 else 0.0
        eps = torch.finfo(torch.float64 if x.dtype == torch.float64 else torch.float32).eps
        size = wide.abs() + (wide.abs().mean(dims, keepdim=True) if self.takes_bias else 0)
        # In float64 what is compared with is rounded as well.
        bound = (64 if x.dtype == torch.float64 else 4) * eps * (size * scale * weight + bias)
        if x.dtype.itemsize == 2:
            bound += torch.finfo(x.dtype).eps / 2 * exact.abs() + torch.finfo(x.dtype).smallest_normal
        self.assertTrue(bool(((got.double() - exact).abs() <= bound).all()))

    def test_is_within_its_bound_of_the_exact_result(self: RowChecks) -> None:
        for (shape, rows), dtype, device in itertools.product(SHAPES, FLOATS, DEVICES):
            operands = self.operands(shape, rows, dtype)
            for count in range(1, len(operands) + 1):
                with self.subTest(shape=shape, rows=rows, dtype=dtype, device=device, count=count):
                    x, *vectors = operands[:count]
                    row = shape[len(shape) - rows :]
                    z = self.apply(x.to(device), row, *(v.to(device) for v in vectors))
                    self.assertTrue(z.is_contiguous())
                    if x.numel():
                        self.check_bound(z.cpu(), x, rows, *vectors)

    def test_rows_with_a_large_mean(self: RowChecks) -> None:
        for width in (100, 3000):
            x = normal((5, width), torch.float32, 1) + 1000
            self.check_bound(self.apply(x.npu(), (width,)).cpu(), x, 1)

    def test_treats_infinities_and_nan_as_torch_does(self: RowChecks) -> None:
        inf, nan = math.inf, math.nan
        for dtype, device in itertools.product(FLOATS, DEVICES):
            x = torch.tensor(
                [[1, 2, 3, 4], [inf, 1, 2, 3], [nan, 1, 2, 3], [-inf, inf, 0, 0], [0, 0, 0, 0]], dtype=dtype
            )
            for wide in (x, x.repeat(1, 900)):
                row = wide.shape[1:]
                got, expected = self.apply(wide.to(device), row).cpu(), self.exact(wide.double(), row)
                assert_close(
                    got, expected.to(dtype), rtol=2e-2 if dtype.itemsize == 2 else 1e-6, atol=0, equal_nan=True
                )

    def test_accepts_any_strides_and_offsets(self: RowChecks) -> None:
        for dtype, device, rows in itertools.product(FLOATS[:3], DEVICES, (1, 2, 3, 4)):
            x, *vectors = self.operands((2, 3, 5, 7), rows, dtype)
            row = x.shape[4 - rows :]
            for name, view in layouts(x).items():
                with self.subTest(layout=name, dtype=dtype, device=device, rows=rows):
                    z = self.apply(move(view, device), row, *(v.to(device) for v in vectors))
                    self.assertEqual(z.stride(), torch.empty(view.shape).stride())
                    self.check_bound(z.cpu(), x, rows, *vectors)

    def test_accepts_expanded_operands(self: RowChecks) -> None:
        base = normal((64,), torch.float32, 7)
        for view, device in itertools.product(
            (base[:8].expand(6, 8), base.as_strided((6, 8), (3, 1)), base.as_strided((6, 8), (1, 2))), DEVICES
        ):
            weight = base[9].expand(8)
            z = self.apply(move(view, device), (8,), move(weight, device))
            self.check_bound(z.cpu(), view, 1, weight)

    def test_gradients_are_those_of_torch(self: RowChecks) -> None:
        for (shape, rows), dtype, device in itertools.product(SHAPES, FLOATS, DEVICES):
            operands = self.operands(shape, rows, dtype)
            gradient = normal(shape, dtype, 4)
            for count in range(1, len(operands) + 1):
                with self.subTest(shape=shape, rows=rows, dtype=dtype, device=device, count=count):
                    row = shape[len(shape) - rows :]
                    own = [v.to(device, copy=True).requires_grad_() for v in operands[:count]]
                    wide = [v.to(torch.float64, copy=True).requires_grad_() for v in operands[:count]]
                    self.apply(own[0], row, *own[1:]).backward(gradient.to(device))
                    self.exact(wide[0], row, *wide[1:]).backward(gradient.double())
                    tolerance = 16 * torch.finfo(dtype).eps
                    for got, expected in zip(own, wide, strict=True):
                        # The factor of a row of one element is 1 / sqrt(eps).
                        size = float(expected.grad.abs().max()) if expected.numel() else 0.0
                        size += 316 if math.prod(row) == 1 else 0
                        assert_close(
                            got.grad.cpu().double(), expected.grad, rtol=tolerance, atol=tolerance * (1 + size)
                        )

    def test_sums_of_16_bits_are_kept_in_float(self: RowChecks) -> None:
        for dtype in (torch.float16, torch.bfloat16):
            x = leaf((3000, 8), dtype, 1)
            weight = torch.ones(8, dtype=dtype, device="npu", requires_grad=True)
            self.apply(x, (8,), weight).backward(normal((3000, 8), dtype, 2, "npu").abs())
            wide, ones = x.detach().cpu().double(), torch.ones(8, dtype=torch.float64, requires_grad=True)
            self.exact(wide, (8,), ones).backward(normal((3000, 8), dtype, 2).abs().double())
            assert_close(weight.grad.cpu().double(), ones.grad, rtol=0.51 * torch.finfo(dtype).eps, atol=1e-3)

    def test_gradient_through_strided_and_expanded_gradients(self: RowChecks) -> None:
        for device in DEVICES:
            x, weight = leaf((6, 40), torch.float64, 1, device), leaf((40,), torch.float64, 2, device)
            wide = [v.detach().cpu().requires_grad_() for v in (x, weight)]
            for pick in (lambda z: z.t()[::2].square().sum(), torch.sum):
                got = torch.autograd.grad(pick(self.apply(x, (40,), weight)), (x, weight))
                expected = torch.autograd.grad(pick(self.exact(wide[0], (40,), wide[1])), wide)
                assert_close([g.cpu() for g in got], list(expected), rtol=1e-11, atol=1e-12)

    def test_gradcheck_and_gradgradcheck(self: RowChecks) -> None:
        for shape, rows in (((3, 5), 1), ((2, 3, 2), 2), ((4,), 1)):
            row = shape[len(shape) - rows :]
            self.check_gradients(lambda x, row=row: self.apply(x, row), shape)
            vectors = (row, row) if self.takes_bias else (row,)
            self.check_gradients(lambda x, *vectors, row=row: self.apply(x, row, *vectors), shape, *vectors)

    def test_gradient_of_the_scale(self: RowChecks) -> None:
        def scale(x):
            return torch.ops.npu.my_layer_norm_backward_scale(x, (4,), 1e-5, self.takes_bias)

        self.check_gradients(scale, (3, 4))

    def test_same_bits_with_any_number_of_threads(self: RowChecks) -> None:
        operands = [v.npu().requires_grad_() for v in self.operands((300, 700), 1, torch.float32)]
        self.check_same_bits_with_any_number_of_threads(lambda x, *vectors: self.apply(x, (700,), *vectors), *operands)

    def test_nothing_but_our_operators_runs_below_it(self: RowChecks) -> None:
        operands = [v.npu().requires_grad_() for v in self.operands((30, 70), 1, torch.float32)]
        self.check_nothing_but_our_operators_runs(lambda x, *vectors: self.apply(x, (70,), *vectors), *operands)

    def test_runs_in_tile_instructions(self: RowChecks) -> None:
        x, *vectors = (v.npu().requires_grad_() for v in self.operands((64, 100), 1, torch.float32))
        with op_extension.check.count_instructions() as counts:
            z = self.apply(x, (100,), *vectors)
            self.assertEqual(counts["TROWSUM"].elements, 12_800 if self.takes_bias else 6400)
            self.assertEqual(counts["TCOLEXPANDMUL"].elements, 6400)
            torch.autograd.grad(z, x, torch.ones_like(z))
            self.assertGreater(counts["TROWSUM"].elements, 12_800 * 2 if self.takes_bias else 6400 * 2)

    def test_needs_no_memory_beside_the_result(self: RowChecks) -> None:
        x, weight = normal((512, 1024), torch.float32, 9, "npu"), torch.ones(1024, device="npu")
        self.check_extra_bytes(lambda x: self.apply(x, (1024,), weight), x, bytes_beside=0)
        # Rows that are not contiguous are copied.
        self.check_extra_bytes(lambda x: self.apply(x.t(), (512,)), x, bytes_beside=x.nbytes)

    def test_names_what_was_expected_and_what_came(self: RowChecks) -> None:
        for device in (*DEVICES, "meta"):
            x = torch.ones(2, 3, device=device)
            for shape in ((2,), (3, 3), (1, 2, 3)):
                sentence = rf"npu::{self.name}: expected a normalized_shape of the last sizes of x, \[2, 3\], got \["
                with self.assertRaisesRegex(RuntimeError, sentence):
                    self.apply(x, shape)
            with self.assertRaisesRegex(RuntimeError, f"npu::{self.name}: expected a normalized_shape of at least one"):
                self.apply(x, ())
            with self.assertRaisesRegex(TypeError, f"npu::{self.name}: expected x of a floating point dtype, got Int"):
                self.apply(x.int(), (3,))
            with self.assertRaisesRegex(
                RuntimeError, rf"npu::{self.name}: expected weight of size \[3\] .*, got \[2\]"
            ):
                self.apply(x, (3,), x[:, 0])
            with self.assertRaisesRegex(RuntimeError, f"npu::{self.name}: expected weight of dtype Float .*, got Half"):
                self.apply(x, (3,), x[0].half())
        with self.assertRaisesRegex(
            RuntimeError, f"npu::{self.name}: expected x of at most 16 dimensions .*, got 1[78]"
        ):
            self.apply(torch.zeros([2] * 17).permute([*range(15, -1, -1), 16]), (2,))

    def test_refuses_tangents_and_freed_memory(self: RowChecks) -> None:
        self.check_refuses_tangents_and_freed_memory(lambda x: self.apply(x, (3,)), (2, 3))

    def test_autocast_computes_in_float32(self: RowChecks) -> None:
        with torch.autocast("npu", torch.float16):
            z = self.apply(torch.ones(2, 3, dtype=torch.float16, device="npu"), (3,), torch.ones(3, device="npu"))
            self.assertEqual(z.dtype, torch.float32)

    def test_exported_and_compiled(self: RowChecks) -> None:
        operands = [v.npu().requires_grad_() for v in self.operands((6, 7), 1, torch.float32)]
        self.check_export_and_compilation(
            lambda x, *vectors: self.apply(x, x.shape[-1:], *vectors), f"npu.{self.name}", *operands
        )

    def test_opcheck_of_the_way_back(self: RowChecks) -> None:
        def operands(device: str, wanted: bool) -> list[torch.Tensor]:
            return [
                leaf(s, torch.float32, k, device).requires_grad_(wanted) for k, s in enumerate(((4, 5), (4, 5), (5,)))
            ]

        def backward(device: str, wanted: bool) -> tuple:
            gradient, x, weight = operands(device, wanted)
            return (gradient, x, (5,), weight, 1e-5, self.takes_bias)

        self.check_opcheck(torch.ops.npu.my_layer_norm_backward.default, backward)
        self.check_opcheck(
            torch.ops.npu.my_layer_norm_backward_weight.default,
            lambda device, wanted: (*operands(device, wanted)[:2], (5,), 1e-5, self.takes_bias),
        )

    def test_vmap(self: RowChecks) -> None:
        self.check_vmap(lambda x: self.apply(x, (5,)), normal((3, 4, 5), torch.float32, 1, "npu"))
