# SPDX-License-Identifier: Apache-2.0
"""Our own kernels under check.random_order: bit for bit what they compute in the usual order, so no flag is missing."""

import contextlib
import unittest

import torch

from op_extension.check import random_order
from test.op.samples import Shape, operators, shapes_of, tensors

SEEDS = range(5)
DTYPES = (torch.float32, torch.float16)
# Shapes of several tiles and blocks, ragged ones among them.
LARGE = {
    "my_add": [(Shape((3, 20_011)), Shape((20_011,)))],
    "fused_add_relu": [(Shape((3, 20_011)), Shape((3, 20_011)))],
    "my_gelu": [(Shape((50_001,)),)],
    "my_relu": [(Shape((7, 9001)),)],
    "my_gemm": [(Shape((200, 300)), Shape((300, 170)))],
    "my_flash_attention": [(Shape((1, 2, 200, 40)), Shape((1, 2, 300, 40)), Shape((1, 2, 300, 40)), True)],
    "my_conv": [(Shape((2, 16, 20, 20)), Shape((24, 16, 3, 3)), Shape((24,)), 1, 1)],
    "my_softmax": [(Shape((70, 1111)), 1), (Shape((70, 1111)), 0)],
    "my_layer_norm": [(Shape((65, 1030)), [1030], Shape((1030,)), Shape((1030,)))],
    "my_rms_norm": [(Shape((65, 1030)), [1030], Shape((1030,)))],
    "my_split": [(Shape((6, 9001)), 0), (Shape((5000, 6)), 1)],
}


def bits(x):
    """Also of a scalar."""
    return x.reshape(-1).view(torch.uint8)


def results(overload, shapes, dtype, seed=None):
    """Results, and gradients of all that can have one, in the usual order or under seed."""
    arguments = tensors(shapes, dtype, "npu", wanted=not overload._schema.is_mutable)
    leaves = [a for a in arguments if isinstance(a, torch.Tensor) and a.requires_grad]
    with random_order(seed) if seed is not None else contextlib.nullcontext():
        made = overload(*arguments)
        made = list(made) if isinstance(made, tuple) else [made]
        roots = [x for x in made if x.requires_grad]
        if roots:
            torch.autograd.backward(roots, [torch.ones_like(x) for x in roots])
    return [x.detach().cpu() for x in made + [leaf.grad for leaf in leaves if leaf.grad is not None]]


class OperatorsInRandomOrderTest(unittest.TestCase):
    def check(self, overload, shapes):
        for dtype in DTYPES:
            expected = results(overload, shapes, dtype)
            for seed in SEEDS:
                with self.subTest(operator=str(overload), shapes=shapes, dtype=dtype, seed=seed):
                    for got, want in zip(results(overload, shapes, dtype, seed), expected, strict=True):
                        self.assertTrue(torch.equal(bits(got), bits(want)))

    def test_all_operators_and_their_gradients_keep_their_bits(self):
        for overload in operators():
            for shapes in shapes_of(overload):
                self.check(overload, shapes)

    def test_they_do_so_over_several_tiles_and_blocks(self):
        for name, cases in LARGE.items():
            for shapes in cases:
                self.check(getattr(torch.ops.npu, name).default, shapes)


if __name__ == "__main__":
    unittest.main()
