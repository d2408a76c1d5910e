# SPDX-License-Identifier: Apache-2.0
"""check.memory_map: where a launch places its tiles."""

import contextlib
import ctypes
import io
import sys
import unittest
from pathlib import Path

import torch

from op_extension import _runtime
from op_extension.check import count_instructions, memory_map

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.kernel.kernels_of_test import KERNELS, KernelTest, load


def line_of(text):
    lines = (KERNELS / "add.cpp").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


class LocateTest(KernelTest):
    def test_names_the_library_of_code_and_its_offset(self):
        path = str(load("add.cpp", "add_float").libraries["vector"])
        library = ctypes.CDLL(path)
        offsets = []
        for name in ("npu_pass", "npu_signature"):
            address = ctypes.addressof(ctypes.c_char.in_dll(library, name))
            found, offset = _runtime.locate(address)
            self.assertEqual(found, path)
            offsets.append(address - offset)
        self.assertEqual(offsets[0], offsets[1])
        self.assertEqual(_runtime.locate(0), ("", 0))


class MemoryMapTest(KernelTest):
    def map(self, *args):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            found = memory_map(*args)
        self.assertEqual(out.getvalue(), f"{found}\n")
        return found

    def add(self, device="npu"):
        x = torch.ones(1000, device=device)
        return self.map(load("add.cpp", "add_float")[2], x, x, torch.empty_like(x), 1000)

    def test_names_each_tile_with_address_bytes_and_line(self):
        for device in ("npu", "cpu"):
            tiles = self.add(device).tiles
            self.assertEqual(tiles["address"].tolist(), [0x0, 0x4000, 0x8000])
            self.assertEqual(tiles["bytes"].tolist(), [1024] * 3)
            self.assertEqual(set(tiles["times"].tolist()), {4})  # rows of 256
            row = tiles[1]
            self.assertEqual((row["kernel"], row["core"], row["space"]), ("add_float", "vector", "UB"))
            self.assertEqual((row["kind"], row["dtype"], row["rows"], row["columns"]), ("Vec", "float", 1, 256))
            for tile, name in zip(tiles, ("x_tile", "y_tile", "z_tile"), strict=True):
                self.assertRegex(tile["line"], rf"add\.cpp:{line_of(f'TASSIGN({name}')}$|\.so\+0x")

    def test_gives_the_peak_of_each_space(self):
        found = self.add()
        self.assertEqual(list(found.spaces), ["UB"])
        self.assertEqual(found.spaces["UB"], (0x8000 + 1024, 3 * 1024, 192 * 1024))
        self.assertIn("UB: peak 33792 of 196608 bytes, 3072 in tiles", str(found))

    def test_takes_operators_and_functions(self):
        x = torch.ones(100, device="npu")
        self.assertIn("my_add_float", self.map(torch.ops.npu.my_add, x, x).tiles["kernel"].tolist())
        self.assertEqual(str(self.map(lambda: None)), "no tile was placed")

    def test_does_not_disturb_the_counting_of_instructions(self):
        with count_instructions() as counts:
            self.add()
        self.assertEqual(counts["TADD"].executions, 4)

    def test_counting_stops_after_a_fault(self):
        x = torch.ones(4, device="npu")
        with self.assertRaisesRegex(RuntimeError, "add_float"), count_instructions() as counts:
            load("add.cpp", "add_float")[1](x, x, x, 1000)
        before = counts["TLOAD"].executions
        load("add.cpp", "add_float")[1](x, x, x, 4)
        self.assertEqual(counts["TLOAD"].executions, before)

    def test_stops_after_a_fault(self):
        with self.assertRaisesRegex(RuntimeError, "wait_without_set"):
            self.map(load("faults.cpp", "wait_without_set")[2])
        before = len(self.add().tiles)
        load("faults.cpp", "valid_region")[1](1)
        self.assertEqual(len(self.add().tiles), before)


if __name__ == "__main__":
    unittest.main()
