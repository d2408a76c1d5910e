# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_conv and its gradients are convolutions, with sums in float32 that are rounded once."""

import itertools
import sys
import unittest
from pathlib import Path

import torch
from torch.nn import functional
from torch.testing import assert_close

import op_extension

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.op.contract import BELOW, DEVICES, Recorder, move
from test.op.products import FLOATS, assert_same_bits_however_run, assert_sums_close, normal, peak_beside
from test.op.values import layouts

# Input, weight, stride, padding.
CASES = (
    ((1, 1, 1, 1), (1, 1, 1, 1), 1, 0),
    ((2, 3, 5, 6), (4, 3, 3, 3), 1, 1),
    ((2, 3, 7, 6), (4, 3, 3, 2), (2, 1), (1, 0)),
    ((3, 2, 8, 8), (5, 2, 3, 3), 2, 1),
    ((2, 3, 5, 6), (4, 3, 1, 1), 1, 0),
    ((2, 3, 5, 6), (4, 3, 1, 1), 2, 0),
    ((2, 3, 5, 6), (4, 3, 1, 1), 1, 2),
    ((1, 2, 4, 4), (3, 2, 4, 4), 1, 0),
    ((1, 2, 4, 4), (3, 2, 2, 2), 3, 3),
    ((2, 3, 9, 40), (2, 3, 5, 3), (3, 2), (2, 1)),
    ((0, 2, 4, 4), (3, 2, 2, 2), 1, 0),
    ((2, 2, 4, 4), (0, 2, 2, 2), 1, 0),
    ((2, 0, 4, 4), (3, 0, 2, 2), 1, 1),
    ((9, 16, 4, 4), (20, 16, 3, 3), 1, 1),
    ((3, 32, 7, 6), (5, 32, 3, 2), (2, 1), (1, 0)),
    ((5, 16, 6, 5), (3, 16, 2, 4), (1, 3), (3, 2)),
    ((3, 2, 9, 7), (20, 2, 4, 3), (1, 2), (2, 1)),
    ((2, 16, 1, 1), (1, 16, 1, 1), 1, 0),
    ((2, 9, 6, 6), (3, 9, 3, 3), 1, 1),
    ((40, 1, 8, 8), (8, 1, 3, 3), 1, 1),
    ((2, 20, 3, 130), (140, 20, 2, 3), 1, (0, 2)),
)


