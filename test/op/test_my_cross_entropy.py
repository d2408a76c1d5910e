# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_cross_entropy computes what torch.nn.functional.cross_entropy computes."""

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
from test.op.row_checks import RowChecks, leaf, normal

cross_entropy = torch.ops.npu.my_cross_entropy
reference = torch.nn.functional.cross_entropy
REDUCTIONS = ("none", "mean", "sum")
# No row, one element, short and ragged rows, rows of a tile and of several, more than UB holds.
SHAPES = ((0, 5), (1, 1), (7, 1), (1, 9), (130, 3), (33, 10), (1500, 17), (9, 513), (5, 1025), (3, 5001), (2, 40_003))


def labels(rows: int, classes: int, seed: int = 1, ignored: int | None = None) -> torch.Tensor:
    """Random labels, every fourth one ``ignored``."""
    target = torch.randint(classes, (rows,), generator=torch.Generator().manual_seed(seed))
    if ignored is not None:
        target[1::4] = ignored
    return target


def exact(x: torch.Tensor, target: torch.Tensor, **options: object) -> torch.Tensor:
    """By torch, in float64."""
    return reference(x.double(), target, **options)


class MyCrossEntropyTest(RowChecks):
    """Values, layouts and errors of the forward direction."""

    def test_is_that_of_torch(self) -> None:
        for (shape, dtype, device), reduction in itertools.product(
            itertools.product(SHAPES, FLOATS, DEVICES), REDUCTIONS
        ):
            for ignored in (None, -100, 0):
                with self.subTest(shape=shape, dtype=dtype, device=device, reduction=reduction, ignored=ignored):
                    x, target = normal(shape, dtype, 1) * 3, labels(*shape, ignored=ignored)
                    options = {"reduction": reduction, "ignore_index": -100 if ignored is None else ignored}
                    got = cross_entropy(x.to(device), target.to(device), **options)
                    expected = exact(x, target, **options)
                    self.assertEqual(got.shape, expected.shape)
                    eps = 1e-12 if dtype == torch.float64 else 2e-6
                    bound = 1.01 * torch.finfo(dtype).eps / 2 if dtype.itemsize == 2 else eps
                    assert_close(got.cpu().double(), expected, rtol=bound, atol=2 * eps, equal_nan=True)

    def test_large_logits_keep_the_digits_of_the_loss(self) -> None:
        x = torch.tensor([[30000.0, 30000.5, 29999.0]])
        for label in range(3):
            target = torch.tensor([label])
            assert_close(cross_entropy(x, target).double(), exact(x, target), rtol=1e-6, atol=0)

    def test_treats_infinities_and_nan_as_torch_does(self) -> None:
        inf, nan = math.inf, math.nan
        rows = [[1.0, -inf, 2], [-inf] * 3, [inf, 1, 2], [nan, 1, 2], [1, nan, -inf], [3e38, -3e38, 0]]
        for dtype, device, label in itertools.product(FLOATS, DEVICES, range(3)):
            x = torch.tensor(rows, dtype=torch.float64).to(dtype)
            for wide in (x, x.repeat(1, 900)):
                target = torch.full((len(rows),), label)
                got = cross_entropy(wide.to(device), target.to(device), reduction="none").cpu()
                expected = exact(wide, target, reduction="none").to(dtype)
                assert_close(got, expected, rtol=2 * torch.finfo(dtype).eps, atol=1e-6, equal_nan=True)

    def test_ignored_rows_count_for_nothing_whatever_they_hold(self) -> None:
        x = torch.tensor([[math.nan, 1], [1, 2], [math.inf, 0]])
        target = torch.tensor([-100, 0, -100])
        for device in DEVICES:
            for reduction in ("mean", "sum"):
                got = cross_entropy(x.to(device), target.to(device), reduction=reduction)
                assert_close(got.cpu(), reference(x[1:2], target[1:2]))
            all_ignored = torch.full((3,), -100, device=device)
            self.assertTrue(cross_entropy(x.to(device), all_ignored).isnan())
            self.assertEqual(cross_entropy(x.to(device), all_ignored, reduction="sum").item(), 0)

    def test_accepts_any_strides_and_offsets(self) -> None:
        x, target = normal((6, 40), torch.float32, 3), labels(6, 40)
        step, wide = torch.zeros(12, 80), torch.zeros(18, dtype=torch.int64)
        step[::2, 1::2] = x
        wide[2::3] = target
        views = (x, x.t().contiguous().t(), step[::2, 1::2], x[:1].expand(6, 40), x[:, :1].expand(6, 40))
        for view, place, device in itertools.product(views, (target, wide[2::3], target[:1].expand(6)), DEVICES):
            got = cross_entropy(move(view, device), move(place, device), reduction="none")
            assert_close(got.cpu().double(), exact(view, place, reduction="none"), rtol=1e-6, atol=1e-6)

    def test_runs_in_tile_instructions(self) -> None:
        x, target = normal((10, 64), torch.float32, 8, "npu"), labels(10, 64).npu()
        with op_extension.check.count_instructions() as counts:
            cross_entropy(x, target)
            for name in ("TROWMAX", "TROWEXPANDEXPDIF", "TROWSUM", "TLOG"):
                self.assertGreater(counts[name].elements, 0, name)

    def test_the_checker_finds_no_hazard(self) -> None:
        for dtype, shape, reduction in itertools.product(FLOATS[:2], ((300, 10), (3, 1500), (2, 40_003)), REDUCTIONS):
            x, target = leaf(shape, dtype, 10), labels(*shape, ignored=-100).npu()
            with self.subTest(dtype=dtype, shape=shape, reduction=reduction), op_extension.check.hazards():
                z = cross_entropy(x, target, reduction=reduction)
                torch.autograd.grad(z, x, torch.ones(z.shape, dtype=dtype, device="npu"))
                torch.npu.synchronize()

    def test_needs_a_float_per_row_for_sums_and_nothing_else(self) -> None:
        x, target = normal((4096, 64), torch.float32, 9, "npu"), labels(4096, 64).npu()
        self.check_extra_bytes(lambda x: cross_entropy(x, target, reduction="none"), x, bytes_beside=0)
        self.check_extra_bytes(lambda x: cross_entropy(x, target), x, bytes_beside=4 * 4096)

    def test_names_what_was_expected_and_what_came(self) -> None:
        for device in (*DEVICES, "meta"):
            x, target = torch.ones(2, 3, device=device), torch.zeros(2, dtype=torch.int64, device=device)
            for arguments, kind, sentence in (
                ((x.int(), target), TypeError, "expected self of a floating point dtype, got Int"),
                ((x[0], target), RuntimeError, r"expected self of two dimensions \(rows, classes\), got \[3\]"),
                ((x, target.int()), RuntimeError, "expected target of dtype Long .labels of classes., got Int"),
                ((x, target[:1]), RuntimeError, r"expected target of size \[2\] .*, got \[1\]"),
                ((x[:, :0], target), RuntimeError, r"expected self of at least one class, got \[2, 0\]"),
                ((x, target, 0, "average"), ValueError, 'expected reduction "none", "mean" or "sum", got "average"'),
            ):
                with self.assertRaisesRegex(kind, f"npu::my_cross_entropy: {sentence}"):
                    cross_entropy(*arguments)
        with self.assertRaisesRegex(RuntimeError, "expected target on npu:0 .the device of self., got cpu"):
            cross_entropy(torch.ones(2, 3).npu(), torch.zeros(2, dtype=torch.int64))

    def test_names_labels_out_of_range(self) -> None:
        x = torch.ones(3, 4)
        for label in (4, -1, 2**40, -(2**63)):
            target = torch.tensor([0, label, 1])
            sentence = f"expected labels from 0 to 3 or ignore_index -100, got {label} in row 1"
            with self.assertRaisesRegex(IndexError, sentence):
                cross_entropy(x, target)
            with self.assertRaisesRegex(
                RuntimeError, "my_cross_entropy.*a label is one of the classes or ignore_index"
            ):
                cross_entropy(x.npu(), target.npu())
                torch.npu.synchronize()
        assert_close(cross_entropy(x.npu(), torch.tensor([0, 1, 1]).npu()).cpu(), torch.tensor(4.0).log())

    def test_refuses_tangents_and_freed_memory(self) -> None:
        for device in DEVICES:
            x, target = torch.ones(2, 3, device=device), torch.zeros(2, dtype=torch.int64, device=device)
            with self.assertRaisesRegex(NotImplementedError, "expected inputs without a forward-mode tangent"):
                torch.func.jvp(lambda x, target=target: cross_entropy(x, target), (x,), (x,))
            target.untyped_storage().resize_(0)
            with self.assertRaisesRegex(RuntimeError, "expected target with memory, got a tensor of size"):
                cross_entropy(x, target)

    def test_autocast_computes_in_float32(self) -> None:
        x, target = torch.ones(2, 3, dtype=torch.float16, device="npu"), labels(2, 3).npu()
        with torch.autocast("npu", torch.float16):
            self.assertEqual(cross_entropy(x, target).dtype, torch.float32)


