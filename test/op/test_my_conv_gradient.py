# SPDX-License-Identifier: Apache-2.0
"""Gradients of the gradients of torch.ops.npu.my_conv, and how torch's transformations see the operators."""

import sys
import unittest
import warnings
from pathlib import Path

import torch
from torch.library import opcheck
from torch.nn import functional
from torch.testing import assert_close

import op_extension  # noqa: F401  (registers the operators)

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.op.contract import CHECKS_ON_NPU, DEVICES, leaves
from test.op.values import layouts

SHAPES = ((2, 2, 4, 3), (2, 2, 2, 3), (2,))


def conv(stride, padding):
    """``my_conv`` with the two given."""
    return lambda input, weight, bias=None: torch.ops.npu.my_conv(input, weight, bias, stride, padding)


class MyConvGradientTest(unittest.TestCase):
    """Small operands in float64."""

    def test_gradcheck_and_gradgradcheck(self) -> None:
        for device, stride, padding, count in (
            ("npu", 1, 0, 3),
            ("npu", (2, 1), (0, 1), 3),
            ("npu", 2, 2, 2),
            ("cpu", (1, 2), 1, 3),
        ):
            with self.subTest(device=device, stride=stride, padding=padding):
                x = leaves(SHAPES[:count], torch.float64, device)
                self.assertTrue(torch.autograd.gradcheck(conv(stride, padding), x))
                self.assertTrue(torch.autograd.gradgradcheck(conv(stride, padding), x))

    def test_channels_last_operands_have_gradients(self) -> None:
        x, w, b = leaves(SHAPES, torch.float64, "npu")
        views = [t.to(memory_format=torch.channels_last) for t in (x, w)]
        torch.ops.npu.my_conv(*views, b, 1, 1).sum().backward()
        y = [t.detach().cpu().requires_grad_() for t in (x, w, b)]
        functional.conv2d(*y, 1, 1).sum().backward()
        for ours, theirs in zip((x, w, b), y, strict=True):
            assert_close(ours.grad.cpu(), theirs.grad)

    def test_only_wanted_gradients_are_computed(self) -> None:
        x, w, b = leaves(SHAPES, torch.float32, "npu")
        torch.ops.npu.my_conv(x.detach(), w, b).sum().backward()
        self.assertIsNone(x.grad)
        self.assertIsNotNone(w.grad)
        with torch.no_grad():
            self.assertFalse(torch.ops.npu.my_conv(x, w, b).requires_grad)

    def test_trains_a_layer_as_torch_does(self) -> None:
        generator = torch.Generator().manual_seed(1)
        images, wanted = torch.rand(16, 1, 8, 8, generator=generator), torch.rand(16, 4, 8, 8, generator=generator)
        start = torch.randn(4, 1, 3, 3, generator=generator)
        losses: dict[str, list[float]] = {"cpu": [], "npu": []}
        for device, function in (("cpu", functional.conv2d), ("npu", torch.ops.npu.my_conv)):
            w, b = start.clone().to(device).requires_grad_(), torch.zeros(4, device=device, requires_grad=True)
            optimizer = torch.optim.SGD((w, b), lr=0.1)
            for _ in range(20):
                loss = functional.mse_loss(function(images.to(device), w, b, padding=1), wanted.to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses[device].append(loss.item())
        self.assertLess(losses["npu"][-1], losses["npu"][0] / 2)
        for ours, theirs in zip(losses["npu"], losses["cpu"], strict=True):
            self.assertAlmostEqual(ours, theirs, delta=1e-4)


class TransformationTest(unittest.TestCase):
    """opcheck, scripting, export, compilation, autocast, vmap."""

    def test_opcheck(self) -> None:
        for device, checks in (("cpu", {}), ("npu", {"test_utils": CHECKS_ON_NPU})):
            x, w, b = leaves(SHAPES, torch.float32, device)
            g = torch.randn(2, 2, 5, 3, device=device, requires_grad=True)
            backward_input = torch.ops.npu.my_conv_backward_input.default
            backward_weight = torch.ops.npu.my_conv_backward_weight.default
            for op, arguments in (
                (torch.ops.npu.my_conv.default, (x, w, b, [2, 1], [1, 1])),
                (torch.ops.npu.my_conv.default, (x.detach(), w.detach())),
                (backward_input, (g, w, [4, 3], [1, 1], [1, 1])),
                (backward_weight, (g, x, [2, 3], [1, 1], [1, 1])),
            ):
                with self.subTest(op=op.name(), device=device):
                    self.assertEqual(set(opcheck(op, arguments, **checks).values()), {"SUCCESS"})

    def test_meta_has_the_strides_of_the_result(self) -> None:
        x, w = torch.randn(2, 3, 4, 4), torch.randn(2, 3, 2, 2)
        for x_view, w_view in zip(layouts(x).values(), layouts(w).values(), strict=True):
            real, meta = conv(1, 1)(x_view, w_view), conv(1, 1)(x_view.to("meta"), w_view.to("meta"))
            self.assertEqual((meta.shape, meta.stride(), meta.dtype), (real.shape, real.stride(), real.dtype))

    def test_scripted_exported_and_compiled(self) -> None:
        class Module(torch.nn.Module):
            def forward(self, x, w, b):
                return torch.ops.npu.my_conv(x, w, b, 1, 1).relu()

        for device in DEVICES:
            x = leaves(SHAPES, torch.float32, device)
            expected = Module()(*x)
            gradients = torch.autograd.grad(expected.sum(), x)
            assert_close(torch.jit.script(Module())(*x), expected, rtol=0, atol=0)
            program = torch.export.export(Module(), tuple(x))
            assert_close(program.module()(*x), expected, rtol=0, atol=0)
            for dynamic in (False, True):
                torch._dynamo.reset()
                compiled = torch.compile(Module(), backend="aot_eager", fullgraph=True, dynamic=dynamic)
                z = compiled(*x)
                assert_close(z, expected, rtol=0, atol=0)
                assert_close(torch.autograd.grad(z.sum(), x), gradients, rtol=0, atol=0)

    def test_autocast_computes_in_its_dtype(self) -> None:
        x, w, b = leaves(SHAPES, torch.float32, "npu")
        with torch.autocast("npu", dtype=torch.bfloat16):
            z = torch.ops.npu.my_conv(x, w, b)
        self.assertEqual(z.dtype, torch.bfloat16)
        z.sum().backward()
        self.assertEqual(w.grad.dtype, torch.float32)

    def test_vmap(self) -> None:
        x, w = torch.randn(3, 2, 2, 4, 4, device="npu"), torch.randn(2, 2, 3, 3, device="npu")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of speed
            z = torch.vmap(conv(1, 1), in_dims=(0, None))(x, w)
        for i in range(3):
            assert_close(z[i], conv(1, 1)(x[i], w), rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
