# SPDX-License-Identifier: Apache-2.0
"""Calls an operator of my_pto_ops: op-extension run python use.py (run brings torch_npu)."""

import torch
import torch_npu  # noqa: F401

import my_pto_ops  # noqa: F401  (loads torch.ops.npu.my_add and its neighbours)

x = torch.randn(1024, 1024).npu()
y = torch.randn(1024, 1024).npu()

z = torch.ops.npu.my_add(x, y)

expected = x + y
assert torch.allclose(z, expected, rtol=1e-5)

print("Custom op works correctly!")
