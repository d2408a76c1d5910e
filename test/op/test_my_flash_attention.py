# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_flash_attention computes what scaled_dot_product_attention computes, there and back."""

import itertools
import math
import sys
import unittest
from collections.abc import Callable
from pathlib import Path

import torch
from torch.testing import assert_close

import op_extension

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import run_python
from test.op.contract import DEVICES, move
from test.op.row_checks import RowChecks, leaf, normal

attention = torch.ops.npu.my_flash_attention
backward = torch.ops.npu.my_flash_attention_backward
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
#: (batch, heads, rows, keys, width): one of each, tiles of the kernels, ragged ones, rows and keys apart, no element.
SIZES = (
    (1, 1, 1, 1, 1),
    (2, 3, 7, 5, 8),
    (1, 2, 128, 128, 64),
    (1, 1, 129, 257, 128),
    (2, 1, 300, 77, 40),
    (1, 2, 1, 500, 64),
    (1, 1, 63, 191, 17),
    (0, 2, 4, 4, 8),
    (2, 2, 0, 4, 8),
    (2, 2, 4, 0, 8),
)


def shapes(size: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Those of query, key and value."""
    batch, heads, rows, keys, width = size
    return (batch, heads, rows, width), (batch, heads, keys, width), (batch, heads, keys, width)


def operands(size: tuple[int, ...], dtype: torch.dtype, device: str = "cpu") -> list[torch.Tensor]:
    """Normal values."""
    return [normal(shape, dtype, seed, device) for seed, shape in enumerate(shapes(size))]


def scores_of(q: torch.Tensor, k: torch.Tensor, causal: bool, scale: float | None) -> torch.Tensor:
    """In float64, -inf where a key is not taken."""
    scores = q.double() @ k.double().transpose(-1, -2) * (1 / math.sqrt(q.size(-1)) if scale is None else scale)
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    return scores


def exact(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False, scale: float | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Result and logsumexp in float64, with all scores in memory."""
    scores = scores_of(q, k, causal, scale)
    return torch.softmax(scores, -1) @ v.double(), torch.logsumexp(scores, -1)


def bound(dtype: torch.dtype) -> float:
    """How far a result may be from the exact one, as a part of the largest value."""
    return 2.0**-20 if dtype == torch.float32 else 1.5 * torch.finfo(dtype).eps


class MyFlashAttentionTest(RowChecks):
    """Values, layouts, memory and errors of the forward direction."""

    def test_is_attention_in_float64_within_its_bound(self) -> None:
        for size, dtype, device, causal in itertools.product(SIZES, DTYPES, DEVICES, (False, True)):
            with self.subTest(size=size, dtype=dtype, device=device, causal=causal):
                q, k, v = operands(size, dtype)
                got, log_sums = attention(q.to(device), k.to(device), v.to(device), causal)
                self.assertEqual((got.dtype, got.shape, got.is_contiguous()), (dtype, q.shape, True))
                expected, expected_log_sums = exact(q, k, v, causal)
                largest = v.double().abs().max().item() if v.numel() else 0
                assert_close(got.cpu().double(), expected, rtol=0, atol=bound(dtype) * largest)
                assert_close(log_sums.cpu().double(), expected_log_sums, rtol=1e-6, atol=2e-6)

    def test_scale_is_what_scores_are_multiplied_with(self) -> None:
        q, k, v = operands((1, 2, 70, 150, 32), torch.float32)
        for scale, causal in itertools.product((0.0, 1.0, -0.3), (False, True)):
            got, _ = attention(q.npu(), k.npu(), v.npu(), causal, scale)
            assert_close(got.cpu().double(), exact(q, k, v, causal, scale)[0], rtol=0, atol=2e-5)

    def test_large_scores_do_not_overflow(self) -> None:
        for dtype, device in itertools.product(DTYPES, DEVICES):
            q, k, v = operands((1, 1, 40, 300, 64), dtype)
            k = (k * 40).to(dtype)
            got, log_sums = attention(q.to(device), k.to(device), v.to(device))
            expected, expected_log_sums = exact(q, k, v)
            # Errors of scores grow with them; weights of 16 bits hide that, those of float32 do not.
            eps = 2.0**-16 if dtype == torch.float32 else bound(dtype)
            assert_close(got.cpu().double(), expected, rtol=0, atol=eps * v.double().abs().max().item())
            assert_close(log_sums.cpu().double(), expected_log_sums, rtol=1e-5, atol=1e-4)

    def test_keys_behind_a_row_count_for_nothing_whatever_their_scores(self) -> None:
        q, k, v = operands((1, 1, 200, 200, 16), torch.float32)
        k[:, :, 150:] = math.inf
        for device in DEVICES:
            got, _ = attention(q.to(device), k.to(device), v.to(device), True)
            before, _ = exact(q[:, :, :150], k[:, :, :150], v[:, :, :150], True)
            assert_close(got[:, :, :150].cpu().double(), before, rtol=0, atol=1e-5)

    def test_takes_any_strides_and_offsets(self) -> None:
        size = (2, 3, 70, 70, 24)
        q, k, v = operands(size, torch.float16)
        expected = attention(q, k, v)
        rows_first = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
        turned = [x.transpose(2, 3).contiguous().transpose(2, 3) for x in (q, k, v)]
        stepped = [x.new_zeros(2, 3, 140, 49)[:, :, ::2, 1::2].copy_(x) for x in (q, k, v)]
        packed = torch.cat((q, k, v), -1).split(24, -1)
        far = [x.new_zeros(2, 3, 70, 70_000)[..., :24].copy_(x) for x in (q, k, v)]
        for laid, device in itertools.product((rows_first, turned, stepped, packed, far), DEVICES):
            moved = [move(x, device) for x in laid]
            self.assertEqual([x.stride() for x in moved], [x.stride() for x in laid])
            for got, want in zip(attention(*moved), expected, strict=True):
                assert_close(got.cpu(), want, rtol=0, atol=0)
        one = q[:, :, :1].expand(2, 3, 70, 24)
        got, want = attention(one, one, v), attention(one.contiguous(), one.contiguous(), v)
        assert_close(got, want, rtol=0, atol=0)

    def test_runs_on_cube_and_vector_cores(self) -> None:
        q, k, v = operands((1, 2, 200, 300, 64), torch.float16, "npu")
        with op_extension.check.count_instructions() as counts:
            attention(q, k, v)
            for name in ("TMATMUL", "TPUSH", "TPOP", "TROWMAX", "TROWEXPANDEXPDIF", "TROWSUM", "TROWEXPANDDIV"):
                self.assertGreater(counts[name].elements, 0, name)

    def requested(self, function: Callable[[], torch.Tensor]) -> int:
        """The most bytes that a call on npu asks for, whatever the sizes of blocks that it gets."""
        torch.npu.synchronize()
        torch.npu.reset_peak_memory_stats()
        before = torch.npu.memory_stats()["requested_bytes.all.current"]
        function()
        torch.npu.synchronize()
        return torch.npu.memory_stats()["requested_bytes.all.peak"] - before

    def test_needs_tiles_between_cores_and_no_matrix_of_scores(self) -> None:
        for dtype, there, back in ((torch.float32, 384 << 10, 256 << 10), (torch.float16, 320 << 10, 192 << 10)):
            q, k, v = operands((1, 2, 1000, 3000, 16), dtype, "npu")
            log_sums, tiles = 4 * 2 * 1000, 2 * 8  # a float for each row; heads and tiles of 128 rows
            self.assertEqual(
                self.requested(lambda q=q, k=k, v=v: attention(q, k, v)), q.nbytes + log_sums + tiles * there
            )
            z, sums = attention(q, k, v)
            needed = self.requested(lambda q=q, k=k, v=v, z=z, sums=sums: backward(z, q, k, v, z, sums, False, None))
            gradients, deltas, cores = q.nbytes + k.nbytes + v.nbytes, log_sums, 24
            self.assertEqual(needed, gradients + deltas + cores * back)

    def test_names_what_was_expected_and_what_came(self) -> None:
        for device in (*DEVICES, "meta"):
            x = torch.ones(2, 3, 4, 8, device=device)
            for arguments, kind, sentence in (
                ((x[0], x, x), RuntimeError, r"expected query of 4 dimensions \(batch, heads, rows, width\), got 3"),
                ((x.double(), x, x), TypeError, "expected query of dtype Float, Half or BFloat16, got Double"),
                ((x.int(), x, x), TypeError, "expected query of dtype Float.*, got Int"),
                ((x, x.half(), x), RuntimeError, r"expected key of dtype Float .the dtype of query., got Half"),
                ((x, x[:, :2], x), RuntimeError, r"expected key of size \[2, 3, 4, 8\] .as query, any rows., got \["),
                ((x, x, x[..., :4]), RuntimeError, r"expected value of size \[2, 3, 4, 8\] .as key., got \["),
                ((x[..., :0],) * 3, RuntimeError, "expected query of 1 to 128 elements in a row, got 0"),
                ((x.repeat(1, 1, 1, 17),) * 3, RuntimeError, "expected query of 1 to 128 elements in a row, got 136"),
            ):
                with self.assertRaisesRegex(kind, f"npu::my_flash_attention: {sentence}"):
                    attention(*arguments)
        with self.assertRaisesRegex(RuntimeError, "expected key on npu:0 .the device of query., got cpu"):
            attention(x.new_ones(2, 3, 4, 8, device="npu"), *(torch.ones(2, 3, 4, 8),) * 2)

    def test_refuses_tangents_and_freed_memory(self) -> None:
        for device in DEVICES:
            x, y = (torch.ones(1, 1, 2, 8, device=device) for _ in range(2))
            with self.assertRaisesRegex(NotImplementedError, "expected inputs without a forward-mode tangent"):
                torch.func.jvp(lambda x, y=y: attention(x, y, y), (x,), (x,))
            y.untyped_storage().resize_(0)
            with self.assertRaisesRegex(RuntimeError, "expected key with memory, got a tensor of size"):
                attention(x, y, x)

    def test_refuses_chips_without_the_way_through_global_memory(self) -> None:
        for device in DEVICES:
            code = f"import torch, op_extension; x = torch.ones(1, 1, 4, 8, device={device!r})\n"
            done = run_python(code + "torch.ops.npu.my_flash_attention(x, x, x)", NPU_SOC="Ascend950PR")
            self.assertNotEqual(done.returncode, 0)
            sentence = "npu::my_flash_attention: expected a chip of A2 or A3 (Ascend910B), got NPU_SOC Ascend950PR"
            self.assertIn(sentence, done.stderr)

    def test_autocast_computes_in_the_lower_dtype(self) -> None:
        q, k, v = operands((1, 1, 4, 4, 8), torch.float32, "npu")
        with torch.autocast("npu", torch.float16):
            self.assertEqual(attention(q, k, v)[0].dtype, torch.float16)


class MyFlashAttentionGradientTest(RowChecks):
    """The way back, once, and torch's transformations."""

    def test_gradients_are_those_in_float64_within_their_bound(self) -> None:
        for size, dtype, device, causal in itertools.product(SIZES, DTYPES, DEVICES, (False, True)):
            with self.subTest(size=size, dtype=dtype, device=device, causal=causal):
                leaves = [leaf(shape, dtype, seed, device) for seed, shape in enumerate(shapes(size))]
                z, _ = attention(*leaves, causal, 0.2)
                gradient = normal(z.shape, dtype, 7)
                z.backward(gradient.to(device))
                wide = [x.detach().cpu().double().requires_grad_() for x in leaves]
                exact(*wide, causal, 0.2)[0].backward(gradient.double())
                for x, y in zip(leaves, wide, strict=True):
                    largest = y.grad.abs().max().item() if y.numel() else 0
                    eps = 2.0**-18 if dtype == torch.float32 else 4 * torch.finfo(dtype).eps
                    self.assertEqual(x.grad.dtype, dtype)
                    assert_close(x.grad.cpu().double(), y.grad, rtol=0, atol=eps * max(largest, 1))

    def test_gradients_take_any_strides(self) -> None:
        leaves = [leaf(shape, torch.float16, seed) for seed, shape in enumerate(shapes((2, 3, 70, 90, 24)))]
        z, _ = attention(*leaves)
        gradient = normal(z.shape, torch.float16, 7, "npu")
        expected = torch.autograd.grad(z, leaves, gradient, retain_graph=True)
        for laid in (gradient.transpose(2, 3).contiguous().transpose(2, 3), gradient.transpose(0, 1).contiguous()):
            laid = laid if laid.shape == gradient.shape else laid.transpose(0, 1)
            for got, want in zip(torch.autograd.grad(z, leaves, laid, retain_graph=True), expected, strict=True):
                assert_close(got.cpu(), want.cpu(), rtol=0, atol=0)
        one_number = torch.autograd.grad(z.sum(), leaves, retain_graph=True)  # for all elements, of strides 0
        for got, want in zip(one_number, torch.autograd.grad(z, leaves, torch.ones_like(z)), strict=True):
            assert_close(got.cpu(), want.cpu(), rtol=0, atol=0)

    def test_logsumexp_wants_no_gradient(self) -> None:
        for device in DEVICES:
            z, log_sums = attention(*(leaf((1, 1, 3, 8), torch.float32, seed, device) for seed in range(3)))
            self.assertEqual((z.requires_grad, log_sums.requires_grad), (True, False))
            with self.assertRaisesRegex(RuntimeError, "does not require grad"):
                log_sums.sum().backward()

    def test_second_derivatives_are_refused(self) -> None:
        leaves = [leaf((1, 1, 3, 8), torch.float32, seed, "cpu") for seed in range(3)]
        (gradient,) = torch.autograd.grad(attention(*leaves)[0].square().sum(), leaves[:1], create_graph=True)
        with self.assertRaisesRegex(NotImplementedError, "expected a first derivative, got a second one"):
            gradient.sum().backward()

    def test_same_bits_with_any_number_of_threads(self) -> None:
        for dtype, causal in itertools.product(DTYPES, (False, True)):
            leaves = [leaf(shape, dtype, seed) for seed, shape in enumerate(shapes((2, 4, 200, 300, 40)))]
            self.check_same_bits_with_any_number_of_threads(lambda *x, causal=causal: attention(*x, causal)[0], *leaves)

    def test_same_bits_on_both_devices(self) -> None:
        q, k, v = operands((1, 2, 200, 300, 64), torch.float16)
        results = [attention(q.to(d), k.to(d), v.to(d))[0].cpu() for d in DEVICES]
        assert_close(results[0], results[1], rtol=0, atol=0)

    def test_the_checker_finds_no_hazard(self) -> None:
        for size, dtype, causal in itertools.product(
            ((1, 2, 256, 384, 64), (1, 1, 129, 257, 40)), DTYPES, (False, True)
        ):
            leaves = [leaf(shape, dtype, seed) for seed, shape in enumerate(shapes(size))]
            with self.subTest(size=size, dtype=dtype, causal=causal), op_extension.check.hazards():
                z, _ = attention(*leaves, causal)
                torch.autograd.grad(z, leaves, torch.ones_like(z))
                torch.npu.synchronize()

    def test_nothing_but_our_operators_runs_below_it(self) -> None:
        leaves = [leaf(shape, torch.float32, seed) for seed, shape in enumerate(shapes((1, 2, 30, 40, 16)))]
        self.check_nothing_but_our_operators_runs(lambda *x: attention(*x)[0], *leaves)

    def test_opcheck(self) -> None:
        def make(device: str, wanted: bool) -> tuple:
            return tuple(x.requires_grad_(wanted) for x in operands((1, 2, 5, 7, 8), torch.float32, device))

        def make_backward(device: str, _: bool) -> tuple:
            q, k, v = make(device, False)
            return normal(q.shape, torch.float32, 5, device), q, k, v, *attention(q, k, v), False, None

        self.check_opcheck(attention.default, make)
        self.check_opcheck(backward.default, make_backward)

    def test_exported_and_compiled(self) -> None:
        leaves = [leaf(shape, torch.float32, seed) for seed, shape in enumerate(shapes((1, 2, 6, 9, 8)))]
        self.check_export_and_compilation(
            lambda *x: torch.ops.npu.my_flash_attention(*x, True)[0], "npu.my_flash_attention", *leaves
        )

    def test_vmap(self) -> None:
        batched = [
            normal((3, *shape), torch.float32, seed, "npu") for seed, shape in enumerate(shapes((1, 2, 6, 9, 8)))
        ]
        self.check_vmap(lambda *x: attention(*x)[0], *batched)


if __name__ == "__main__":
    unittest.main()
