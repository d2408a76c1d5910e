# SPDX-License-Identifier: Apache-2.0
"""A persistent matrix product: blocks that take tile after tile, more blocks than tiles, any number of host cores."""

import hashlib
import os
import sys
import unittest
from pathlib import Path

import torch

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import run_python
from test.kernel.kernels_of_test import KERNELS, KernelTest, load


def whole_numbers(rows, columns, seed):
    """Of magnitude up to 3: sums of 1024 products are exact in float32 in any order."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, (rows, columns), generator=generator, dtype=torch.float32)


class PersistentTest(KernelTest):
    def multiply(self, m, n, k, blocks):
        a, b = whole_numbers(m, k, 1), whole_numbers(k, n, 2)
        c = torch.full((m, n), -1.0, device="npu")
        seen = torch.zeros(blocks, 2, dtype=torch.int32, device="npu")
        load("persistent_gemm.cpp", "persistent_gemm", core="cube")[blocks](
            a.half().npu(), b.half().npu(), c, seen, m, n, k
        )
        self.assertTrue(torch.equal(c.cpu(), a @ b))
        self.assertEqual(seen.tolist(), [[1, blocks]] * blocks)

    def test_equals_torch_with_more_and_with_fewer_tiles_than_blocks(self):
        self.multiply(256, 256, 128, blocks=24)  # 4 tiles
        self.multiply(128, 128, 64, blocks=1)
        for m, n, k in ((512, 512, 512), (1024, 1024, 1024), (2048, 1024, 1024)):
            with self.subTest(m=m, n=n, k=k):
                self.multiply(m, n, k, blocks=24)

    def test_refuses_numbers_of_blocks_that_no_chip_takes(self):
        arguments = (None, None, None, None, 128, 128, 64)
        k = load("persistent_gemm.cpp", "persistent_gemm", core="cube")
        for blocks in (0, -1, 10**6):
            with self.assertRaisesRegex(ValueError, f"expected a block_dim of 1 to 65535, got {blocks}"):
                k[blocks](*arguments)

    def test_gives_the_same_bits_on_any_number_of_host_cores(self):
        code = f"""
import hashlib, os, torch, op_extension
os.sched_setaffinity(0, CORES)
generator = torch.Generator().manual_seed(3)
a, b = (torch.randn(256, 256, generator=generator).half().npu() for _ in range(2))
c, seen = torch.zeros(256, 256, device="npu"), torch.zeros(48, dtype=torch.int32, device="npu")
path = {str(KERNELS / "persistent_gemm.cpp")!r}
op_extension.kernel.load(path, entry="persistent_gemm", core="cube")[24](a, b, c, seen, 256, 256, 256)
print(hashlib.sha256(c.cpu().numpy().tobytes()).hexdigest())
"""
        load("persistent_gemm.cpp", "persistent_gemm", core="cube").compile()
        every = sorted(os.sched_getaffinity(0))
        sums = set()
        for cores in (every, every[:1]):
            done = run_python(code.replace("CORES", repr(cores)))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(done.stdout.strip()), hashlib.sha256().digest_size * 2)
            sums.add(done.stdout)
        self.assertEqual(len(sums), 1)


if __name__ == "__main__":
    unittest.main()