class MyCrossEntropyGradientTest(RowChecks):
    """Reverse mode, once and twice, and torch's transformations."""

    def test_gradient_is_that_of_torch(self) -> None:
        for (shape, dtype), device, reduction in itertools.product(
            itertools.product(SHAPES, FLOATS), DEVICES, REDUCTIONS
        ):
            for ignored in (None, 2):
                with self.subTest(shape=shape, dtype=dtype, device=device, reduction=reduction, ignored=ignored):
                    x, target = leaf(shape, dtype, 1, device), labels(*shape, ignored=ignored)
                    options = {"reduction": reduction, "ignore_index": -100 if ignored is None else ignored}
                    z = cross_entropy(x, target.to(device), **options)
                    gradient = normal(z.shape, dtype, 2)
                    z.backward(gradient.to(device))
                    wide = x.detach().cpu().double().requires_grad_()
                    reference(wide, target, **options).backward(gradient.double())
                    eps = torch.finfo(dtype).eps
                    scale = 1 if reduction != "mean" else 1 / max(shape[0], 1)
                    assert_close(x.grad.cpu().double(), wide.grad, rtol=16 * eps, atol=max(16 * eps * scale, 3e-8))

    def test_gradient_is_zero_where_all_is_ignored(self) -> None:
        for device, reduction in itertools.product(DEVICES, ("mean", "sum")):
            x = leaf((5, 7), torch.float32, 1, device)
            cross_entropy(x, torch.full((5,), -100, device=device), reduction=reduction).backward()
            self.assertEqual(x.grad.abs().max().item(), 0)

    def test_gradcheck_and_gradgradcheck(self) -> None:
        target = torch.tensor([2, -100, 0, 3])
        for reduction in REDUCTIONS:
            self.check_gradients(
                lambda x, reduction=reduction: cross_entropy(x, target.to(x.device), reduction=reduction), (4, 5)
            )

    def test_second_derivatives_of_16_bits_are_refused(self) -> None:
        x = leaf((2, 3), torch.float16, 1, "cpu")
        (gradient,) = torch.autograd.grad(cross_entropy(x, labels(2, 3)), x, create_graph=True)
        with self.assertRaisesRegex(NotImplementedError, "expected self of dtype Float or Double for a second"):
            gradient.sum().backward()

    def test_same_bits_with_any_number_of_threads(self) -> None:
        x, target = leaf((300, 700), torch.float32, 1), labels(300, 700, ignored=-100).npu()
        for reduction in REDUCTIONS:
            self.check_same_bits_with_any_number_of_threads(
                lambda x, reduction=reduction: cross_entropy(x, target, reduction=reduction), x
            )

    def test_same_bits_on_both_devices(self) -> None:
        x, target = normal((300, 700), torch.float16, 1), labels(300, 700, ignored=-100)
        for reduction in REDUCTIONS:
            results = [cross_entropy(x.to(d), target.to(d), reduction=reduction).cpu() for d in DEVICES]
            assert_close(results[0], results[1], rtol=0, atol=0)

    def test_nothing_but_our_operators_runs_below_it(self) -> None:
        x, target = leaf((30, 70), torch.float32, 1), labels(30, 70).npu()
        for reduction in REDUCTIONS:
            self.check_nothing_but_our_operators_runs(
                lambda x, reduction=reduction: cross_entropy(x, target, reduction=reduction), x
            )

    def test_opcheck(self) -> None:
        for reduction in REDUCTIONS:

            def make(device: str, wanted: bool, reduction: str = reduction) -> tuple:
                x = normal((4, 5), torch.float32, 1, device).requires_grad_(wanted)
                return x, labels(4, 5, ignored=-100).to(device), -100, reduction

            def make_backward(device: str, wanted: bool, make=make) -> tuple:
                x, target, ignored, reduction = make(device, wanted)
                gradient = normal((4,) if reduction == "none" else (), torch.float32, 2, device)
                return gradient.requires_grad_(wanted), x, target, ignored, reduction

            def make_scale(device: str, wanted: bool, make=make_backward) -> tuple:
                gradient, _, *rest = make(device, wanted)
                return gradient, *rest

            self.check_opcheck(cross_entropy.default, make)
            self.check_opcheck(torch.ops.npu.my_cross_entropy_backward.default, make_backward)
            self.check_opcheck(torch.ops.npu.my_cross_entropy_backward_scale.default, make_scale)

    def test_exported_scripted_and_compiled(self) -> None:
        x, target = leaf((6, 7), torch.float32, 1), labels(6, 7)
        self.check_export_and_compilation(
            lambda x: torch.ops.npu.my_cross_entropy(x, torch.zeros(x.size(0), dtype=torch.int64, device=x.device)),
            "npu.my_cross_entropy",
            x,
        )

        @torch.jit.script
        def f(x, target):
            return torch.ops.npu.my_cross_entropy(x, target)

        assert_close(f(x, target.npu()), cross_entropy(x, target.npu()), rtol=0, atol=0)

    def test_vmap(self) -> None:
        target = labels(4, 5).npu()
        self.check_vmap(lambda x: cross_entropy(x, target), normal((3, 4, 5), torch.float32, 1, "npu"))


if __name__ == "__main__":
    unittest.main()
