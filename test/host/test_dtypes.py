# SPDX-License-Identifier: Apache-2.0
"""Trial 26: dtypes that chips refuse or convert in silence compute here as on CPU, or raise where that is asked for."""

import sys
import threading
import unittest
from pathlib import Path

import torch
from torch.testing import assert_close

import npu_backend
import op_extension  # noqa: F401  (registers my_add)

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import output_of, run_python

WIDE = (torch.float64, torch.complex64, torch.complex128)
UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)


class DtypeTest(unittest.TestCase):
    def test_wide_dtypes_compute_as_on_cpu(self):
        for dtype in WIDE:
            with self.subTest(dtype=dtype):
                x = torch.arange(1, 5).to(dtype).view(2, 2)
                y = x.npu()
                self.assertEqual(y.dtype, dtype)
                for function in (
                    lambda t: t + t, lambda t: t + 1, torch.exp, lambda t: t @ t, lambda t: t.sum(0), lambda t: 1 / t,
                    torch.linalg.inv, lambda t: t.clone(), lambda t: torch.empty_like(t).copy_(t),
                ):  # fmt: skip
                    z = function(y)
                    self.assertEqual((z.dtype, z.device), (dtype, y.device))
                    assert_close(z.cpu(), function(x))
                self.assertEqual(repr(y).replace(", device='npu:0'", ""), repr(x))

    def test_unsigned_dtypes_are_created_copied_and_printed(self):
        for dtype in UNSIGNED:
            with self.subTest(dtype=dtype):
                most = torch.iinfo(dtype).max
                x = torch.tensor([0, most], dtype=dtype, device="npu")
                self.assertEqual(x.clone().tolist(), [0, most])
                self.assertEqual(x.npu(1).cpu().dtype, dtype)
                self.assertIn(str(most), repr(x))
                self.assertEqual((x == x).tolist(), [True, True])
                self.assertEqual(torch.empty_like(x).copy_(x).tolist(), [0, most])

    def test_unsigned_dtypes_add_subtract_and_multiply_modulo_their_range(self):
        for dtype in UNSIGNED:
            modulus = torch.iinfo(dtype).max + 1
            a, b = [0, 3, modulus - 1, modulus // 2], [modulus - 1, 5, modulus - 1, modulus // 2]
            x, y = (torch.tensor(values, dtype=dtype, device="npu") for values in (a, b))
            for name, exact in (("add", int.__add__), ("sub", int.__sub__), ("mul", int.__mul__)):
                expected = [exact(i, j) % modulus for i, j in zip(a, b, strict=True)]
                for form, result in {
                    "function": getattr(torch, name)(x, y),
                    "in place": getattr(x.clone(), name + "_")(y),
                    "out": getattr(torch, name)(x, y, out=torch.empty(0, dtype=dtype, device="npu")),
                    "views": getattr(torch, name)(x.view(2, 2).t(), y.view(2, 2).t()).t().flatten(),
                }.items():
                    with self.subTest(dtype=dtype, operator=name, form=form):
                        self.assertEqual((result.dtype, result.device), (dtype, x.device))
                        self.assertEqual(result.tolist(), expected)
                for number, result in (
                    ([exact(i, 7) % modulus for i in a], getattr(torch, name)(x, 7)),
                    ([exact(7, i) % modulus for i in a], {"add": 7 + x, "sub": 7 - x, "mul": 7 * x}[name]),
                ):
                    self.assertEqual((result.dtype, result.tolist()), (dtype, number), name)

    def test_sums_of_unsigned_dtypes_keep_the_result_that_was_given(self):
        x = torch.tensor([1, 2], dtype=torch.uint64, device="npu")
        out = torch.zeros(2, dtype=torch.uint64, device="npu")
        self.assertIs(torch.add(x, x, out=out), out)
        self.assertEqual(out.tolist(), [2, 4])
        y = x
        y += x
        self.assertIs(y, x)
        self.assertEqual(x.tolist(), [2, 4])
        self.assertEqual(torch.add(x, x, alpha=3).tolist(), [8, 16])

    def test_an_operator_that_cpu_refuses_names_itself_and_the_dtype(self):
        for device in ("cpu", "npu"):
            x = torch.ones(2, dtype=torch.uint64, device=device)
            with self.assertRaisesRegex(RuntimeError, "not implemented for 'UInt64'"):
                x // x
            with self.assertRaisesRegex(RuntimeError, "UInt64"):
                x + torch.ones(2, dtype=torch.int8, device=device)

    def test_large_integers_add_exactly(self):
        x = torch.full((1025,), 2**40, device="npu")
        self.assertEqual(x.sum().item(), 1025 * 2**40)
        self.assertEqual((x + 1).max().item(), 2**40 + 1)

    def test_repeat_interleave(self):
        for dtype in (torch.int64, torch.float64):
            x = torch.tensor([1, 2, 3], dtype=dtype, device="npu")
            for result, expected in (
                (x.repeat_interleave(2), [1, 1, 2, 2, 3, 3]),
                (x.repeat_interleave(torch.tensor([0, 1, 2], device="npu")), [2, 3, 3]),
                (torch.repeat_interleave(x.view(1, 3), 2, dim=1), [[1, 1, 2, 2, 3, 3]]),
            ):
                self.assertEqual((result.dtype, result.tolist()), (dtype, expected))

    def test_my_add_names_a_dtype_that_it_does_not_take(self):
        for dtype in (torch.uint64, torch.complex64, torch.int8, torch.bool):
            x = torch.ones(2, dtype=dtype, device="npu")
            with self.subTest(dtype=dtype), self.assertRaisesRegex(TypeError, "my_add: expected .*, got "):
                torch.ops.npu.my_add(x, x)


class StrictDtypesTest(unittest.TestCase):
    """npu_backend.strict_dtypes."""

    def tearDown(self):
        npu_backend.strict_dtypes(False)

    def test_operators_that_ascend_refuses_name_themselves_and_their_dtypes(self):
        floats = "Half, Float or BFloat16"
        numbers = "Byte, Char, Short, Int, Long, Half, Float, Bool or BFloat16"
        for dtype, name, dtypes, function in (
            (torch.float64, "aten::mm", floats, lambda x: x @ x),
            (torch.complex64, "aten::mm", floats, lambda x: x @ x),
            (torch.float64, "aten::addmm", floats, lambda x: torch.nn.functional.linear(x, x, x[0])),
            (torch.float64, "aten::sort", numbers, torch.sort),
            (torch.float64, "aten::native_layer_norm", floats, lambda x: torch.nn.functional.layer_norm(x, (2,))),
            (torch.float64, "aten::var.correction", floats, torch.var),
            (torch.float64, "aten::masked_fill_.Scalar", "", lambda x: x.masked_fill(x > 1, 0.0)),
            (torch.complex128, "aten::cat", "", lambda x: torch.cat([x, x])),
            (torch.float64, "aten::linalg_inv_ex", "Half or Float", torch.linalg.inv),
            (torch.uint64, "aten::add.Tensor", "", lambda x: x + x),
            (torch.uint64, "aten::add_.Tensor", "", lambda x: x.add_(x)),
            (torch.uint64, "aten::add.out", "", lambda x: torch.add(x, x, out=torch.empty_like(x))),
            (torch.float64, "aten::convolution", floats, lambda x: torch.conv1d(x[None], x[None])),
        ):
            x = torch.tensor([[1, 0], [0, 1]], dtype=dtype, device="npu")
            function(x)
            got = {torch.float64: "Double", torch.complex64: "ComplexFloat", torch.complex128: "ComplexDouble"}
            sentence = (
                rf"{name}.*: expected \w+ of dtype {dtypes}.* \(what Ascend's operator takes; "
                rf"npu_backend.strict_dtypes is on\), got {got.get(dtype, 'UInt64')}"
            )
            with self.subTest(operator=name, dtype=dtype), npu_backend.strict_dtypes():
                self.assertRaisesRegex(NotImplementedError, sentence, function, x)

    def test_the_second_operand_counts_and_cpu_does_not(self):
        x, y = torch.ones(2, 2, device="npu"), torch.ones(2, dtype=torch.uint16, device="npu")
        with npu_backend.strict_dtypes():
            with self.assertRaisesRegex(NotImplementedError, "aten::eq.Tensor: expected other of dtype .* got UInt16"):
                torch.eq(x, y)
            self.assertEqual((x + 1.5).tolist(), [[2.5, 2.5]] * 2)  # a number of Python is float64 to PyTorch
            self.assertEqual((x * torch.tensor(2.0, dtype=torch.float64)).dtype, torch.float32)
            on_cpu = torch.ones(2, 2, dtype=torch.float64)
            self.assertEqual((on_cpu @ on_cpu).tolist(), [[2.0, 2.0]] * 2)

    def test_what_ascend_takes_is_computed(self):
        with npu_backend.strict_dtypes():
            for dtype in WIDE:
                x = torch.arange(1, 5, device="npu").to(dtype).view(2, 2)
                self.assertEqual((x + x).sum().cpu(), 20)
                self.assertIn("tensor", repr(x))
                self.assertEqual(x.clone().npu(1).cpu().dtype, dtype)
            x = torch.full((3,), 2**40, device="npu")
            self.assertEqual(x.sum().item(), 3 * 2**40)

    def test_a_training_step_in_float_and_half_is_not_refused(self):
        with npu_backend.strict_dtypes():
            torch.manual_seed(0)
            model = torch.nn.Sequential(
                torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                torch.nn.Flatten(), torch.nn.LayerNorm(36), torch.nn.Linear(36, 8), torch.nn.GELU(),
                torch.nn.Dropout(0.1), torch.nn.Linear(8, 3),
            ).npu()  # fmt: skip
            for optimiser in (torch.optim.AdamW, torch.optim.SGD):
                stepper = optimiser(model.parameters(), lr=0.01)
                for dtype in (None, torch.float16, torch.bfloat16):
                    stepper.zero_grad()
                    with torch.autocast("npu", dtype=dtype, enabled=dtype is not None):
                        logits = model(torch.randn(4, 1, 8, 8, device="npu"))
                        loss = torch.nn.functional.cross_entropy(logits, torch.arange(4, device="npu") % 3)
                    loss.backward()
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    stepper.step()
                    self.assertTrue(loss.isfinite().item())

    def test_my_add_of_float64_is_an_extension_of_the_emulator(self):
        x = torch.ones(2, dtype=torch.float64, device="npu")
        with npu_backend.strict_dtypes():
            with self.assertRaisesRegex(NotImplementedError, "npu::my_add: expected x of dtype .*, got Double"):
                torch.ops.npu.my_add(x, x)
            self.assertEqual(torch.ops.npu.my_add(x.cpu(), x.cpu()).tolist(), [2.0, 2.0])
        self.assertEqual(torch.ops.npu.my_add(x, x).tolist(), [2.0, 2.0])

    def test_the_switch_is_of_the_process_and_ends_with_its_block(self):
        x = torch.ones(2, 2, dtype=torch.float64, device="npu")
        refused = []

        def multiply():
            try:
                x @ x
            except NotImplementedError:
                refused.append(True)

        with npu_backend.strict_dtypes():
            thread = threading.Thread(target=multiply)
            thread.start()
            thread.join()
            with npu_backend.strict_dtypes(False):
                multiply()
            self.assertEqual(refused, [True])
            multiply()
        multiply()
        self.assertEqual(refused, [True, True])
        npu_backend.strict_dtypes()
        multiply()
        self.assertEqual(len(refused), 3)
        with self.assertRaisesRegex(TypeError, "strict_dtypes: expected True or False, got 'yes'"):
            npu_backend.strict_dtypes("yes")

    def test_the_environment_switches_it_on(self):
        code = (
            "import npu_backend, torch\n"
            "x = torch.ones(2, 2, dtype=torch.float64, device='npu')\n"
            "try:\n    print((x @ x).tolist())\nexcept NotImplementedError as error:\n    print(error)"
        )
        self.assertIn("aten::mm: expected self", output_of(code, NPU_STRICT_DTYPES="1"))
        self.assertEqual(output_of(code, NPU_STRICT_DTYPES="0").strip(), "[[2.0, 2.0], [2.0, 2.0]]")
        done = run_python(code, NPU_STRICT_DTYPES="maybe")
        self.assertEqual(done.returncode, 1)
        self.assertIn("NPU_STRICT_DTYPES: expected 0 or 1, got maybe", done.stderr.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
