# SPDX-License-Identifier: Apache-2.0
"""An operator that is written in Python over torch.ops.npu is one that PyTorch knows as well as its own."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.library import opcheck
from torch.testing import assert_close

from examples.python_operator import my_add
from op_extension import check

ROOT = Path(__file__).resolve().parents[2]
SHAPES = (((4, 5), (4, 5)), ((4, 5), (5,)), ((4, 1), (1, 5)), ((), (3,)), ((0, 3), (3,)), ((2, 1, 3), (5, 1)))
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.float64)
# What opcheck has no branch for is npu; on CPU all of its checks run.
CHECKS_ON_NPU = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")


def operands(shapes, dtype, device, requires_grad=False):
    generator = torch.Generator().manual_seed(3)
    made = [(8 * torch.randn(shape, generator=generator)).to(device, dtype) for shape in shapes]
    return [x.requires_grad_() for x in made] if requires_grad else made


class PythonOperatorTest(unittest.TestCase):
    """``torch.ops.mylib.my_add``."""

    def test_equals_torch_add_bit_for_bit(self):
        for device in ("npu", "cpu"):
            for shapes in SHAPES:
                for dtype in DTYPES:
                    with self.subTest(device=device, shapes=shapes, dtype=dtype):
                        x, y = operands(shapes, dtype, device)
                        z = torch.ops.mylib.my_add(x, y)
                        self.assertEqual((z.device, z.dtype), (x.device, dtype))
                        assert_close(z.cpu(), x.cpu() + y.cpu(), rtol=0, atol=0)

    def launches(self):
        return check.launch_count("my_add_float"), check.launch_count("sum_to_float")

    def test_runs_tile_kernels_both_ways(self):
        x, y = operands(((4, 5), (5,)), torch.float32, "npu", requires_grad=True)
        adds, sums = self.launches()
        z = my_add(x, y)
        self.assertEqual(self.launches(), (adds + 1, sums))
        z.backward(torch.ones(4, 5, device="npu"))
        self.assertEqual(self.launches(), (adds + 1, sums + 1))
        self.assertEqual((x.grad.unique().tolist(), y.grad.unique().tolist()), ([1.0], [4.0]))

    def test_gradients_are_those_of_torch_add(self):
        for shapes in SHAPES:
            with self.subTest(shapes=shapes):
                x, y = operands(shapes, torch.float64, "npu", requires_grad=True)
                self.assertTrue(gradcheck(my_add, (x, y)))
                self.assertTrue(gradgradcheck(my_add, (x, y)))
                my_add(x, y).square().sum().backward()
                got, x.grad, y.grad = (x.grad, y.grad), None, None
                (x + y).square().sum().backward()
                assert_close(got, (x.grad, y.grad))

    def test_only_the_gradient_that_is_wanted_is_computed(self):
        x, y = operands(((4, 5), (5,)), torch.float32, "npu")
        x.requires_grad_()
        _, sums = self.launches()
        my_add(x, y).backward(torch.ones(4, 5, device="npu"))
        self.assertEqual(self.launches()[1], sums)
        self.assertEqual(x.grad.unique().tolist(), [1.0])
        self.assertIsNone(y.grad)

    def test_passes_the_checks_of_torch_library(self):
        for device, checks in (("cpu", {}), ("npu", {"test_utils": CHECKS_ON_NPU})):
            for shapes in SHAPES[1:4]:
                for dtype in (torch.float32, torch.int32):
                    with self.subTest(device=device, shapes=shapes, dtype=dtype):
                        wants = dtype.is_floating_point
                        opcheck(torch.ops.mylib.my_add, operands(shapes, dtype, device, requires_grad=wants), **checks)

    def test_compiles_into_one_graph_for_any_size(self):
        compiled = torch.compile(lambda x, y: my_add(x, y) * 2, backend="aot_eager", fullgraph=True, dynamic=True)
        for n in (3, 7):
            x, y = operands(((n, 5), (5,)), torch.float32, "npu", requires_grad=True)
            assert_close(compiled(x, y), (x + y) * 2, rtol=0, atol=0)

    def test_names_what_npu_my_add_refuses(self):
        for other in (torch.ones(2, dtype=torch.half, device="npu"), torch.ones(2)):
            with self.assertRaisesRegex(RuntimeError, "npu::my_add: expected y .*, got"):
                my_add(torch.ones(2, device="npu"), other)

    def test_as_a_program_fits_a_plane(self):
        for device in ("npu", "cpu"):
            command = [sys.executable, "examples/python_operator.py", f"--device={device}"]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            run = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
            )
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout, f"fitted on {device}: 2.000 * x -1.000 * y +3.000\n")


if __name__ == "__main__":
    unittest.main()
