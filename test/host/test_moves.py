# SPDX-License-Identifier: Apache-2.0
"""Trial 20: every way to say which device a tensor or module goes to."""

import itertools
import unittest

import torch
from torch import nn

import npu_backend  # noqa: F401

FIRST = torch.device("npu", 0)
TO_FIRST = {
    "to(0)": lambda x: x.to(0),
    "to('npu')": lambda x: x.to("npu"),
    "to('npu:0')": lambda x: x.to("npu:0"),
    "to(torch.device(0))": lambda x: x.to(torch.device(0)),
    "npu()": lambda x: x.npu(),
    "npu(0)": lambda x: x.npu(0),
    "npu('npu:0')": lambda x: x.npu("npu:0"),
    "npu(torch.device)": lambda x: x.npu(torch.device("npu")),
}


class MoveTest(unittest.TestCase):
    def test_tensors_move_and_keep_dtype_and_values(self):
        for name, move in TO_FIRST.items():
            for dtype in (torch.float64, torch.int16):
                with self.subTest(move=name, dtype=dtype):
                    y = move(torch.tensor([1, 2], dtype=dtype))
                    self.assertEqual((y.device, y.dtype, y.tolist()), (FIRST, dtype, [1, 2]))

    def test_modules_move(self):
        for name, move in TO_FIRST.items():
            with self.subTest(move=name):
                self.assertEqual(move(nn.Linear(2, 2)).weight.device, FIRST)

    def test_lazy_modules_move_before_they_know_their_size(self):
        for move in (lambda m: m.npu(1), lambda m: m.to("npu:1"), lambda m: m.half().float().to("npu:1")):
            model = move(nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d()))
            self.assertEqual(model(torch.ones(2, 5, device="npu:1")).shape, (2, 3))
            self.assertEqual({t.device.index for t in (*model.parameters(), *model.buffers())}, {1})
            self.assertEqual(len(list(model.parameters())), 4)

    def test_packed_sequences_and_storages_move(self):
        packed = nn.utils.rnn.pack_padded_sequence(torch.randn(4, 2, 3), [4, 2])
        self.assertTrue(packed.npu().is_npu)
        storage = torch.arange(3.0).untyped_storage().npu()
        self.assertEqual((storage.device, storage.cpu().device.type), (FIRST, "cpu"))

    def test_factories_take_an_index(self):
        self.assertEqual(torch.ones(2, device=0).device, FIRST)
        self.assertEqual(torch.tensor([1], device=torch.device(1)).device.index, 1)

    def test_a_device_that_does_not_exist_is_named(self):
        for move in (
            lambda x: x.to(7),
            lambda x: x.npu(7),
            lambda x: x.to("npu:7"),
            lambda x: x.to(torch.device("npu", 7)),
        ):
            for moved in (torch.ones(2), nn.Linear(2, 2)):
                with self.assertRaisesRegex(RuntimeError, r"expected a device index in \[0, 2\), got 7"):
                    move(moved)

    def test_moving_is_differentiable_and_makes_no_leaf(self):
        x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        y = x.npu()
        self.assertTrue(y.requires_grad and not y.is_leaf)
        (y * 3).sum().backward()
        self.assertEqual((x.grad.device.type, x.grad.tolist()), ("cpu", [3.0, 3.0]))

    def test_moving_to_where_it_is_copies_nothing(self):
        x = torch.ones(2, device="npu", requires_grad=True)
        for name, move in TO_FIRST.items():
            self.assertIs(move(x), x, name)
        self.assertIsNot(x.to("npu", copy=True), x)

    def test_names_a_device_that_is_not_there(self):
        for moved, index in itertools.product((torch.ones(1), torch.nn.Linear(1, 1)), (256, 300, -1)):
            with self.assertRaisesRegex(RuntimeError, rf"npu: expected a device index in \[0, 2\), got {index}"):
                moved.npu(index)


if __name__ == "__main__":
    unittest.main()
