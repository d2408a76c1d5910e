# SPDX-License-Identifier: Apache-2.0
"""One binary on two generations of chips: NPU_SOC decides, the order of additions follows the chip, not the host."""

import json
import os
import sys
import threading
import unittest
from pathlib import Path

import torch

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import run_python
from test.kernel.kernels_of_test import KERNELS, KernelTest, load

# What the sums of a row are in the documented orders. Lanes are 64 floats, 256 bytes.
PAIRS = [1e8, 1.0, -1e8, 1.0]  # in turn 1, by halves 2, neighbours pairwise 0
LANES = [1e8, 1.0, *[0.0] * 62, -1e8, 1.0]  # A2/A3: lanes in turn, 0 + 2; A5: both repeats lose their 1


def row_sums(kernel):
    rows = torch.zeros(2, 128)
    for row, values in zip(rows, (PAIRS, LANES), strict=True):
        row[: len(values)] = torch.tensor(values)
    sums = torch.zeros(2, device="npu")
    stream = torch.npu.Stream()
    kernel[2, stream](sums, rows.npu(), 128)
    stream.synchronize()
    return sums.tolist()


class ChipsTest(KernelTest):
    def on(self, soc):
        """What a process with NPU_SOC=soc says: the file of the kernel, its sums, the chip's name."""
        code = f"""
import json, torch, op_extension
from test.kernel.test_chips import KERNELS, row_sums
kernel = op_extension.kernel.load({str(KERNELS / "row_sums.cpp")!r}, entry="sum_float").compile()
print(json.dumps([str(kernel.libraries["vector"]), row_sums(kernel), torch.npu.get_device_name(0)]))
"""
        done = run_python(code, NPU_SOC=soc)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_same_binary_adds_in_the_order_of_the_chip_that_npu_soc_names(self):
        library = str(load("row_sums.cpp", "sum_float").compile().libraries["vector"])
        before = os.stat(library).st_mtime_ns
        self.assertEqual(self.on("Ascend910B1"), [library, [0.0, 2.0], "Ascend910B1"])
        self.assertEqual(self.on("Ascend950PR"), [library, [0.0, 0.0], "Ascend950PR"])
        self.assertEqual(os.stat(library).st_mtime_ns, before)

    def test_sixteen_threads_get_the_sums_of_one(self):
        kernel = load("row_sums.cpp", "sum_float").compile()
        found = []
        threads = [threading.Thread(target=lambda: found.append(row_sums(kernel))) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [row_sums(kernel)] * 16)

    def test_the_last_of_70000_columns_counts(self):
        row = torch.zeros(70_000, dtype=torch.int16)
        row[-1] = 1
        total = torch.zeros(1, dtype=torch.int16, device="npu")
        load("row_sums.cpp", "sum_int16")[1](total, row.npu(), 70_000)
        self.assertEqual(total.tolist(), [1])


if __name__ == "__main__":
    unittest.main()
