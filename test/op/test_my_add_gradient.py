# SPDX-License-Identifier: Apache-2.0
"""Gradients of torch.ops.npu.my_add, and how torch's transformations see the operator."""

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

from test.op.contract import Recorder
from test.op.values import random_values

SHAPES = (
    ((4, 5), (4, 5)),
    ((4, 5), (5,)),
    ((4, 1), (1, 5)),
    ((), (3,)),
    ((1,), (1,)),
    ((2, 1, 3), (5, 1)),
    ((0, 3), (3,)),
    ((3, 1), (3, 0)),
    ((70, 130), (130,)),
    ((70, 130), (70, 1)),
    ((5000,), (1,)),
)
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
BELOW = ("npu::", "aten::empty", "aten::view", "aten::expand")


def leaf(shape: tuple[int, ...], dtype: torch.dtype, device: str, seed: int) -> torch.Tensor:
    """A leaf of random values on ``device`` that wants a gradient."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(device, dtype).requires_grad_()


class MyAddGradientTest(unittest.TestCase):
    """Reverse mode, once and twice."""

    def test_gradient_of_a_sum_is_one_without_a_warning(self) -> None:
        x = torch.randn(100, 100, device="npu", requires_grad=True)
        y = torch.randn(100, 100, device="npu", requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            torch.ops.npu.my_add(x, y).sum().backward()
        assert_close(x.grad.cpu(), torch.ones(100, 100), rtol=0, atol=0)
        assert_close(y.grad.cpu(), torch.ones(100, 100), rtol=0, atol=0)

    def test_equals_the_gradient_of_torch_add(self) -> None:
        for (x_shape, y_shape), dtype, device in itertools.product(SHAPES, DTYPES, ("npu", "cpu")):
            with self.subTest(x=x_shape, y=y_shape, dtype=dtype, device=device):
                x, y = leaf(x_shape, dtype, device, 1), leaf(y_shape, dtype, device, 2)
                z = torch.ops.npu.my_add(x, y)
                weight = random_values(tuple(z.shape), torch.float64, 3).nan_to_num(0, 1, -1).clamp(-4, 4).to(dtype)
                z.backward(weight.to(device))
                for tensor, shape in ((x, x_shape), (y, y_shape)):
                    expected = weight.double().sum_to_size(shape) if shape != tuple(z.shape) else weight.double()
                    tolerance = 8 * torch.finfo(dtype).eps
                    assert_close(tensor.grad.cpu().double(), expected, rtol=tolerance, atol=tolerance * 16)

    def test_gradient_through_strided_and_expanded_gradients(self) -> None:
        x, y = leaf((6, 4), torch.float32, "npu", 1), leaf((4,), torch.float32, "npu", 2)
        torch.ops.npu.my_add(x, y).t()[::2].sum().backward()
        assert_close(x.grad.cpu(), torch.tensor([1.0, 0, 1, 0]).expand(6, 4), rtol=0, atol=0)
        assert_close(y.grad.cpu(), torch.tensor([6.0, 0, 6, 0]), rtol=0, atol=0)

    def test_gradcheck_and_gradgradcheck_on_npu(self) -> None:
        for x_shape, y_shape in (((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3))):
            x, y = leaf(x_shape, torch.float64, "npu", 1), leaf(y_shape, torch.float64, "npu", 2)
            self.assertTrue(torch.autograd.gradcheck(torch.ops.npu.my_add, (x, y)))
            self.assertTrue(torch.autograd.gradgradcheck(torch.ops.npu.my_add, (x, y)))

    def test_no_graph_without_a_wanted_gradient(self) -> None:
        x = torch.ones(3, device="npu", requires_grad=True)
        with torch.no_grad():
            self.assertFalse(torch.ops.npu.my_add(x, x).requires_grad)
        self.assertFalse(torch.ops.npu.my_add(x.detach(), x.detach()).requires_grad)
        one_sided = torch.ops.npu.my_add(x, x.detach())
        one_sided.sum().backward()
        self.assertEqual(x.grad.tolist(), [1.0, 1.0, 1.0])

    def test_forward_mode_is_refused_in_a_sentence(self) -> None:
        sum_to = lambda x: torch.ops.npu.sum_to(x, (1,))  # noqa: E731
        for f in (lambda x: torch.ops.npu.my_add(x, torch.ones_like(x)), sum_to):
            for transform in (torch.func.jacfwd, torch.func.hessian, lambda f: lambda x: torch.func.jvp(f, (x,), (x,))):
                with self.assertRaisesRegex(NotImplementedError, "expected inputs without a forward-mode tangent"):
                    transform(f)(torch.ones(2))
        with torch.autograd.forward_ad.dual_level():
            for wanted in (False, True):
                x = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
                with self.assertRaisesRegex(NotImplementedError, "expected inputs without a forward-mode tangent"):
                    torch.ops.npu.my_add(x, torch.ones(2, requires_grad=wanted))

    def test_nothing_but_our_operators_and_views_runs_below_it(self) -> None:
        for y_shape in ((64, 32), (32,), (64, 1), ()):
            x, y = leaf((64, 32), torch.float32, "npu", 1), leaf(y_shape, torch.float32, "npu", 2)
            gradient = torch.ones(64, 32, device="npu")
            with op_extension.check.count_instructions() as counts, Recorder() as recorder:
                z = torch.ops.npu.my_add(x, y)
                torch.autograd.grad(z, (x, y), gradient)
            self.assertIn("npu::my_add", recorder.names)
            self.assertEqual([n for n in recorder.names if not n.startswith(BELOW)], [])
            self.assertGreaterEqual(counts["TADD"].elements, 64 * 32)
            if y_shape != (64, 32):
                self.assertIn("npu::sum_to", recorder.names)


class SumToTest(unittest.TestCase):
    """The operator behind the gradient of broadcasting."""

    def test_equals_sum_to_size(self) -> None:
        shapes = (
            ((4, 5), (5,)),
            ((4, 5), (4, 1)),
            ((4, 5), ()),
            ((4, 5), (4, 5)),
            ((3, 1000, 7), (1000, 1)),
            ((3, 1000, 7), (3, 1, 7)),
            ((300, 4100), (4100,)),
            ((300, 4100), (300, 1)),
            ((100_003,), (1,)),
            ((0, 4), (4,)),
            ((0, 4), (1, 1)),
            ((4, 0), (4, 1)),
            ((2, 3, 4, 5), (3, 1, 5)),
        )
        for (shape, size), dtype, device in itertools.product(shapes, DTYPES, ("npu", "cpu")):
            with self.subTest(x=shape, size=size, dtype=dtype, device=device):
                x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
                z = torch.ops.npu.sum_to(x.to(device), size).cpu()
                expected = x.double().sum_to_size(size)
                bound = torch.finfo(dtype).eps * expected.abs() + 1e-5 * x.double().abs().sum_to_size(size)
                self.assertEqual(z.shape, torch.Size(size))
                self.assertTrue(bool(((z.double() - expected).abs() <= bound).all()))

    def test_sums_any_layout(self) -> None:
        x = torch.randn(6, 5, 4, generator=torch.Generator().manual_seed(2)).double()
        views = (x, x.permute(2, 0, 1), x[::2, 1::2], x[:, :1].expand(6, 5, 4), x[0, 0, 0].expand(6, 5, 4))
        for view in views:
            for size in ((1, *view.shape[1:]), (view.shape[0], 1, view.shape[2]), (*view.shape[:2], 1), ()):
                assert_close(torch.ops.npu.sum_to(view, size), view.sum_to_size(size), rtol=1e-12, atol=1e-12)

    def test_names_a_size_that_does_not_broadcast(self) -> None:
        for size in ((3,), (2, 2, 4), (2,)):
            with self.assertRaisesRegex(RuntimeError, r"npu::sum_to: expected a size that broadcasts to \[2, 4\]"):
                torch.ops.npu.sum_to(torch.ones(2, 4, device="npu"), size)

    def test_names_a_dtype_that_is_not_floating_wherever_it_runs(self) -> None:
        for device in ("npu", "cpu", "meta"):
            x = torch.ones(2, 4, dtype=torch.int32, device=device)
            sentence = "npu::sum_to: expected x of a floating point dtype, got Int"
            with self.subTest(device), self.assertRaisesRegex(RuntimeError, sentence):
                torch.ops.npu.sum_to(x, (4,))


class TransformationTest(unittest.TestCase):
    """opcheck, scripting, export, compilation."""

    def test_opcheck(self) -> None:
        on_npu = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
        for op, inputs in (
            (torch.ops.npu.my_add.default, ((4, 5), (5,))),
            (torch.ops.npu.my_add.default, ((4, 5), (4, 5))),
        ):
            for wanted in (False, True):
                cpu = [torch.randn(shape, requires_grad=wanted) for shape in inputs]
                npu = [torch.randn(shape, device="npu", requires_grad=wanted) for shape in inputs]
                self.assertEqual(set(opcheck(op, cpu).values()), {"SUCCESS"})
                self.assertEqual(set(opcheck(op, npu, test_utils=on_npu).values()), {"SUCCESS"})
        for device, tests in (("cpu", None), ("npu", on_npu)):
            kwargs = {} if tests is None else {"test_utils": tests}
            x = torch.randn(4, 5, device=device, requires_grad=True)
            self.assertEqual(set(opcheck(torch.ops.npu.sum_to.default, (x, [5]), **kwargs).values()), {"SUCCESS"})

    def test_opcheck_over_layouts(self) -> None:
        x = torch.randn(2, 3, 4, 4)
        for view in (
            x.transpose(1, 3),
            x.contiguous(memory_format=torch.channels_last),
            x[:, :, ::2, ::2],
            x[:1].expand(2, 3, 4, 4),
        ):
            results = opcheck(torch.ops.npu.my_add.default, (view, view))
            self.assertEqual(set(results.values()), {"SUCCESS"})

    def test_scripted(self) -> None:
        @torch.jit.script
        def f(x, y):
            return torch.ops.npu.my_add(x, y) * 2

        x = torch.randn(3, 4, device="npu")
        assert_close(f(x, x).cpu(), x.cpu() * 4, rtol=0, atol=0)

    def test_exported(self) -> None:
        class Residual(torch.nn.Module):
            def forward(self, x):
                return torch.ops.npu.my_add(x, x.relu())

        x = torch.randn(3, 4)
        for device in ("cpu", "npu"):
            program = torch.export.export(Residual(), (x.to(device),))
            self.assertIn("npu.my_add", str(program.graph))
            assert_close(program.module()(x.to(device)).cpu(), x + x.relu(), rtol=0, atol=0)

    def test_compiled_by_aot_eager_as_one_graph_forward_and_backward(self) -> None:
        def f(x, y):
            return torch.ops.npu.my_add(x.view(2, 2), y).relu()

        for dynamic in (False, True):
            torch._dynamo.reset()
            compiled = torch.compile(f, backend="aot_eager", fullgraph=True, dynamic=dynamic)
            results = []
            for function in (f, compiled):
                x = torch.tensor([-1.0, 2, 3, -4], device="npu", requires_grad=True)
                y = torch.tensor([0.5, 1], device="npu", requires_grad=True)
                z = function(x, y)
                self.assertEqual(z.device, torch.device("npu", 0))
                z.sum().backward()
                results.append([t.detach().cpu() for t in (z, x.grad, y.grad)])
            assert_close(results[1], results[0], rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
