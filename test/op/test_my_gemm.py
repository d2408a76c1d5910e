# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_gemm multiplies matrices, with sums in float32 that are rounded once."""

import itertools
import sys
import unittest
import warnings
from pathlib import Path

import torch
from torch.library import opcheck
from torch.testing import assert_close

import op_extension

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.op.contract import BELOW, CHECKS_ON_NPU, DEVICES, Recorder, leaves, move
from test.op.products import (
    FLOATS,
    assert_same_bits_however_run,
    assert_sums_close,
    matrix_views,
    normal,
    peak_beside,
)

# One element, whole tiles of 128, some of half the depth, more and less than a tile in every direction, or nothing.
SIZES = (
    (1, 1, 1),
    (3, 5, 7),
    (16, 16, 16),
    (128, 128, 128),
    (128, 64, 24),
    (150, 96, 24),
    (130, 70, 257),
    (5, 1100, 3),
    (1, 1000, 1),
    (0, 3, 4),
    (3, 4, 0),
)
TRANSPOSE = ("aten::t", "aten::transpose")  # views, in the gradient


def multiply(a: torch.Tensor, b: torch.Tensor, device: str = "npu") -> torch.Tensor:
    """``my_gemm`` of the matrices as they lie, on ``device``; the result on CPU."""
    return torch.ops.npu.my_gemm(move(a, device), move(b, device)).cpu()


def check(actual: torch.Tensor, a: torch.Tensor, b: torch.Tensor, what: str = "") -> None:
    """Compares with the product in float64."""
    magnitude = a.double().abs() @ b.double().abs()
    assert_sums_close(actual, a.double() @ b.double(), magnitude, a.shape[1], what)


