# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_topk finds what torch.topk finds, and of equal elements the first ones."""

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

from test.op.contract import DEVICES, move
from test.op.row_checks import RowChecks, leaf, normal
from test.op.values import layouts, random_bits, random_values

topk = torch.ops.npu.my_topk
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
CHUNK, MOST = 4096, 2048  # of the kernel: elements that are loaded, and sorted, at once
# Rows shorter and longer than a group of 32, a chunk and several; k of 0, 1, all, around the sizes above.
CASES = (
    ((0, 5), (0, 1, 5)),
    ((5, 0), (0,)),
    ((3, 1), (0, 1)),
    ((4, 31), (1, 5, 31)),
    ((4, 33), (1, 32, 33)),
    ((3, 1000), (1, 16, 31, 33, 129, 999, 1000)),
    ((2, CHUNK + 1), (1, 100, MOST - 1, MOST, MOST + 1, CHUNK + 1)),
    ((1, 3 * CHUNK - 5), (1, 64, MOST + 7, 3 * CHUNK - 5)),
)


def ranks(x: torch.Tensor, largest: bool) -> torch.Tensor:
    """The order that is promised, by a stable sort: NaN is the largest, zeros are equal."""
    return torch.sort(x, dim=-1, descending=largest, stable=True).indices


class MyTopkTest(RowChecks):
    """Values, order, layouts and errors of the forward direction."""

    def check(self, x: torch.Tensor, k: int, device: str, **options: bool) -> None:
        """Indices are those of a stable sort, values the elements there, bit for bit but for NaN."""
        values, indices = topk(x.to(device), k, **options)
        expected = ranks(x, options.get("largest", True))[..., :k]
        self.assertEqual((indices.dtype, values.dtype), (torch.int64, x.dtype))
        assert_close(indices.cpu(), expected, rtol=0, atol=0)
        at_indices = x.gather(-1, expected)
        assert_close(values.cpu(), at_indices, rtol=0, atol=0, equal_nan=True)
        numbers = ~at_indices.isnan()
        assert_close(values.cpu()[numbers].signbit(), at_indices[numbers].signbit())
        assert_close(values.cpu(), torch.topk(x, k, **options).values, rtol=0, atol=0, equal_nan=True)

    def test_finds_the_first_of_a_stable_sort(self) -> None:
        for (shape, ks), dtype, device, largest in itertools.product(CASES, DTYPES, DEVICES, (True, False)):
            x = random_values(shape, dtype, 1)
            for k in ks:
                with self.subTest(shape=shape, k=k, dtype=dtype, device=device, largest=largest):
                    self.check(x, k, device, largest=largest)

    def test_takes_the_first_of_equal_elements(self) -> None:
        generator = torch.Generator().manual_seed(3)
        for largest, count in itertools.product((True, False), (2, 5, 300)):
            x = torch.randint(count, (3, 3 * CHUNK + 17), generator=generator).float()
            for k in (1, 40, MOST, MOST + 500):
                with self.subTest(largest=largest, count=count, k=k):
                    self.check(x, k, "npu", largest=largest)
        for value in (0.0, math.inf, -math.inf, math.nan):
            for largest, k in itertools.product((True, False), (1, 33, 5000)):
                with self.subTest(value=value, largest=largest, k=k):
                    self.check(torch.full((1, 5000), value), k, "cpu", largest=largest)

    def test_zeros_of_both_signs_are_equal_and_keep_theirs(self) -> None:
        x = torch.tensor([[0.0, -0.0, -0.0, 0.0, -1.0, 1e-45, -1e-45]])
        for largest, k in itertools.product((True, False), range(8)):
            self.check(x, k, "npu", largest=largest)

    def test_nan_is_the_largest_whatever_its_sign(self) -> None:
        nan, inf = math.nan, math.inf
        x = torch.tensor([[1.0, nan, -inf, -nan, inf, 2.0, nan, -3.0]]).copysign(
            torch.tensor([[1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0]])
        )
        for wide, largest in itertools.product((x, x.repeat(1, 40), x.repeat(1, 1500)), (True, False)):
            for k in (1, 3, 4, 8, wide.size(1) // 2, wide.size(1)):
                with self.subTest(size=wide.size(1), largest=largest, k=k):
                    self.check(wide, k, "npu", largest=largest)

    def test_random_bits_of_16_bit_types(self) -> None:
        for dtype, largest in itertools.product(DTYPES[1:], (True, False)):
            x = random_bits(2 * 20_000, dtype, 4).view(2, 20_000)
            for k in (1, 300, 2500, 20_000):
                with self.subTest(dtype=dtype, largest=largest, k=k):
                    self.check(x, k, "npu", largest=largest)

    def test_rows_that_are_in_order_already(self) -> None:
        x = torch.arange(20_000.0)[None]
        for view, largest, k in itertools.product((x, x.flip(1)), (True, False), (10, 3000)):
            with self.subTest(k=k, largest=largest):
                self.check(view, k, "npu", largest=largest)

    def test_over_any_dimension_of_any_strides(self) -> None:
        for dtype, device in itertools.product(DTYPES, DEVICES):
            x = normal((2, 3, 5, 7), dtype, 5)
            for (name, view), dim, largest in itertools.product(layouts(x).items(), range(-4, 4), (True, False)):
                with self.subTest(layout=name, dtype=dtype, device=device, dim=dim):
                    values, indices = topk(move(view, device), 2, dim, largest)
                    expected = torch.topk(x, 2, dim, largest)
                    assert_close(values.cpu(), expected.values, rtol=0, atol=0)
                    assert_close(x.gather(dim, indices.cpu()), expected.values, rtol=0, atol=0)
                    self.assertTrue(values.is_contiguous() and indices.is_contiguous())

    def test_accepts_expanded_views_and_no_dimension(self) -> None:
        x = normal((8,), torch.float32, 6)
        for device, (view, dim) in itertools.product(DEVICES, ((x.expand(3, 8), 0), (x.expand(3, 8), 1))):
            values, _ = topk(move(view, device), 2, dim)
            assert_close(values.cpu(), torch.topk(view, 2, dim).values, rtol=0, atol=0)
        for device, k in itertools.product(DEVICES, (0, 1)):
            one = torch.tensor(2.5, device=device)
            values, indices = topk(one, k)
            self.assertEqual((values.item(), indices.item(), values.dim()), (2.5, 0, 0))

    def test_runs_in_sort_instructions(self) -> None:
        x = normal((4, 3000), torch.float32, 8, "npu")
        with op_extension.check.count_instructions() as counts:
            topk(x, 500)
            torch.npu.synchronize()
            for name in ("TCMPS", "TSORT32", "TMRGSORT", "TGATHER"):
                self.assertGreater(counts[name].elements, 0, name)

    def test_the_checker_finds_no_hazard(self) -> None:
        for dtype, (width, k), largest in itertools.product(
            DTYPES[:2], ((31, 5), (9000, 100), (5000, 2500)), (True, False)
        ):
            x = random_values((2, width), dtype, 10).npu().requires_grad_()
            with self.subTest(dtype=dtype, k=k, largest=largest), op_extension.check.hazards():
                values, indices = topk(x, k, -1, largest)
                torch.autograd.grad(values, x, torch.ones(values.shape, dtype=dtype, device="npu"))
                torch.ops.npu.my_topk_backward_gather(x.detach(), indices, -1)
                torch.npu.synchronize()

    def test_same_bits_on_both_devices_and_with_any_number_of_threads(self) -> None:
        x = random_values((50, 3000), torch.float32, 9)
        before = torch.get_num_threads()
        self.addCleanup(torch.set_num_threads, before)
        self.addCleanup(torch.use_deterministic_algorithms, False)
        expected = topk(x, 77)
        for threads, deterministic in ((1, False), (2, False), (8, True)):
            torch.set_num_threads(threads)
            torch.use_deterministic_algorithms(deterministic)
            for got, wanted in zip(topk(x.npu(), 77), expected, strict=True):
                assert_close(got.cpu(), wanted, rtol=0, atol=0, equal_nan=True)

    def test_needs_no_memory_beside_the_results_but_copies_of_other_dimensions(self) -> None:
        x = normal((512, 512), torch.float32, 9, "npu")
        for dim, beside in ((1, 0), (0, 4 * 512 * 512 + 12 * 512 * 8)):
            torch.npu.synchronize()
            torch.npu.empty_cache()
            torch.npu.reset_peak_memory_stats()
            before = torch.npu.memory_allocated()
            z = topk(x, 8, dim)
            torch.npu.synchronize()
            needed = torch.npu.max_memory_allocated() - before - sum(each.nbytes for each in z)
            self.assertLessEqual(needed, beside + 32768)  # blocks are rounded up

    def test_names_what_was_expected_and_what_came(self) -> None:
        for device in (*DEVICES, "meta"):
            x = torch.ones(2, 3, device=device)
            for k in (4, -1):
                with self.assertRaisesRegex(RuntimeError, f"npu::my_topk: expected k from 0 to 3 .*, got {k}"):
                    topk(x, k)
            for dim in (2, -3):
                with self.assertRaisesRegex(IndexError, f"npu::my_topk: expected dim from -2 to 1, got {dim}"):
                    topk(x, 1, dim)
            for other, name in ((x.int(), "Int"), (x.double(), "Double")):
                with self.assertRaisesRegex(TypeError, f"expected self of dtype Float, Half or BFloat16, got {name}"):
                    topk(other, 1)

    def test_refuses_tangents_and_freed_memory(self) -> None:
        for device in DEVICES:
            x = torch.ones(2, 3, device=device)
            with self.assertRaisesRegex(NotImplementedError, "expected inputs without a forward-mode tangent"):
                torch.func.jvp(lambda x: topk(x, 1)[0], (x,), (x,))
            x.untyped_storage().resize_(0)
            with self.assertRaisesRegex(RuntimeError, "expected self with memory, got a tensor of size"):
                topk(x, 1)


class MyTopkGradientTest(RowChecks):
    """The gradient of values, once and twice, and torch's transformations."""

    def test_gradient_is_that_of_torch(self) -> None:
        for (shape, ks), dtype, device in itertools.product(CASES, DTYPES, DEVICES):
            for k in ks:
                with self.subTest(shape=shape, k=k, dtype=dtype, device=device):
                    x, gradient = leaf(shape, dtype, 1, device), normal((*shape[:-1], k), dtype, 2)
                    values, indices = topk(x, k)
                    self.assertFalse(indices.requires_grad)
                    values.backward(gradient.to(device))
                    expected = torch.zeros(shape, dtype=dtype).scatter(1, indices.cpu(), gradient)
                    assert_close(x.grad.cpu(), expected, rtol=0, atol=0)

    def test_gradient_over_other_dimensions_and_of_expanded_gradients(self) -> None:
        for device, dim in itertools.product(DEVICES, range(3)):
            x = leaf((3, 4, 5), torch.float32, 1, device)
            (got,) = torch.autograd.grad(topk(x, 2, dim)[0].sum(), x)
            own = x.detach().cpu().requires_grad_()
            (expected,) = torch.autograd.grad(torch.topk(own, 2, dim).values.sum(), own)
            assert_close(got.cpu(), expected, rtol=0, atol=0)
        one = leaf((), torch.float32, 1)
        topk(one, 1)[0].backward()
        self.assertEqual(one.grad.item(), 1)

    def test_second_derivatives_are_those_of_torch(self) -> None:
        for device, dim in itertools.product(DEVICES, (0, 1)):
            results = []
            for function in (topk, torch.topk):
                x = leaf((6, 7), torch.float32, 1, device if function is topk else "cpu")
                (first,) = torch.autograd.grad(function(x, 3, dim)[0].pow(3).sum(), x, create_graph=True)
                (second,) = torch.autograd.grad(first.square().sum(), x)
                results.append(second.cpu())
            assert_close(*results, rtol=1e-6, atol=1e-6)

    def test_nothing_but_our_operators_runs_below_it(self) -> None:
        x = leaf((30, 70), torch.float32, 1)
        self.check_nothing_but_our_operators_runs(lambda x: topk(x, 5)[0], x)

    def test_opcheck(self) -> None:
        def indices(device: str) -> torch.Tensor:
            return torch.tensor([[0, 2], [4, 1], [3, 0]], device=device)

        self.check_opcheck(
            topk.default, lambda device, wanted: (normal((4, 5), torch.float32, 1, device).requires_grad_(wanted), 2, 0)
        )
        self.check_opcheck(
            torch.ops.npu.my_topk_backward.default,
            lambda device, wanted: (
                normal((3, 2), torch.float32, 1, device).requires_grad_(wanted),
                indices(device),
                5,
                1,
            ),
        )
        self.check_opcheck(
            torch.ops.npu.my_topk_backward_gather.default,
            lambda device, wanted: (
                normal((3, 5), torch.float32, 1, device).requires_grad_(wanted),
                indices(device),
                -1,
            ),
        )

    def test_exported_scripted_and_compiled(self) -> None:
        x = leaf((6, 7), torch.float32, 1)
        self.check_export_and_compilation(lambda x: torch.ops.npu.my_topk(x, 3)[0], "npu.my_topk", x)

        @torch.jit.script
        def f(x):
            return torch.ops.npu.my_topk(x, 3)

        assert_close(f(x)[1], topk(x, 3)[1], rtol=0, atol=0)

    def test_vmap(self) -> None:
        self.check_vmap(lambda x: topk(x, 2, 0)[0], normal((3, 4, 5), torch.float32, 1, "npu"))


if __name__ == "__main__":
    unittest.main()
