# SPDX-License-Identifier: Apache-2.0
"""torch.ops.npu.my_add computes what torch.add computes."""

import itertools
import sys
import unittest
from pathlib import Path

import torch
from torch.testing import assert_close

import op_extension

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.op.values import layouts, random_bits, random_values

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.float64)
DEVICES = ("npu", "cpu")
# Equal, broadcast on either side and both, 0-dim, one element, zero size, and sizes that no tile divides.
SHAPES = (
    ((20, 2048), (20, 2048)),
    ((1, 1), ()),
    ((), ()),
    ((1,), (1,)),
    ((3, 7), (7,)),
    ((3, 7), (3, 1)),
    ((3, 1), (1, 7)),
    ((2, 1, 5, 1), (3, 1, 4)),
    ((0, 5), (5,)),
    ((0,), (1,)),
    ((3, 0, 4), (3, 0, 4)),
    ((3, 1), (3, 0)),
    ((1023,), (1023,)),
    ((4097,), (4097,)),
    ((1_000_003,), (1,)),
    ((513, 9), (9,)),
    ((9, 513), (9, 1)),
    ((33, 3), (33, 3)),
    ((5, 4, 3, 2, 1, 2, 3), (4, 3, 2, 1, 2, 3)),
)


def add_on(device: str, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """``my_add`` of the tensors as they lie, on ``device``; the result on cpu."""
    return torch.ops.npu.my_add(move(x, device), move(y, device)).cpu()


def move(x: torch.Tensor, device: str) -> torch.Tensor:
    """``x`` on ``device`` with its strides and offset."""
    if device == "cpu":
        return x
    storage = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage()).to(device)
    return storage.as_strided(x.size(), x.stride(), x.storage_offset())


