# SPDX-License-Identifier: Apache-2.0
"""What the processor refuses in a kernel is a RuntimeError; elsewhere it ends the process as ever."""

import sys
import unittest
from pathlib import Path

import torch

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import op_extension
from test.host.python_process import run_python
from test.kernel.kernels_of_test import KERNELS, KernelTest, load

FAULT = f"""
import faulthandler, sys, torch, op_extension
if sys.argv[1:] == ["before"]: faulthandler.enable()
try:
    op_extension.kernel.load({str(KERNELS / "faults.cpp")!r}, entry="fill")[1](None, 3)
except RuntimeError as error:
    print(error, flush=True)
"""

# Touches the low end of its frame only: the high end lies on the stack.
LARGE_FRAME = """#include <pto/pto-inst.hpp>
extern "C" __global__ AICORE void large_frame(__gm__ int32_t* x, int32_t count) {
  volatile char local[BYTES];
  for (int32_t i = 0; i < count; ++i) local[i] = 7;
  x[block_idx] = local[0];
}
"""


def at_line_of(text):
    """The end of a fault in the line of faults.cpp that has text."""
    lines = (KERNELS / "faults.cpp").read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if text in line)
    return rf", at \S*faults\.cpp:{number}$"


class SignalTest(KernelTest):
    def assert_works(self):
        x = torch.zeros(300, device="npu")
        load("faults.cpp", "fill")[2](x, 300)
        self.assertEqual(x.cpu().unique().tolist(), [7.0])

    def test_null_pointer_that_a_kernel_follows(self):
        sentence = (
            r"fill, block 0, instruction 0: memory access outside of instructions: "
            r"expected an address of the process, got a null pointer \(SIGSEGV\)" + at_line_of("x[i] = 7")
        )
        for blocks in (1, 20):
            with self.assertRaisesRegex(RuntimeError, sentence):
                load("faults.cpp", "fill")[blocks](None, 3)
            self.assert_works()

    def test_address_that_a_kernel_follows_out_of_all_memory(self):
        x = torch.zeros(8, device="npu")
        load("faults.cpp", "fill_at")[1](x, -(2**40))
        sentence = r"fill_at, block 0.*got 0x[0-9a-f]+ \(SIGSEGV\)" + at_line_of("x[index] = 7")
        with self.assertRaisesRegex(RuntimeError, sentence):
            torch.npu.synchronize()

    def test_integer_division_by_0(self):
        x = torch.zeros(1, dtype=torch.int32, device="npu")
        load("faults.cpp", "divide")[1](x, 0)
        sentence = "divide, block 0.*integer division: expected a divisor other than 0.*" + at_line_of("10 / divisor")
        with self.assertRaisesRegex(RuntimeError, sentence):
            torch.npu.synchronize()
        self.assert_works()

    def test_trap(self):
        x = torch.zeros(1, dtype=torch.int32, device="npu")
        load("faults.cpp", "builtin_trap")[1](x)
        sentence = (
            r"builtin_trap, block 0.*expected no trap and no instruction that the processor refuses, got SIG(ILL|TRAP)"
            + at_line_of("__builtin_trap();")
        )
        with self.assertRaisesRegex(RuntimeError, sentence):
            torch.npu.synchronize()
        self.assert_works()

    def test_frame_that_is_larger_than_the_stack_and_its_guard(self):
        source = self.source(LARGE_FRAME, "frame.cpp")
        sentence = (
            r"large_frame, block 0.*expected a kernel that needs at most the 256 KiB of a core's stack, "
            r"got one that needs more, at \S*frame\.cpp:2$"
        )
        for count in (300_000, 600_000, 1 << 20):
            kernel = op_extension.kernel.load(source, entry="large_frame", defines={"BYTES": count})
            x = torch.zeros(40, dtype=torch.int32, device="npu")
            kernel[40](x, 16)
            with self.subTest(bytes=count), self.assertRaisesRegex(RuntimeError, sentence):
                torch.npu.synchronize()
            self.assertEqual(x.cpu().unique().tolist(), [0])
            self.assert_works()

    def test_frame_that_the_stack_holds(self):
        source = self.source(LARGE_FRAME, "frame.cpp")
        x = torch.zeros(2, dtype=torch.int32, device="npu")
        op_extension.kernel.load(source, entry="large_frame", defines={"BYTES": 200_000})[2](x, 200_000)
        self.assertEqual(x.tolist(), [7, 7])

    def test_outside_of_kernels_the_faulthandler_of_python_reports(self):
        for argument in ("before", "after"):
            enable = "" if argument == "before" else "faulthandler.enable()\n"
            crash = "import ctypes\nctypes.string_at(16)\n"
            done = run_python(f"import sys; sys.argv[1:] = [{argument!r}]\n{FAULT}{enable}{crash}")
            self.assertEqual(done.returncode, -11, done.stderr)
            self.assertIn("expected an address of the process, got a null pointer", done.stdout)
            self.assertIn("Fatal Python error: Segmentation fault", done.stderr)
            self.assertIn("in string_at", done.stderr)


if __name__ == "__main__":
    unittest.main()
