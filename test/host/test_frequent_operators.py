# SPDX-License-Identifier: Apache-2.0
"""The operators that are called without boxes: values, strides and errors as on CPU."""

import itertools
import threading
import unittest
from collections.abc import Callable

import torch

import npu_backend
import op_extension  # noqa: F401  (torch.ops.npu)

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
BINARY: dict[str, Callable[..., torch.Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
}
UNARY: dict[str, Callable[..., torch.Tensor]] = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "exp": torch.exp,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "neg": torch.neg,
    "relu": torch.relu,
    "abs": torch.abs,
}
LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.transpose(1, 3),
    "channels_last": lambda x: x.to(memory_format=torch.channels_last),
    "sliced": lambda x: x[:, :, ::2, 1:],
    "expanded": lambda x: x[:1].expand(3, -1, -1, -1),
    "scalar": lambda x: x[0, 0, 0, 0],
    "empty": lambda x: x[:0],
    "one": lambda x: x[:1, :1, :1, :1],
}


def values(dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(3, 4, 6, 4, generator=generator)
    x[0, 0, 0] = torch.tensor([0.0, -0.0, float("inf"), float("nan")])
    return x.to(dtype)


class FrequentOperatorsTest(unittest.TestCase):
    def check(self, call: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> None:
        """The result of call is the same on both devices, bit by bit."""
        wanted, got = call(x), call(x.npu())
        self.assertEqual(got.device.type, "npu")
        self.assertEqual((got.dtype, got.stride()), (wanted.dtype, wanted.stride()))
        torch.testing.assert_close(got.cpu(), wanted, rtol=0, atol=0, equal_nan=True)
        number = ~wanted.isnan()  # zeros have signs
        self.assertTrue(torch.equal(got.cpu().signbit() & number, wanted.signbit() & number))

    def test_unary_values_and_strides_are_those_of_cpu(self) -> None:
        for (name, function), dtype, (layout, view) in itertools.product(UNARY.items(), DTYPES, LAYOUTS.items()):
            with self.subTest(function=name, dtype=dtype, layout=layout):
                self.check(lambda x, f=function, v=view: f(v(x)), values(dtype))  # type: ignore[misc]

    def test_binary_values_and_strides_are_those_of_cpu(self) -> None:
        for (name, function), dtype, (layout, view) in itertools.product(BINARY.items(), DTYPES, LAYOUTS.items()):
            with self.subTest(function=name, dtype=dtype, layout=layout):
                x = values(dtype)
                self.check(lambda x, f=function, v=view: f(v(x), v(x.flip(0))), x)  # type: ignore[misc]
                self.check(lambda x, f=function, v=view: f(v(x), x[0, 0, 1, 1]), x)  # type: ignore[misc]

    def test_other_dtypes_and_numbers_are_promoted(self) -> None:
        x = values(torch.float16)
        for name, function in BINARY.items():
            with self.subTest(function=name):
                self.check(lambda x, f=function: f(x, x.float()), x)  # type: ignore[misc]
                self.check(lambda x, f=function: f(x.nan_to_num().int(), x), x)  # type: ignore[misc]
        self.check(lambda x: torch.add(x, x, alpha=0.3), x)
        self.check(lambda x: torch.sub(x, x.flip(0), alpha=3), x)
        self.check(lambda x: x * 0.1 + 2, x)

    def test_products_of_16_bits_are_summed_in_float32_and_rounded_once(self) -> None:
        generator = torch.Generator().manual_seed(4)
        for dtype, (m, k, n) in itertools.product(DTYPES[2:], ((3, 5, 2), (70, 300, 41), (1, 4096, 2))):
            with self.subTest(dtype=dtype, m=m, k=k, n=n):
                a, b = (
                    torch.randn(m, k, generator=generator).to(dtype),
                    torch.randn(k, n, generator=generator).to(dtype),
                )
                exact = a.double() @ b.double()
                bound = exact.abs() * torch.finfo(dtype).eps / 2 + (a.double().abs() @ b.double().abs()) * k * 2**-24
                for x, y in ((a.npu(), b.npu()), (a.T.contiguous().npu().T, b.npu())):
                    self.assertEqual((x @ y).dtype, dtype)
                    self.assertTrue(bool(((x @ y).cpu().double() - exact).abs().le(bound).all()))
                    if m * k * n >= 4096:
                        self.assertTrue(torch.equal(x @ y, (x.float() @ y.float()).to(dtype)))
                self.assertEqual(
                    torch.bmm(x.expand(2, m, k), y.expand(2, k, n))[1].cpu().tolist(), (x @ y).cpu().tolist()
                )
                row = torch.ones(n, dtype=dtype)
                got = torch.addmm(row.npu(), x, y, beta=4, alpha=0.5).cpu().double()
                self.assertTrue(bool((got - (exact / 2 + 4)).abs().le(bound + 4 * torch.finfo(dtype).eps).all()))

    def test_a_row_times_contiguous_columns_is_left_to_its_quick_kernel(self) -> None:
        for dtype in DTYPES[2:]:
            x, weight = torch.randn(1, 128).to(dtype), torch.randn(64, 128).to(dtype)
            self.assertTrue(torch.equal((x.npu() @ weight.npu().T).cpu(), x @ weight.T))

    def test_memory_that_another_thread_moves_is_held(self) -> None:
        wrong = []
        for _ in range(20):
            x = torch.full((1 << 20,), 1.0, device="npu")

            def move(x: torch.Tensor = x) -> None:
                x.share_memory_()
                torch.full((1 << 20,), 7.0, device="npu")

            thread = threading.Thread(target=move)
            thread.start()
            wrong.append(bool((x + x != 2).any()))
            thread.join()
        self.assertEqual(sum(wrong), 0)

    def test_products_of_16_bits_have_gradients_and_obey_autocast(self) -> None:
        weight = values(torch.float32)[1].reshape(24, 4).npu().requires_grad_()
        x = torch.ones(64, 24, device="npu")
        with torch.autocast("npu", torch.float16):
            y = x @ weight
        self.assertEqual(y.dtype, torch.float16)
        y.float().sum().backward()
        torch.testing.assert_close(weight.grad, torch.full_like(weight, 64.0))

    def test_errors_are_those_of_cpu(self) -> None:
        x = torch.ones(3, device="npu")
        with self.assertRaisesRegex(RuntimeError, "must match the size of tensor b"):
            x + torch.ones(4, device="npu")
        with self.assertRaisesRegex(RuntimeError, "npu:0 and cpu"):
            x + torch.ones(3)
        with self.assertRaisesRegex(RuntimeError, "npu:0 and npu:1"):
            x + torch.ones(3, device="npu:1")
        y = torch.ones(40, 40, dtype=torch.float16, device="npu")
        with self.assertRaisesRegex(RuntimeError, "to have the same dtype"):
            y @ y.float()
        with self.assertRaisesRegex(RuntimeError, "cannot be multiplied"):
            y @ y[1:]

    def test_results_lie_on_the_device_of_the_operands_and_count(self) -> None:
        x = torch.ones(1 << 20, device="npu:1")
        before = torch.npu.memory_allocated(1)
        y = x + x
        self.assertEqual(y.device, torch.device("npu:1"))
        self.assertEqual(torch.npu.memory_allocated(1) - before, 4 << 20)

    def test_they_run_behind_kernels_of_the_stream_and_are_logged(self) -> None:
        x = torch.ones(100_000, device="npu")
        with npu_backend.fallback_log() as log:
            z = torch.ops.npu.my_add(x, x) * x + torch.ops.npu.my_add(x, x)
        self.assertEqual(z.sum().item(), 400_000)
        self.assertEqual(
            {str(name) for name in log} & {"aten::mul.Tensor", "aten::add.Tensor"},
            {"aten::mul.Tensor", "aten::add.Tensor"},
        )

    def test_gradients_flow(self) -> None:
        x = values(torch.float32)[1:].npu().requires_grad_()
        ((x * x + x).exp() / 2).sum().backward()
        y = x.detach()
        torch.testing.assert_close(x.grad, (y * y + y).exp() / 2 * (2 * y + 1))


if __name__ == "__main__":
    unittest.main()
