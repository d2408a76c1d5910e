# SPDX-License-Identifier: Apache-2.0
"""Trial 8: torch.compile with the backends eager and aot_eager; one sentence from the one that has no generator."""

import unittest

import torch
from torch import nn
from torch.testing import assert_close

import npu_backend  # noqa: F401
import op_extension  # noqa: F401  (registers my_add)

BACKENDS = ("eager", "aot_eager")


def add_and_clip(x):
    return torch.ops.npu.my_add(x.view(2, -1), x.view(2, -1)).relu()


class CompileTest(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        self.addCleanup(torch._dynamo.reset)

    def test_forward_and_backward_equal_eager_in_one_graph(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                compiled = torch.compile(add_and_clip, backend=backend, fullgraph=True)
                results = []
                for function in (add_and_clip, compiled):
                    x = torch.tensor([-1.0, 2, 3, -4], device="npu", requires_grad=True)
                    y = function(x)
                    self.assertEqual(y.device, torch.device("npu", 0))
                    y.sum().backward()
                    results.append((y.detach().cpu(), x.grad.cpu()))
                assert_close(results[1], results[0], rtol=0, atol=0)

    def test_other_sizes_compile_once_more_at_most(self):
        for backend in BACKENDS:
            torch._dynamo.reset()
            counter = torch._dynamo.testing.CompileCounterWithBackend(backend)
            compiled = torch.compile(add_and_clip, backend=counter, fullgraph=True, dynamic=True)
            for size in (6, 14, 22):
                x = torch.arange(float(size), device="npu") - 3
                assert_close(compiled(x), add_and_clip(x), rtol=0, atol=0)
            self.assertLessEqual(counter.frame_count, 2, backend)

    def test_modules_train_as_in_eager(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                torch.manual_seed(0)
                model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(18, 2))
                model = model.npu()
                compiled = torch.compile(model, backend=backend, fullgraph=True)
                x = torch.randn(3, 1, 5, 5, device="npu")
                gradients = []
                for module in (model, compiled):
                    model.zero_grad()
                    module(x).square().sum().backward()
                    gradients.append([p.grad.clone() for p in model.parameters()])
                assert_close(gradients[1], gradients[0])

    def test_views_mutation_factories_and_random_numbers(self):
        def f(x):
            y = x[1:].mul_(2)
            return x + torch.arange(4, device=x.device), y, nn.functional.dropout(x, 0.5)

        for backend in BACKENDS:
            with self.subTest(backend=backend):
                results = []
                for function in (f, torch.compile(f, backend=backend, fullgraph=True)):
                    torch.manual_seed(3)
                    results.append(function(torch.ones(4, device="npu")))
                assert_close(results[1], results[0], rtol=0, atol=0)

    def test_inductor_ends_with_a_sentence_that_names_the_backends(self):
        with self.assertRaisesRegex(
            Exception, "expected backend 'aot_eager', 'eager' or 'npu' for a graph on npu, got 'inductor'"
        ):
            torch.compile(add_and_clip)(torch.ones(4, device="npu"))
        self.assertEqual(torch.compile(lambda x: x + 1)(torch.ones(2)).tolist(), [2.0, 2.0])


if __name__ == "__main__":
    unittest.main()