class MyAddTest(unittest.TestCase):
    """Values, layouts and errors of the forward direction."""

    def test_equals_torch_add_bit_for_bit(self) -> None:
        for (x_shape, y_shape), dtype, device in itertools.product(SHAPES, DTYPES, DEVICES):
            with self.subTest(x=x_shape, y=y_shape, dtype=dtype, device=device):
                x, y = random_values(x_shape, dtype, 1), random_values(y_shape, dtype, 2)
                z = add_on(device, x, y)
                assert_close(z, x + y, rtol=0, atol=0, equal_nan=True)
                self.assertTrue(z.is_contiguous())

    def test_keeps_negative_zero(self) -> None:
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            x = torch.tensor([-0.0, -0.0, 0.0], dtype=dtype)
            y = torch.tensor([-0.0, 0.0, -0.0], dtype=dtype)
            self.assertEqual(torch.signbit(add_on("npu", x, y)).tolist(), [True, False, False])

    def test_equals_torch_on_ten_million_random_bit_patterns_in_tile_instructions(self) -> None:
        count = 10_000_000
        for dtype in (torch.float16, torch.bfloat16):
            with self.subTest(dtype=dtype):
                x, y = random_bits(count, dtype, 3), random_bits(count, dtype, 4)
                x_npu, y_npu = x.npu(), y.npu()
                with op_extension.check.count_instructions() as counts:
                    z = torch.ops.npu.my_add(x_npu, y_npu)
                    self.assertEqual(counts["TADD"].elements, count)
                assert_close(z.cpu(), x + y, rtol=0, atol=0, equal_nan=True)

    def test_accepts_any_strides_and_offsets(self) -> None:
        for dtype, device in itertools.product(DTYPES, DEVICES):
            x, y = random_values((2, 3, 5, 7), dtype, 5), random_values((2, 3, 5, 7), dtype, 6)
            for (x_name, x_view), (y_name, y_view) in itertools.product(layouts(x).items(), layouts(y).items()):
                with self.subTest(x=x_name, y=y_name, dtype=dtype, device=device):
                    assert_close(add_on(device, x_view, y_view), x + y, rtol=0, atol=0, equal_nan=True)

    def test_accepts_expanded_and_overlapping_views(self) -> None:
        base = random_values((64,), torch.float32, 7)
        views = {
            "expanded row": base[:8].expand(6, 8),
            "expanded column": base[:6, None].expand(6, 8),
            "expanded scalar": base[5].expand(6, 8),
            "overlapping": base.as_strided((6, 8), (3, 1)),
            "overlapping both": base.as_strided((6, 8), (1, 2)),
        }
        for (x_name, x), (y_name, y) in itertools.product(views.items(), repeat=2):
            for device in DEVICES:
                with self.subTest(x=x_name, y=y_name, device=device):
                    assert_close(add_on(device, x, y), x + y, rtol=0, atol=0, equal_nan=True)

    def test_large_transposed_operand(self) -> None:
        x, y = random_values((700, 333), torch.float32, 8), random_values((333, 700), torch.float32, 9)
        assert_close(add_on("npu", x, y.t()), x + y.t(), rtol=0, atol=0, equal_nan=True)

    def test_more_than_sixteen_unmergeable_dimensions_are_refused_in_a_sentence(self) -> None:
        x = torch.zeros([2] * 17).permute(list(range(16, -1, -1)))
        with self.assertRaisesRegex(
            RuntimeError, "npu::my_add: expected operands of at most 16 dimensions .*, got 1[78]"
        ):
            torch.ops.npu.my_add(x, torch.zeros([2] * 17))

    def test_integers_wrap(self) -> None:
        x = torch.tensor([2**31 - 1, -(2**31)], dtype=torch.int32)
        self.assertEqual(add_on("npu", x, torch.tensor([1, -1], dtype=torch.int32)).tolist(), [-(2**31), 2**31 - 1])

    def test_runs_on_each_device_and_stream(self) -> None:
        for index in range(torch.npu.device_count()):
            x = torch.arange(100.0, device=f"npu:{index}")
            with torch.npu.stream(torch.npu.Stream(device=index)):
                z = torch.ops.npu.my_add(x, x)
                self.assertEqual(z.device, torch.device("npu", index))
                assert_close(z.cpu(), torch.arange(100.0) * 2, rtol=0, atol=0)

    def test_result_outlives_its_operands(self) -> None:
        x, y = torch.full((4096,), 1.0, device="npu"), torch.full((4096,), 2.0, device="npu")
        addresses = {x.data_ptr(), y.data_ptr()}  # asking for an address runs what is queued
        z = torch.ops.npu.my_add(x, y)
        del x, y
        others = [torch.empty(4096, device="npu") for _ in range(4)]
        assert_close(z.cpu(), torch.full((4096,), 3.0), rtol=0, atol=0)
        self.assertTrue(addresses.isdisjoint(other.data_ptr() for other in others))

    def test_names_what_was_expected_and_what_came(self) -> None:
        one = torch.ones(2, device="npu")
        cases = {
            "expected y of dtype Float .*the dtype of x.*, got Half": (one, one.half()),
            "expected y on npu:0 .*the device of x.*, got cpu": (one, torch.ones(2)),
            "expected y on npu:0 .*the device of x.*, got npu:1": (one, torch.ones(2, device="npu:1")),
            "must match the size of tensor b": (one, torch.ones(3, device="npu")),
        }
        for sentence, (x, y) in cases.items():
            with self.subTest(sentence), self.assertRaisesRegex(RuntimeError, sentence):
                torch.ops.npu.my_add(x, y)

    def test_names_an_operand_that_is_none(self) -> None:
        one = torch.ones(2, device="npu")
        with self.assertRaisesRegex(TypeError, "npu::my_add: expected a tensor as x, got None"):
            torch.ops.npu.my_add(None, one)
        with self.assertRaisesRegex(TypeError, "npu::my_add: expected a tensor as y, got None"):
            torch.ops.npu.my_add(one, None)

    def test_names_the_dtypes_it_takes(self) -> None:
        for dtype in (torch.int64, torch.complex64, torch.bool, torch.uint8):
            x = torch.ones(2, dtype=dtype, device="npu")
            with self.assertRaisesRegex(TypeError, "npu::my_add: expected x of dtype Float, Half, .* got"):
                torch.ops.npu.my_add(x, x)


if __name__ == "__main__":
    unittest.main()