class Convolution:
    """Operands on CPU, and all results in float64."""

    def __init__(self, case, dtype: torch.dtype, has_bias: bool = True) -> None:
        shape, weight, self.stride, self.padding = case
        self.input, self.weight = normal(shape, dtype, 1), normal(weight, dtype, 2)
        self.bias = normal((weight[0],), dtype, 3) if has_bias else None
        self.expected = self.reference(lambda x: x)
        self.gradient = normal(tuple(self.expected[0].shape), dtype, 4)
        self.expected = self.reference(lambda x: x)
        self.magnitude = self.reference(torch.abs)

    def operands(self) -> list[torch.Tensor]:
        """Input, weight and perhaps bias."""
        return [x for x in (self.input, self.weight, self.bias) if x is not None]

    def reference(self, of) -> list[torch.Tensor]:
        """Output and gradients, computed from ``of`` each operand."""
        x = [of(operand.double()).requires_grad_() for operand in self.operands()]
        if self.weight.numel() == 0 or self.input.shape[1] == 0:  # torch refuses: a sum of nothing
            output = self.of_nothing(*x)
        else:
            output = functional.conv2d(*x, stride=self.stride, padding=self.padding)
        if not hasattr(self, "gradient"):
            return [output.detach()]
        return [output.detach(), *torch.autograd.grad(output, x, of(self.gradient.double()), materialize_grads=True)]

    def of_nothing(self, input, weight, bias=None) -> torch.Tensor:
        """The bias at the places of the output."""
        step, pad = (n if isinstance(n, tuple) else (n, n) for n in (self.stride, self.padding))
        plane = [(input.shape[d] + 2 * pad[d - 2] - weight.shape[d]) // step[d - 2] + 1 for d in (2, 3)]
        start = bias[None, :, None, None] if bias is not None else input.new_zeros(1, weight.shape[0], 1, 1)
        return start.expand(input.shape[0], weight.shape[0], *plane) + 0 * input.sum()

    def check(self, actual: list[torch.Tensor], what: str) -> None:
        """Compares output and gradients; terms are counted from above."""
        height, width = self.expected[0].shape[2:]
        positions = self.input.shape[0] * height * width
        taps = self.weight.shape[2] * self.weight.shape[3]
        terms = (self.input.shape[1] * taps + 1, self.weight.shape[0] * taps, positions, positions)
        names = ("output", "gradient of input", "gradient of weight", "gradient of bias")
        results = zip(actual, self.expected, self.magnitude, strict=True)
        for (ours, expected, magnitude), count, name in zip(results, terms, names, strict=False):
            assert ours.dtype == self.input.dtype
            assert_sums_close(ours.detach().cpu(), expected, magnitude, count, f"{what}: {name}")

    def run(self, device: str, view=lambda x: x) -> list[torch.Tensor]:
        """Output and gradients of operands that lie as ``view`` of them, by the operators, on ``device``."""
        x = [move(view(operand) if operand.dim() == 4 else operand, device) for operand in self.operands()]
        x = [operand.requires_grad_() for operand in x]
        output = torch.ops.npu.my_conv(*x, stride=self.stride, padding=self.padding)
        assert output.is_contiguous()
        return [output, *torch.autograd.grad(output, x, move(view(self.gradient), device))]


class MyConvTest(unittest.TestCase):
    """Values, layouts and errors; the gradients too."""

    def test_output_and_gradients_are_within_their_bound(self) -> None:
        for case, dtype, device in itertools.product(CASES, FLOATS, DEVICES):
            if dtype == torch.float64 and case in CASES[-2:]:
                continue  # float64 is for small checks: a row at a time
            convolution = Convolution(case, dtype, has_bias=device == "npu")
            what = f"{case} {dtype} {device}"
            with self.subTest(what):
                convolution.check(convolution.run(device), what)

    def test_takes_any_strides_and_offsets(self) -> None:
        for case, dtype, device in itertools.product((CASES[1], CASES[3], CASES[4]), FLOATS, DEVICES):
            convolution = Convolution(case, dtype)
            for name in layouts(convolution.input):
                with self.subTest(case=case, layout=name, dtype=dtype, device=device):
                    convolution.check(convolution.run(device, lambda x, name=name: layouts(x)[name]), name)

    def test_large_images_go_in_pieces(self) -> None:
        for case in (
            ((3, 20, 90, 90), (4, 20, 3, 3), 1, 1),
            ((1, 40, 160, 200), (2, 40, 3, 3), 2, 1),
            ((1, 2, 270, 260), (2, 2, 3, 3), 1, 1),
        ):
            convolution = Convolution(case, torch.float32)
            convolution.check(convolution.run("npu"), str(case))

    def test_small_integers_are_exact(self) -> None:
        x = torch.arange(-8.0, 8).reshape(1, 1, 4, 4)
        w = torch.tensor([[[[1.0, 2], [-1, 3]]]])
        for dtype in FLOATS:
            y = torch.ops.npu.my_conv(x.to(dtype).npu(), w.to(dtype).npu(), torch.ones(1, dtype=dtype).npu()).cpu()
            assert_close(y, functional.conv2d(x, w, torch.ones(1)).to(dtype), rtol=0, atol=0)

    def test_takes_a_number_or_a_pair(self) -> None:
        x, w = normal((1, 2, 6, 6), torch.float32).npu(), normal((2, 2, 3, 3), torch.float32).npu()
        expected = torch.ops.npu.my_conv(x, w, None, (2, 2), (1, 1))
        for stride, padding in ((2, 1), ([2], [1]), ([2, 2], 1)):
            assert_close(torch.ops.npu.my_conv(x, w, None, stride, padding), expected, rtol=0, atol=0)
        assert_close(torch.ops.npu.my_conv(x, w), torch.ops.npu.my_conv(x, w, None, 1, 0), rtol=0, atol=0)

    def test_same_bits_with_any_number_of_threads_and_deterministic(self) -> None:
        for dtype in (torch.float32, torch.bfloat16):
            convolution = Convolution(((9, 8, 12, 12), (20, 8, 3, 3), 1, 1), dtype)
            assert_same_bits_however_run(lambda c=convolution: c.run("npu"), dtype)

    def test_needs_as_much_memory_as_it_says(self) -> None:
        for images, stride in ((8, 1), (64, 1), (64, 2)):
            side = 32 // stride
            x, w = normal((images, 16, 32, 32), torch.float32).npu(), normal((8, 16, 3, 3), torch.float32).npu()
            b, g = normal((8,), torch.float32).npu(), normal((images, 8, side, side), torch.float32).npu()
            for compute in (
                lambda x=x, w=w, b=b, s=stride: torch.ops.npu.my_conv(x, w, b, s, 1),
                lambda g=g, w=w, s=stride: torch.ops.npu.my_conv_backward_input(g, w, (32, 32), s, 1),
                lambda g=g, x=x, s=stride: torch.ops.npu.my_conv_backward_weight(g, x, (3, 3), s, 1),
            ):
                peak, result = peak_beside(compute)
                said = (2**20 + w.numel() + 128) * 4
                self.assertLessEqual(peak - result, said * 1.05)  # sizes of blocks are rounded up
        # Channels are filled up to blocks of 32 bytes.
        x, w = normal((1024, 1, 16, 16), torch.float16).npu(), normal((8, 1, 3, 3), torch.float16).npu()
        peak, result = peak_beside(lambda: torch.ops.npu.my_conv(x, w, None, 1, 1))
        self.assertLessEqual(peak - result, (2**20 * 2 + 2**17) * 1.05)

    def test_computes_in_tile_instructions(self) -> None:
        convolution = Convolution(CASES[1], torch.float16)
        x = [operand.npu().requires_grad_() for operand in convolution.operands()]
        gradient = convolution.gradient.npu()
        with op_extension.check.count_instructions() as counts, Recorder() as recorder:
            torch.autograd.grad(torch.ops.npu.my_conv(*x, 1, 1), x, gradient)
            self.assertGreaterEqual(counts["TMATMUL"].executions, 3)
        self.assertEqual([name for name in recorder.names if not name.startswith(BELOW)], [])
        for name in ("npu::my_conv", "npu::my_conv_backward_input", "npu::my_conv_backward_weight", "npu::sum_to"):
            self.assertIn(name, recorder.names)

    def test_names_what_was_expected_and_what_came(self) -> None:
        for device in ("npu", "cpu", "meta"):
            x, w = torch.ones(2, 3, 5, 6, device=device), torch.ones(4, 3, 3, 3, device=device)
            b = torch.ones(4, device=device)
            for error, arguments, sentence in (
                (RuntimeError, (x[0], w), r"expected input of 4 dimensions \(n, c, h, w\), got 3"),
                (RuntimeError, (x, w[0]), r"expected weight of 4 dimensions \(co, c, kh, kw\), got 3"),
                (RuntimeError, (x, w[:, :2]), "expected weight of 3 input channels .those of input., got 2"),
                (RuntimeError, (x, w, b[:3]), "expected bias of 4 elements .the output channels of weight., got 3"),
                (RuntimeError, (x, w, b[None]), r"expected bias of 1 dimensions \(co\), got 2"),
                (RuntimeError, (x, w, b.half()), "expected bias of dtype Float .the dtype of weight., got Half"),
                (RuntimeError, (x, w.half()), "expected weight of dtype Float .the dtype of input., got Half"),
                (TypeError, (x.int(), w.int()), "expected input of dtype Float, Half, BFloat16 or Double, got Int"),
                (RuntimeError, (x, w, None, 0), "expected stride from 1 to 2147483647, got 0"),
                (RuntimeError, (x, w, None, (1, -2)), "expected stride from 1 to 2147483647, got -2"),
                (RuntimeError, (x, w, None, 1, -1), "expected padding from 0 to 2147483647, got -1"),
                (RuntimeError, (x, w, None, (1, 1, 1)), "expected stride of 1 or 2 numbers, got 3"),
                (RuntimeError, (x[:, :, :2], w), "expected a kernel height from 1 to 2 .the height of input .*, got 3"),
                (RuntimeError, (x[..., :1], w, None, 1, (1, 0)), "expected a kernel width from 1 to 1 .*, got 3"),
                (RuntimeError, (x, w[..., :0]), "expected a kernel width from 1 to 6 .*, got 0"),
            ):
                sentence = "npu::my_conv: " + sentence
                with self.subTest(sentence, device=device), self.assertRaisesRegex(error, sentence):
                    torch.ops.npu.my_conv(*arguments)
        with self.assertRaisesRegex(RuntimeError, "expected weight on npu:0 .the device of input., got cpu"):
            torch.ops.npu.my_conv(torch.ones(2, 3, 5, 6, device="npu"), torch.ones(4, 3, 3, 3))

    def test_gradients_name_what_was_expected_and_what_came(self) -> None:
        g, x, w = torch.ones(2, 4, 3, 4), torch.ones(2, 3, 5, 6), torch.ones(4, 3, 3, 3)
        for op, arguments, sentence in (
            ("input", (g[:, :3], w, (5, 6)), "expected gradient of 4 channels .the output channels of weight., got 3"),
            ("input", (g, w, (5, 7)), "expected gradient of height and width 3 and 5 .*, got 3 and 4"),
            ("input", (g, w, (5,)), "expected size of 2 numbers, got 1"),
            ("input", (g, w, (-5, 6)), "expected a kernel height from 1 to -5 .*, got 3"),
            ("weight", (g[:1], x, (3, 3)), "expected gradient of 2 images .those of input., got 1"),
            ("weight", (g, x, (2, 3)), "expected gradient of height and width 4 and 4 .*, got 3 and 4"),
            ("weight", (g, x[0], (3, 3)), r"expected input of 4 dimensions \(n, c, h, w\), got 3"),
        ):
            sentence = f"npu::my_conv_backward_{op}: {sentence}"
            with self.subTest(sentence), self.assertRaisesRegex(RuntimeError, sentence):
                getattr(torch.ops.npu, f"my_conv_backward_{op}")(*arguments)


if __name__ == "__main__":
    unittest.main()
