# SPDX-License-Identifier: Apache-2.0
"""What tests of operators on rows share: ulps, and torch's transformations."""

import unittest
import warnings
from collections.abc import Callable, Sequence

import torch
from torch.library import opcheck
from torch.testing import assert_close

from test.op.contract import BELOW, CHECKS_ON_NPU, DEVICES, Recorder

THREADS = (1, 2, 8)

Function = Callable[..., torch.Tensor]


def normal(shape: Sequence[int], dtype: torch.dtype, seed: int, device: str = "cpu") -> torch.Tensor:
    """Values of a normal distribution."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(tuple(shape), dtype=torch.float64, generator=generator).to(dtype).to(device)


def leaf(shape: Sequence[int], dtype: torch.dtype, seed: int, device: str = "npu") -> torch.Tensor:
    """The same as a leaf that wants a gradient."""
    return normal(shape, dtype, seed, device).requires_grad_()


def ulps(got: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """Distance of ``got`` from ``exact`` (float64) in units of the last place that ``exact`` has in the dtype."""
    info = torch.finfo(got.dtype)
    _, exponent = torch.frexp(exact.abs().clamp_min(info.smallest_normal))
    return (got.double() - exact).abs() / (info.eps * torch.exp2((exponent - 1).double()))


class RowChecks(unittest.TestCase):
    """Checks that take an operator, or a function of it, as argument."""

    def check_opcheck(self, op, make_args: Callable[[str, bool], tuple]) -> None:
        """The full set on cpu, what the device has on npu, with and without gradients."""
        for wanted in (False, True):
            self.assertEqual(set(opcheck(op, make_args("cpu", wanted)).values()), {"SUCCESS"})
            npu = opcheck(op, make_args("npu", wanted), test_utils=CHECKS_ON_NPU)
            self.assertEqual(set(npu.values()), {"SUCCESS"})

    def check_gradients(self, function: Function, *shapes: Sequence[int]) -> None:
        """Derivatives against differences, once and twice, in float64."""
        for device in DEVICES:
            leaves = tuple(leaf(shape, torch.float64, seed, device) for seed, shape in enumerate(shapes))
            self.assertTrue(torch.autograd.gradcheck(function, leaves))
            self.assertTrue(torch.autograd.gradgradcheck(function, leaves))

    def check_export_and_compilation(self, function: Function, name: str, *leaves: torch.Tensor) -> None:
        """Exported, and compiled in one graph, forward and backward, static and dynamic."""

        class Module(torch.nn.Module):
            def forward(self, *arguments: torch.Tensor) -> torch.Tensor:
                return function(*arguments)

        detached = tuple(x.detach() for x in leaves)
        for device in DEVICES:
            arguments = tuple(x.to(device) for x in detached)
            program = torch.export.export(Module(), arguments)
            self.assertIn(name, str(program.graph))
            assert_close(program.module()(*arguments).cpu(), function(*detached).cpu(), rtol=0, atol=0)
        for dynamic in (False, True):
            torch._dynamo.reset()
            compiled = torch.compile(function, backend="aot_eager", fullgraph=True, dynamic=dynamic)
            results = []
            for each in (function, compiled):
                own = tuple(x.detach().clone().requires_grad_() for x in leaves)
                z = each(*own)
                z.square().sum().backward()
                results.append([t.detach().cpu() for t in (z, *(x.grad for x in own))])
            assert_close(results[1], results[0], rtol=0, atol=0)

    def check_same_bits_with_any_number_of_threads(self, function: Function, *leaves: torch.Tensor) -> None:
        """Results and gradients, also under deterministic algorithms."""
        before = torch.get_num_threads()
        self.addCleanup(torch.set_num_threads, before)
        self.addCleanup(torch.use_deterministic_algorithms, False)
        results = []
        for threads in THREADS:
            torch.set_num_threads(threads)
            torch.use_deterministic_algorithms(threads == THREADS[-1])
            z = function(*leaves)
            results.append([t.cpu() for t in (z, *torch.autograd.grad(z, leaves, torch.cos(z.detach())))])
        for result in results[1:]:
            assert_close(result, results[0], rtol=0, atol=0)

    def check_nothing_but_our_operators_runs(self, function: Function, *leaves: torch.Tensor) -> None:
        """Forward and backward show our operators, empty, view and expand."""
        gradient = torch.ones_like(function(*leaves))
        with Recorder() as recorder:
            torch.autograd.grad(function(*leaves), leaves, gradient)
        self.assertEqual([n for n in recorder.names if not n.startswith(BELOW)], [])

    def check_vmap(self, function: Function, *batched: torch.Tensor) -> None:
        """A batch of calls equals the calls."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is slow
            z = torch.vmap(function)(*batched)
        each = [function(*arguments) for arguments in zip(*batched, strict=True)]
        assert_close(z.cpu(), torch.stack(each).cpu(), rtol=0, atol=0)

    def check_extra_bytes(self, function: Function, *arguments: torch.Tensor, bytes_beside: int) -> None:
        """The memory that a call on ``npu`` needs beside its result."""
        function(*arguments)
        torch.npu.synchronize()
        torch.npu.empty_cache()  # a block of a freed tensor may be larger than what is asked for
        torch.npu.reset_peak_memory_stats()
        before = torch.npu.memory_allocated()
        z = function(*arguments)
        torch.npu.synchronize()
        needed = torch.npu.max_memory_allocated() - before
        rounding = 8192  # of the sizes of blocks
        self.assertLessEqual(needed, z.nbytes + bytes_beside + rounding)
        self.assertGreaterEqual(needed, z.nbytes + bytes_beside)

    def check_refuses_tangents_and_freed_memory(self, function: Function, shape: Sequence[int]) -> None:
        """Neither is dropped in silence."""
        for device in DEVICES:
            x = torch.ones(tuple(shape), device=device)
            with self.assertRaisesRegex(NotImplementedError, "expected inputs without a forward-mode tangent"):
                torch.func.jvp(function, (x,), (x,))
            x.untyped_storage().resize_(0)
            with self.assertRaisesRegex(RuntimeError, "expected x with memory, got a tensor of size"):
                function(x)