class MyGemmTest(unittest.TestCase):
    """Values, layouts and errors."""

    def test_is_within_its_bound_of_the_product_in_float64(self) -> None:
        for (m, k, n), dtype, device in itertools.product(SIZES, FLOATS, DEVICES):
            with self.subTest(m=m, k=k, n=n, dtype=dtype, device=device):
                a, b = normal((m, k), dtype, 1), normal((k, n), dtype, 2)
                c = multiply(a, b, device)
                self.assertTrue(c.is_contiguous())
                check(c, a, b)

    def test_small_integers_are_exact(self) -> None:
        for dtype in FLOATS:
            a = torch.arange(-12, 12).reshape(4, 6).to(dtype)
            b = torch.arange(-9, 9).reshape(6, 3).to(dtype)
            assert_close(multiply(a, b), (a.double() @ b.double()).to(dtype), rtol=0, atol=0)

    def test_sum_of_nothing_is_zero(self) -> None:
        for dtype, device in itertools.product(FLOATS, DEVICES):
            c = multiply(torch.empty(130, 0, dtype=dtype), torch.empty(0, 5, dtype=dtype), device)
            assert_close(c, torch.zeros(130, 5, dtype=dtype), rtol=0, atol=0)

    def test_takes_any_strides_and_offsets(self) -> None:
        for dtype in FLOATS:
            a, b = normal((33, 20), dtype, 3), normal((20, 50), dtype, 4)
            for (a_name, a_view), (b_name, b_view) in itertools.product(matrix_views(a), matrix_views(b)):
                with self.subTest(a=a_name, b=b_name, dtype=dtype):
                    check(multiply(a_view, b_view), a, b)

    def test_takes_expanded_and_overlapping_matrices(self) -> None:
        base = normal((64,), torch.float32, 5)
        views = (
            base[:8].expand(8, 8),
            base[:8, None].expand(8, 8),
            base[5].expand(8, 8),
            base.as_strided((8, 8), (3, 1)),
            base.as_strided((8, 8), (1, 2)),
        )
        for a, b in itertools.product(views, repeat=2):
            check(multiply(a, b), a, b)

    def test_takes_lines_further_apart_than_a_load_into_boxes_reaches(self) -> None:
        wide = normal((130, 65536), torch.float16, 6)
        check(multiply(wide[:, :40], wide[:40, :130]), wide[:, :40], wide[:40, :130])
        check(multiply(wide[:40].t()[:130], wide[:40, :9]), wide[:40].t()[:130], wide[:40, :9])
        check(multiply(wide[:40, :9].t(), wide[:40, :130]), wide[:40, :9].t(), wide[:40, :130])

    def test_sixteen_bit_sums_round_once(self) -> None:
        for dtype in (torch.float16, torch.bfloat16):
            # 1, and as many half ulps of 1: a sum in dtype would stay 1.
            a = torch.full((1, 65), torch.finfo(dtype).eps / 2, dtype=dtype)
            a[0, 0] = 1
            self.assertEqual(multiply(a, torch.ones(65, 1, dtype=dtype)).item(), 1 + 32 * torch.finfo(dtype).eps)
            large = torch.full((1, 4), torch.finfo(dtype).max, dtype=dtype)
            back = multiply(large, torch.tensor([[1.0], [-1], [0], [1]], dtype=dtype))
            self.assertEqual(back.item(), torch.finfo(dtype).max)

    def test_infinity_and_nan_go_through(self) -> None:
        a = torch.tensor([[torch.inf, 1.0], [0.0, torch.nan], [1.0, 2.0]])
        c = multiply(a, torch.tensor([[1.0], [1.0]]))
        self.assertEqual(c[0].item(), torch.inf)
        self.assertTrue(c[1].isnan().item())
        self.assertEqual(c[2].item(), 3)

    def test_same_bits_with_any_number_of_threads_and_deterministic(self) -> None:
        a, b = normal((300, 200), torch.float16, 7).npu(), normal((200, 140), torch.float16, 8).npu()
        assert_same_bits_however_run(lambda: [torch.ops.npu.my_gemm(a, b)], torch.float16)

    def test_needs_memory_only_for_matrices_without_contiguous_lines(self) -> None:
        a, b = normal((64, 256), torch.float32, 9).npu(), normal((512, 256), torch.float32, 10).npu()
        for matrix, packed in ((b[:256, :128], 0), (b[::2, ::2], 256 * 128 * 4)):
            peak, result = peak_beside(lambda matrix=matrix: torch.ops.npu.my_gemm(a, matrix))
            self.assertLessEqual(result + packed, peak)
            self.assertLessEqual(peak, (result + packed) * 5 // 4)  # blocks are of sizes a quarter apart

    def test_computes_on_the_cube_core(self) -> None:
        a, b = (x.npu().requires_grad_() for x in (normal((9, 20), torch.float16), normal((20, 5), torch.float16)))
        gradient = torch.ones(9, 5, device="npu", dtype=torch.float16)
        with op_extension.check.count_instructions() as counts, Recorder() as recorder:
            torch.autograd.grad(torch.ops.npu.my_gemm(a, b), (a, b), gradient)
            self.assertEqual(counts["TMATMUL"].elements, 9 * 5 + 9 * 20 + 20 * 5)
        self.assertEqual([x for x in recorder.names if not x.startswith(BELOW) and x not in TRANSPOSE], [])

    def test_names_what_was_expected_and_what_came(self) -> None:
        a = torch.ones(3, 4, device="npu")
        for device in ("npu", "cpu", "meta"):
            a = torch.ones(3, 4, device=device)
            for error, (x, y), sentence in (
                (RuntimeError, (a, a), "expected b of 4 rows .the columns of a., got 3"),
                (RuntimeError, (a[0], a), r"expected a of 2 dimensions \(m, k\), got 1"),
                (RuntimeError, (a, a[None]), r"expected b of 2 dimensions \(k, n\), got 3"),
                (RuntimeError, (a, a.t().half()), "expected b of dtype Float .the dtype of a., got Half"),
                (TypeError, (a.int(), a.t().int()), "expected a of dtype Float, Half, BFloat16 or Double, got Int"),
                (TypeError, (a.bool(), a), "expected a of dtype Float, .* got Bool"),
                (TypeError, (None, a), "expected a tensor as a, got None"),
            ):
                with self.subTest(sentence, device=device), self.assertRaisesRegex(error, "npu::my_gemm: " + sentence):
                    torch.ops.npu.my_gemm(x, y)
        with self.assertRaisesRegex(RuntimeError, "expected b on npu:0 .the device of a., got cpu"):
            torch.ops.npu.my_gemm(torch.ones(3, 4, device="npu"), torch.ones(4, 3))


class MyGemmGradientTest(unittest.TestCase):
    """Gradients, and how torch's transformations see the operator."""

    def test_gradients_are_within_their_bound(self) -> None:
        for dtype, device in itertools.product(FLOATS, DEVICES):
            a, b, g = normal((70, 33), dtype, 1), normal((33, 150), dtype, 2), normal((70, 150), dtype, 3)
            x, y = (t.to(device).requires_grad_() for t in (a, b))
            torch.ops.npu.my_gemm(x, y).backward(g.to(device))
            check(x.grad.cpu(), g, b.t())
            check(y.grad.cpu(), a.t(), g)

    def test_gradient_of_a_sum(self) -> None:
        a, b = leaves(((5, 4), (4, 3)), torch.float32, "npu")
        torch.ops.npu.my_gemm(a, b).sum().backward()
        ones = torch.ones(5, 3)
        check(a.grad.cpu(), ones, b.detach().cpu().t())
        check(b.grad.cpu(), a.detach().cpu().t(), ones)

    def test_gradcheck_and_gradgradcheck(self) -> None:
        for device, shapes in itertools.product(DEVICES, (((3, 4), (4, 2)), ((1, 1), (1, 3)), ((2, 0), (0, 3)))):
            x = leaves(shapes, torch.float64, device)
            self.assertTrue(torch.autograd.gradcheck(torch.ops.npu.my_gemm, x))
            self.assertTrue(torch.autograd.gradgradcheck(torch.ops.npu.my_gemm, x))

    def test_opcheck(self) -> None:
        op = torch.ops.npu.my_gemm.default
        for wanted in (False, True):
            cpu, npu = (
                [x.detach().requires_grad_(wanted) for x in leaves(((3, 4), (4, 5)), torch.float32, device)]
                for device in ("cpu", "npu")
            )
            self.assertEqual(set(opcheck(op, cpu).values()), {"SUCCESS"})
            self.assertEqual(set(opcheck(op, npu, test_utils=CHECKS_ON_NPU).values()), {"SUCCESS"})

    def test_meta_has_the_strides_of_the_result(self) -> None:
        for (_, a), (_, b) in itertools.product(matrix_views(torch.ones(3, 4)), matrix_views(torch.ones(4, 5))):
            real, meta = torch.ops.npu.my_gemm(a, b), torch.ops.npu.my_gemm(a.to("meta"), b.to("meta"))
            self.assertEqual((meta.shape, meta.stride(), meta.dtype), (real.shape, real.stride(), real.dtype))

    def test_scripted_exported_and_compiled(self) -> None:
        class Module(torch.nn.Module):
            def forward(self, a, b):
                return torch.ops.npu.my_gemm(a, b.t()) + 1

        for device in DEVICES:
            a, b = leaves(((3, 4), (5, 4)), torch.float32, device)
            expected = Module()(a, b)
            gradients = torch.autograd.grad(expected.sum(), (a, b))
            assert_close(torch.jit.script(Module())(a, b), expected, rtol=0, atol=0)
            program = torch.export.export(Module(), (a, b))
            assert_close(program.module()(a, b), expected, rtol=0, atol=0)
            for dynamic in (False, True):
                torch._dynamo.reset()
                compiled = torch.compile(Module(), backend="aot_eager", fullgraph=True, dynamic=dynamic)
                z = compiled(a, b)
                assert_close(z, expected, rtol=0, atol=0)
                assert_close(torch.autograd.grad(z.sum(), (a, b)), gradients, rtol=0, atol=0)

    def test_autocast_multiplies_in_its_dtype(self) -> None:
        a, b = leaves(((3, 4), (4, 5)), torch.float32, "npu")
        for dtype in (torch.float16, torch.bfloat16):
            with torch.autocast("npu", dtype=dtype):
                c = torch.ops.npu.my_gemm(a, b)
            self.assertEqual(c.dtype, dtype)
            check(c.detach().cpu(), a.detach().cpu().to(dtype), b.detach().cpu().to(dtype))
            c.sum().backward()
            self.assertEqual(a.grad.dtype, torch.float32)

    def test_vmap(self) -> None:
        a, b = torch.randn(3, 4, 5, device="npu"), torch.randn(3, 5, 2, device="npu")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of speed
            c = torch.vmap(torch.ops.npu.my_gemm)(a, b)
        for i in range(3):
            assert_close(c[i], torch.ops.npu.my_gemm(a[i], b[i]), rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
