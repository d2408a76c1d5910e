# SPDX-License-Identifier: Apache-2.0
"""What every operator of torch.ops.npu keeps, as tests over a description of the operator."""

import itertools
import warnings
from collections.abc import Sequence

import torch
from torch.library import opcheck
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

import op_extension
from test.op.values import layouts, random_values

DEVICES = ("npu", "cpu")
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
# What the checks of torch.library do on tensors of npu; on CPU all of them run.
CHECKS_ON_NPU = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
BELOW = ("npu::", "aten::empty", "aten::view", "aten::expand", "aten::detach", "aten::as_strided", "aten::slice")


class Recorder(TorchDispatchMode):
    """Names of the operators that run while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(func.name())
        return func(*args, **(kwargs or {}))


def move(x: torch.Tensor, device: str) -> torch.Tensor:
    """``x`` on ``device`` with its strides and offset."""
    if device == "cpu":
        return x
    storage = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage()).to(device)
    return storage.as_strided(x.size(), x.stride(), x.storage_offset())


def values_of(shapes: Sequence[tuple[int, ...]], dtype: torch.dtype, seed: int = 1) -> list[torch.Tensor]:
    """Operands with special values among them."""
    return [random_values(shape, dtype, seed + i) for i, shape in enumerate(shapes)]


def leaves(shapes: Sequence[tuple[int, ...]], dtype: torch.dtype, device: str) -> list[torch.Tensor]:
    """Leaves of normal values on ``device`` that want a gradient."""
    generator = torch.Generator().manual_seed(7)
    made = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    return [x.to(device, dtype).requires_grad_() for x in made]


class ElementwiseContract:
    """Tests of an element-wise operator; mixed into a ``unittest.TestCase``."""

    overload: torch._ops.OpOverload
    instruction: str  # one that its kernel executes
    dtypes: tuple[torch.dtype, ...] = (*FLOATS, torch.int32)
    operands = 2

    def call(self, *x: torch.Tensor) -> torch.Tensor:
        """The operator."""
        return self.overload(*x)

    def expected(self, *x: torch.Tensor) -> torch.Tensor:
        """What it computes, by torch, on CPU tensors."""
        raise NotImplementedError

    def check(self, actual: torch.Tensor, expected: torch.Tensor, *x: torch.Tensor) -> None:
        """Compares results for operands ``x``; bit for bit where nothing else is said."""
        assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)

    def shapes(self) -> list[tuple[tuple[int, ...], ...]]:
        """Shapes of the operands: equal, broadcast, 0-dim, one element, zero size, ragged."""
        same = [(20, 2048), (), (1,), (0, 5), (3, 0, 4), (1023,), (4097,), (33, 3), (5, 4, 3, 2, 1, 2, 3)]
        cases = [(shape,) * self.operands for shape in same]
        if self.operands > 1:
            pairs = [((3, 7), (7,)), ((3, 1), (1, 7)), ((2, 1, 5, 1), (3, 1, 4)), ((3, 1), (3, 0)), ((9, 513), (9, 1))]
            cases += [(x, *(y,) * (self.operands - 1)) for x, y in pairs]
            cases += [(*(y,) * (self.operands - 1), x) for x, y in pairs]
        return cases

    def small(self, dtype: torch.dtype, device: str, wanted: bool = False) -> list[torch.Tensor]:
        """Small operands that broadcast."""
        shapes = [(4, 5), (5,), (4, 1)][: self.operands]
        return [x.detach().requires_grad_(wanted) for x in leaves(shapes, dtype, device)]

    # --- values ----------------------------------------------------------------------------------

    def test_equals_torch_over_shapes_and_dtypes(self) -> None:
        for shapes, dtype, device in itertools.product(self.shapes(), self.dtypes, DEVICES):
            with self.subTest(shapes=shapes, dtype=dtype, device=device):
                x = values_of(shapes, dtype)
                z = self.call(*(operand.to(device) for operand in x))
                self.assertTrue(z.is_contiguous())
                self.check(z.cpu(), self.expected(*x), *x)

    def test_takes_any_strides_and_offsets(self) -> None:
        for dtype, device in itertools.product((torch.float32, torch.bfloat16), DEVICES):
            x = values_of(((2, 3, 5, 7),) * self.operands, dtype, 5)
            expected = self.expected(*x)
            ways = [list(layouts(operand).values()) for operand in x]
            for i, first in enumerate(ways[0]):
                views = [first, *(way[(i + 2 * k + 1) % len(way)] for k, way in enumerate(ways[1:]))]
                with self.subTest(layout=i, dtype=dtype, device=device):
                    self.check(self.call(*(move(view, device) for view in views)).cpu(), expected, *x)

    def test_takes_expanded_and_overlapping_views(self) -> None:
        base = random_values((64,), torch.float32, 7)
        views = (
            base[:8].expand(6, 8),
            base[:6, None].expand(6, 8),
            base[5].expand(6, 8),
            base.as_strided((6, 8), (3, 1)),
        )
        for device, view in itertools.product(DEVICES, views):
            x = [view] * self.operands
            self.check(self.call(*(move(operand, device) for operand in x)).cpu(), self.expected(*x), *x)

    def test_same_bits_with_any_number_of_threads_and_deterministic(self) -> None:
        x = [operand.npu() for operand in values_of(((300, 1000),) * self.operands, torch.float16)]
        threads = torch.get_num_threads()
        self.addCleanup(torch.set_num_threads, threads)
        self.addCleanup(torch.use_deterministic_algorithms, False)
        results = []
        for count, deterministic in ((1, False), (2, False), (8, False), (2, True)):
            torch.set_num_threads(count)
            torch.use_deterministic_algorithms(deterministic)
            results.append(self.call(*x).cpu().view(torch.int16))
        for result in results[1:]:
            assert_close(result, results[0], rtol=0, atol=0)

    def test_needs_no_memory_beside_its_result(self) -> None:
        x = [operand.npu() for operand in values_of(((512, 512),) * self.operands, torch.float32)]
        torch.npu.synchronize()
        torch.npu.empty_cache()  # a block of a freed tensor may be larger than what is asked for
        torch.npu.reset_peak_memory_stats()
        before = torch.npu.memory_allocated()
        z = self.call(*x)
        torch.npu.synchronize()
        self.assertEqual(torch.npu.max_memory_allocated() - before, z.nbytes)

    def test_computes_in_tile_instructions(self) -> None:
        x = self.small(torch.float32, "npu", wanted=True)
        with op_extension.check.count_instructions() as counts, Recorder() as recorder:
            z = self.call(*x)
            torch.autograd.grad(z, x, torch.ones(z.shape, device="npu"))
        ours = [name for name in recorder.names if not name.startswith(BELOW) and name != "aten::ones"]
        self.assertEqual(ours, [])
        self.assertGreater(counts[self.instruction].elements, 0)

    # --- gradients -------------------------------------------------------------------------------

    def test_gradients_equal_those_of_torch(self) -> None:
        for shapes, device in itertools.product(self.shapes(), DEVICES):
            with self.subTest(shapes=shapes, device=device):
                x, y = leaves(shapes, torch.float64, device), leaves(shapes, torch.float64, "cpu")
                z, expected = self.call(*x), self.expected(*y)
                weight = torch.randn(expected.shape, dtype=torch.float64)
                z.backward(weight.to(device))
                expected.backward(weight)
                for ours, theirs in zip(x, y, strict=True):
                    assert_close(ours.grad.cpu(), theirs.grad, rtol=1e-6, atol=1e-6)

    def test_gradcheck_and_gradgradcheck(self) -> None:
        for device in DEVICES:
            x = self.small(torch.float64, device, wanted=True)
            self.assertTrue(torch.autograd.gradcheck(self.call, x))
            self.assertTrue(torch.autograd.gradgradcheck(self.call, x))

    # --- transformations -------------------------------------------------------------------------

    def test_opcheck(self) -> None:
        for wanted in (False, True):
            cpu, npu = (self.small(torch.float32, device, wanted) for device in ("cpu", "npu"))
            self.assertEqual(set(opcheck(self.overload, cpu).values()), {"SUCCESS"})
            self.assertEqual(set(opcheck(self.overload, npu, test_utils=CHECKS_ON_NPU).values()), {"SUCCESS"})

    def test_meta_has_the_strides_of_the_result(self) -> None:
        x = torch.randn(2, 3, 4, 4)
        for view in (*layouts(x).values(), x[:1].expand(2, 3, 4, 4)):
            operands = [view] * self.operands
            real, meta = self.call(*operands), self.call(*(operand.to("meta") for operand in operands))
            self.assertEqual((meta.shape, meta.stride(), meta.dtype), (real.shape, real.stride(), real.dtype))

    def test_exported_and_compiled(self) -> None:
        call = self.call

        class Module(torch.nn.Module):
            def forward(self, *x):
                return call(*x) + 1

        for device in DEVICES:
            x = self.small(torch.float32, device)
            expected = call(*x).cpu() + 1
            program = torch.export.export(Module(), tuple(x))
            assert_close(program.module()(*x).cpu(), expected, rtol=0, atol=0)
            torch._dynamo.reset()
            compiled = torch.compile(Module(), backend="aot_eager", fullgraph=True, dynamic=True)
            assert_close(compiled(*x).cpu(), expected, rtol=0, atol=0)

    def test_vmap(self) -> None:
        x = [torch.randn(3, 4, 5, device="npu") for _ in range(self.operands)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of speed
            z = torch.vmap(self.call)(*x)
        assert_close(z, self.call(*x), rtol=0, atol=0)

    # --- errors ----------------------------------------------------------------------------------

    def test_names_what_was_expected_and_what_came(self) -> None:
        one = torch.ones(2, device="npu")
        with self.assertRaisesRegex(TypeError, "expected x of dtype Float, Half, BFloat16, Int or Double, got Bool"):
            self.call(*(one.bool() for _ in range(self.operands)))
        if self.operands > 1:
            rest = [one] * (self.operands - 2)
            for other, sentence in (
                (one.half(), "expected [yz] of dtype Float .the dtype of x., got Half"),
                (torch.ones(2), "expected [yz] on npu:0 .the device of x., got cpu"),
                (torch.ones(3, device="npu"), "must match the size of tensor b"),
            ):
                with self.subTest(sentence), self.assertRaisesRegex(RuntimeError, sentence):
                    self.call(one, *rest, other)

    def test_names_memory_that_was_freed_and_tangents(self) -> None:
        for device in DEVICES:
            x = [torch.ones(4, device=device) for _ in range(self.operands)]
            x[-1].untyped_storage().resize_(0)
            with self.assertRaisesRegex(RuntimeError, "expected [xyz] with memory, got a tensor of size .4. whose"):
                self.call(*x)
            with self.assertRaisesRegex(NotImplementedError, "expected inputs without a forward-mode tangent"):
                ones = tuple(torch.ones(3, device=device) for _ in range(self.operands))
                torch.func.jvp(self.call, ones, ones)
