# SPDX-License-Identifier: Apache-2.0
"""Nested tensors of layout strided on npu: what PyTorch's CPU kernels for them give, on the device."""

import unittest
import warnings

import torch
from torch import nn
from torch.testing import assert_close

import npu_backend  # noqa: F401


def nested(device):
    parts = [torch.arange(6.0).view(2, 3), torch.arange(12.0).view(4, 3) - 5]
    return torch.nested.nested_tensor(parts, device=device)


def padded_sum_of_gradients(device):
    a = torch.ones(2, 3, device=device, requires_grad=True)
    b = torch.ones(1, 3, device=device, requires_grad=True)
    (torch.nested.as_nested_tensor([a, b]) * 2).to_padded_tensor(0).square().sum().backward()
    return torch.cat([a.grad, b.grad])


def from_mask(device):
    mask = torch.tensor([[True, True, False], [True, True, True]], device=device)
    return torch._nested_tensor_from_mask(torch.ones(2, 3, 4, device=device), mask)


DENSE = {
    "to_padded_tensor": lambda device: nested(device).to_padded_tensor(-1.0),
    "unbind": lambda device: nested(device).unbind()[1],
    "select": lambda device: nested(device)[0],
    "gradients": padded_sum_of_gradients,
}
NESTED = {
    "add": lambda device: nested(device) + nested(device),
    "add_": lambda device: nested(device).add_(nested(device)),
    "mul": lambda device: nested(device) * 2,
    "fill_": lambda device: nested(device).fill_(3),
    "relu": lambda device: nested(device).relu(),
    "softmax": lambda device: nested(device).softmax(-1),
    "linear": lambda device: nn.functional.linear(nested(device), torch.ones(2, 3, device=device)),
    "matmul": lambda device: nested(device) @ nested(device).transpose(1, 2),
    "contiguous": lambda device: nested(device).transpose(1, 2).contiguous(),
    "clone": lambda device: nested(device).clone(),
    "detach": lambda device: nested(device).detach(),
    "zeros_like": lambda device: torch.zeros_like(nested(device)),
    "half": lambda device: nested(device).half(),
    "from_mask": from_mask,
}


class NestedTest(unittest.TestCase):
    def setUp(self):
        context = warnings.catch_warnings()
        context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        warnings.simplefilter("ignore", UserWarning)  # PyTorch calls nested tensors a prototype

    def test_operators_give_what_they_give_on_cpu(self):
        for name, function in DENSE.items():
            with self.subTest(name):
                self.assertEqual(function("npu").device.type, "npu")
                assert_close(function("npu").cpu(), function("cpu"), rtol=0, atol=0)
        for name, function in NESTED.items():
            with self.subTest(name):
                x, expected = function("npu"), function("cpu")
                self.assertEqual((x.device.type, x.is_nested, x.dtype), ("npu", True, expected.dtype))
                for part, of_cpu in zip(x.unbind(), expected.unbind(), strict=True):
                    assert_close(part.cpu(), of_cpu, rtol=0, atol=0)

    def test_moves_between_devices_and_dtypes(self):
        expected = nested("cpu").to_padded_tensor(-1.0)
        there = nested("cpu").to("npu")
        for x in (there, there.to("npu:1"), there.npu(), there.cpu().npu(), there.to("npu", non_blocking=True)):
            self.assertEqual(x.device.type, "npu")
            assert_close(x.to_padded_tensor(-1.0).cpu(), expected, rtol=0, atol=0)
        self.assertEqual(there.to("cpu", torch.float64).to_padded_tensor(-1.0).dtype, torch.float64)
        x = torch.zeros_like(there)
        x.copy_(nested("cpu"), non_blocking=True)
        assert_close(x.to_padded_tensor(-1.0).cpu(), expected, rtol=0, atol=0)
        assert_close(there.cpu().to_padded_tensor(-1.0), expected, rtol=0, atol=0)

    def test_shares_memory_with_its_parts(self):
        x = nested("npu")
        x.unbind()[0].zero_()
        self.assertEqual(x.to_padded_tensor(0.0)[0].abs().sum().item(), 0)

    def test_the_shape_is_printed(self):
        self.assertIn("[0., 1., 2.]", repr(nested("npu")))
        self.assertEqual(nested("npu")._nested_tensor_size().tolist(), [[2, 3], [4, 3]])


class FastPathTest(unittest.TestCase):
    """Modules that make nested tensors of what a mask leaves, in inference."""

    def encode(self, device, **kwargs):
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        model = nn.TransformerEncoder(layer, 2).to(device).eval()
        x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(1)).to(device)
        with torch.no_grad():
            return model(x, **kwargs)

    def test_transformer_encoder_takes_a_padding_mask(self):
        mask = torch.tensor([[False, False, True], [False, False, False]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            expected = self.encode("cpu", src_key_padding_mask=mask)
            y = self.encode("npu", src_key_padding_mask=mask.npu())
        self.assertEqual(expected[0, 2].abs().sum().item(), 0)  # the fast path was taken
        assert_close(y.cpu(), expected)

    def test_transformer_encoder_heeds_autocast(self):
        for dtype in (torch.bfloat16, torch.float16):
            with torch.autocast("npu", dtype):
                y = self.encode("npu")
            self.assertEqual(y.dtype, dtype)
            assert_close(y.float().cpu(), self.encode("cpu"), rtol=0.05, atol=0.05)


if __name__ == "__main__":
    unittest.main()
