# SPDX-License-Identifier: Apache-2.0
import unittest

import torch
from torch.testing import assert_close

import npu_backend  # noqa: F401


class QuantizedTest(unittest.TestCase):
    def setUp(self):
        self.x = torch.linspace(-1, 1, 12).view(3, 4)

    def assert_same(self, q, expected):
        self.assertEqual((q.device.type, q.dtype, q.qscheme()), ("npu", expected.dtype, expected.qscheme()))
        self.assertEqual(q.int_repr().cpu().tolist(), expected.int_repr().tolist())
        assert_close(q.dequantize().cpu(), expected.dequantize(), rtol=0, atol=0)

    def test_values_equal_those_on_cpu(self):
        for name, f in {
            "quantize": lambda q: q,
            "slice": lambda q: q[1:, ::2],
            "transpose": lambda q: q.t(),
            "clone": lambda q: q.clone(),
            "relu": torch.relu,
            "cat": lambda q: torch.cat([q, q]),
        }.items():
            with self.subTest(operator=name):
                q, expected = (f(torch.quantize_per_tensor(x, 0.1, 10, torch.qint8)) for x in (self.x.npu(), self.x))
                self.assert_same(q, expected)

    def test_values_per_channel_equal_those_on_cpu(self):
        scales, zeros = torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, 2])
        expected = torch.quantize_per_channel(self.x, scales, zeros, 0, torch.qint8)
        q = torch.quantize_per_channel(self.x.npu(), scales.npu(), zeros.npu(), 0, torch.qint8)
        self.assert_same(q, expected)
        self.assertEqual(q.q_per_channel_scales().device.type, "npu")
        assert_close(q.q_per_channel_scales().cpu(), expected.q_per_channel_scales(), rtol=0, atol=0)

    def test_scale_and_zero_point(self):
        q = torch.quantize_per_tensor(self.x.npu(), 0.1, 10, torch.quint8)
        self.assertEqual((q.q_scale(), q.q_zero_point()), (0.1, 10))

    def test_views_share_the_memory(self):
        q = torch._empty_affine_quantized([2, 3], scale=2, zero_point=3, dtype=torch.quint8, device="npu")
        flat = q.view(-1)
        self.assertEqual((flat.device.type, flat.q_scale(), flat.data_ptr()), ("npu", 2.0, q.data_ptr()))
        q.copy_(torch.full((2, 3), 4.0).npu())
        self.assertEqual(flat.dequantize().tolist(), [4.0] * 6)

    def test_goes_to_the_device_and_back(self):
        q = torch.quantize_per_tensor(self.x, 0.1, 10, torch.qint8)
        self.assertEqual(q.npu().device.type, "npu")
        assert_close(q.npu().cpu().dequantize(), q.dequantize(), rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
