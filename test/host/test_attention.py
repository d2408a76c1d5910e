# SPDX-License-Identifier: Apache-2.0
import unittest

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

import npu_backend  # noqa: F401

SHAPE = (2, 3, 17, 8)


def operands(device, dtype=torch.float32):
    torch.manual_seed(0)
    return [torch.randn(SHAPE, dtype=dtype).to(device).requires_grad_() for _ in range(3)]


class AttentionTest(unittest.TestCase):
    def test_output_and_gradients_equal_those_on_cpu(self):
        mask = torch.randn(2, 3, 17, 17)
        cases = {
            "plain": {},
            "causal": {"is_causal": True},
            "scale": {"scale": 0.3},
            "mask": {"attn_mask": mask},
            "boolean mask": {"attn_mask": mask > -1},
        }
        for (name, options), dtype in ((c, d) for c in cases.items() for d in (torch.float32, torch.bfloat16)):
            with self.subTest(case=name, dtype=dtype):
                results = []
                for device in ("cpu", "npu"):
                    options = {
                        k: v.to(device, dtype if v.is_floating_point() else None) if isinstance(v, torch.Tensor) else v
                        for k, v in options.items()
                    }
                    q, k, v = operands(device, dtype)
                    output = scaled_dot_product_attention(q, k, v, **options)
                    output.sum().backward()
                    results.append([t.detach().cpu() for t in (output, q.grad, k.grad, v.grad)])
                assert_close(results[1], results[0], rtol=0, atol=0)

    def test_the_fused_kernel_runs_unless_told_otherwise(self):
        q, k, v = operands("npu")
        self.assertEqual(torch._fused_sdp_choice(q, k, v), SDPBackend.OVERRIDEABLE.value)
        with sdpa_kernel(SDPBackend.MATH):
            self.assertEqual(torch._fused_sdp_choice(q, k, v), SDPBackend.MATH.value)

    def test_what_the_fused_kernel_cannot_do_takes_the_formula(self):
        q, k, v = operands("npu")
        mask = torch.zeros(17, 17, device="npu", requires_grad=True)
        scaled_dot_product_attention(q, k, v, attn_mask=mask).sum().backward()
        self.assertEqual(mask.grad.shape, (17, 17))
        self.assertEqual(scaled_dot_product_attention(q, k, v, dropout_p=0.5).shape, SHAPE)
        few = k[:, :1], v[:, :1]
        self.assertEqual(scaled_dot_product_attention(q, *few, enable_gqa=True).shape, SHAPE)

    def test_the_operators_of_private_devices_give_attn_bias_its_gradient(self):
        aten = torch.ops.aten
        for shape in ((2, 3, 17, 17), (17, 17), (2, 1, 17, 17)):
            with self.subTest(shape=shape):
                q, k, v = operands("npu")
                bias = torch.randn(shape, device="npu", requires_grad=True)
                upward = torch.randn(SHAPE, device="npu")
                scores = q @ k.transpose(-2, -1) * 0.3 + bias
                expected = torch.autograd.grad(scores.softmax(-1) @ v, (q, k, v, bias), upward)
                with torch.no_grad():
                    options = {"dropout_p": 0.0, "is_causal": False, "scale": 0.3}
                    mask = bias.expand(2, 3, 17, 17)
                    output, sums, *rest = aten._scaled_dot_product_fused_attention_overrideable(
                        q, k, v, attn_bias=mask, **options
                    )
                    got = aten._scaled_dot_product_fused_attention_overrideable_backward(
                        upward, q, k, v, bias, [True] * 4, output, sums, *rest[:4],
                        philox_seed=rest[4], philox_offset=rest[5], **options,
                    )  # fmt: skip
                for mine, theirs in zip(got, expected, strict=True):
                    assert_close(mine, theirs, rtol=2e-5, atol=2e-5)


if __name__ == "__main__":
    unittest.main()
