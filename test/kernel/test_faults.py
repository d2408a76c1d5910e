# SPDX-License-Identifier: Apache-2.0
"""The faults of level limits, from Python: a RuntimeError with the rule and both values, and the process goes on."""

import re
import struct
import sys
import unittest
from pathlib import Path

import torch

import op_extension

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import run_python
from test.kernel.kernels_of_test import KERNELS, KernelTest, load

BESIDE_A_LARGE_ONE = """\
#include <pto/pto-inst.hpp>
using namespace pto;
using Row = Tile<TileType::Vec, float, 8, 64>;
#define EIGHT(x) x x x x x x x x
extern "C" __global__ AICORE void large(__gm__ float* x) { Row a, b; TASSIGN(a, 0); TASSIGN(b, 2048);
  EIGHT(EIGHT(EIGHT(TADD(b, a, a);))) }
extern "C" __global__ AICORE void small(__gm__ float* x, int i) { Row a; TASSIGN(a, 0); *x = a.GetValue(i); }
"""


class FaultTest(KernelTest):
    def assert_faults(self, entry, sentence, *args, blocks=1, file="faults.cpp", **options):
        """At the next wait, once; then the device works."""
        load(file, entry, **options)[blocks](*args)
        with self.assertRaisesRegex(RuntimeError, sentence) as caught:
            torch.npu.synchronize()
        self.assert_names_the_line(str(caught.exception), file)
        self.assert_works()

    def assert_names_the_line(self, fault, file):
        """Of a fault that an instruction raised."""
        instruction = re.search(r"instruction \d+: (\w+).*: expected", fault)
        if instruction is None or "got no progress" in fault:
            return
        place = re.search(rf", at \S*{file}:(\d+)$", fault)
        self.assertIsNotNone(place, fault)
        line = (KERNELS / file).read_text().splitlines()[int(place[1]) - 1]
        self.assertIn(instruction[1], line, fault)

    def assert_works(self):
        x = torch.ones(300, device="npu")
        load("add.cpp", "add_float")[2](x, x, x, 300)
        torch.npu.synchronize()
        self.assertEqual(x.cpu().unique().tolist(), [2.0])

    def on_npu(self, dtype=torch.float32):
        return torch.zeros(64 * 64, dtype=dtype, device="npu")

    def assert_faults_at_once(self, entry, sentence, *args, blocks=1, file="faults.cpp", **options):
        """In the launch: a kernel without tensors on npu has run when the call returns."""
        with self.assertRaisesRegex(RuntimeError, sentence) as caught:
            load(file, entry, **options)[blocks](*args)
        self.assert_names_the_line(str(caught.exception), file)
        self.assert_works()

    def test_tile_beyond_its_space(self):
        self.assert_faults_at_once(
            "beyond_space",
            r"beyond_space, block 0, instruction \d+: TASSIGN: expected the Vec float tile of 64x1024 \(262144 bytes\) "
            r"to end within the 196608 bytes of UB on Ascend910B1, got address 0, end 262144",
        )

    def test_misaligned_tile(self):
        self.assert_faults_at_once("misaligned", "TASSIGN: expected a multiple of 32 bytes as address .*, got 4")

    def test_negative_and_too_large_valid_region(self):
        for rows in (-1, 9):
            self.assert_faults_at_once(
                "valid_region", rf"TADD: expected a valid region of dst .*from 0x0 to 8x8, got {rows}x8", rows
            )

    def test_valid_region_of_0_does_nothing(self):
        load("faults.cpp", "valid_region")[1](0)
        self.assert_works()

    def test_valid_shapes_that_differ(self):
        self.assert_faults_at_once("other_valid_shape", r"TADD: expected src1 .*of valid shape 8x8 .*got 8x4")

    def test_element_type_of_another_chip(self):
        self.assert_faults_at_once(
            "refused_dtype",
            "TADD: expected elements of type int16, int32, half or float on Ascend910B1, got bfloat16",
        )

    def test_float64_unless_the_launch_asks_for_it(self):
        self.assert_faults_at_once("float64", "TADD: expected elements of type .*got double")
        load("faults.cpp", "float64", float64=True)[1]()

    def test_tile_without_address(self):
        self.assert_faults_at_once(
            "no_address", "TADD: expected dst .*with an address from TASSIGN, got a Vec float tile"
        )

    def test_tile_of_another_core(self):
        self.assert_faults_at_once(
            "other_core", "TASSIGN: expected a core with L1 for the Mat float .*, got a vector core"
        )

    def test_global_shape_that_is_not_the_valid_region(self):
        self.assert_faults(
            "global_shape", "TSTORE: expected a global tensor of 32x32 elements .*, got 64x64", self.on_npu()
        )

    def test_global_memory_outside_of_the_tensor(self):
        for device in ("npu", "cpu"):
            x = torch.zeros(10 * 32, device=device)
            load("faults.cpp", "load_rows")[1](x, 10)
            torch.npu.synchronize()
            sentence = "TLOAD: expected global memory within the 1280 bytes of its allocation, got bytes 0 to 1408"
            with self.assertRaisesRegex(RuntimeError, f"load_rows, block 0, instruction 1: {sentence}"):
                load("faults.cpp", "load_rows")[1](x, 11)
                torch.npu.synchronize()
            self.assert_works()

    def test_null_pointer_in_a_transfer(self):
        x = self.on_npu()
        at_null = "expected an address of global memory, got a null pointer"
        for options in ({}, {"any_global": True}):
            self.assert_faults("move_row", f"TLOAD: {at_null}, at ", x, None, 0, 0, **options)
            self.assert_faults("move_row", f"TSTORE: {at_null} and 32 bytes behind it", None, x, 8, 0, **options)

    def test_transfer_that_starts_outside_of_the_tensors(self):
        memory = torch.zeros(4, 64, device="npu")
        _, x, z, neighbour = (row.clone() for row in memory)
        expected = r"expected an address within the tensors of the launch \(or any_global=True in load\), got one"
        for tensors in ((z, x), (z.cpu(), x.cpu())):
            for offsets, sentence in (
                ((2**33, 0), rf"TSTORE: {expected} \d+ bytes past the end of the nearest tensor"),
                ((-tensors[0].data_ptr() // 8, 0), rf"TSTORE: {expected} \d+ bytes before the nearest tensor"),
                ((0, 2**33), rf"TLOAD: {expected} \d+ bytes past the end"),
            ):
                with self.assertRaisesRegex(RuntimeError, sentence):
                    load("faults.cpp", "move_row")[1](*tensors, *offsets)
                    torch.npu.synchronize()
        self.assert_faults("move_row", f"{expected} 0 bytes past", x, x, 64, 0)
        to_neighbour = (neighbour.data_ptr() - x.data_ptr()) // 4
        self.assert_faults("move_row", expected, x, x, to_neighbour, 0)
        self.assertEqual(neighbour.unique().tolist(), [0.0])

    def test_transfer_without_any_tensor(self):
        x = torch.ones(8)
        with self.assertRaisesRegex(RuntimeError, "TLOAD: expected an address .*got an address, and no tensor"):
            load("faults.cpp", "move_row")[1](None, None, 0, x.data_ptr() // 4)

    def test_kernels_that_get_addresses_otherwise_may_use_them(self):
        x, z = torch.arange(8.0, device="npu"), torch.zeros(3, 8, device="npu")
        pointers = torch.tensor([z[0].data_ptr(), x.data_ptr()], device="npu")
        load("faults.cpp", "move_row_between")[1](pointers)
        load("faults.cpp", "move_row_of")[1](struct.pack("<QQ", z[1].data_ptr(), x.data_ptr()))
        load("faults.cpp", "move_row", any_global=True)[1](None, x, z[2].data_ptr() // 4, 0)
        torch.npu.synchronize()
        self.assertEqual(z.tolist(), [x.tolist()] * 3)

    def test_wait_that_can_never_be_met(self):
        self.assert_faults_at_once(
            "wait_without_set",
            r"wait_without_set, block 1, instruction 2: wait_flag: expected an earlier "
            r"set_flag\(PIPE_MTE2, PIPE_V, EVENT_ID3\)",
            blocks=3,
        )

    def test_event_that_is_not_there(self):
        self.assert_faults_at_once(
            "unknown_event", "set_flag: expected .*event id from 0 to 7, got pipe 1, pipe 5, id 8"
        )

    def test_deadlock_between_cores(self):
        self.assert_faults(
            "cross_wait",
            "expected a core that can go on, got a deadlock",
            self.on_npu(torch.int32),
            file="mix.cpp",
            core="mix",
        )

    def test_spin_without_progress(self):
        code = f"""
import torch, op_extension
k = op_extension.kernel.load({str(KERNELS / "faults.cpp")!r}, entry="spin")
flag = torch.zeros(1, dtype=torch.int32, device="npu")
k[1](flag)
try:
    torch.npu.synchronize()
except RuntimeError as error:
    print(error)
fill = op_extension.kernel.load({str(KERNELS / "faults.cpp")!r}, entry="fill")
x = torch.zeros(3, device="npu")
fill[1](x, 3)
print(x.tolist())
"""
        done = run_python(code, NPU_SPIN_TIMEOUT_MS="300")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(
            done.stdout, "spin, block 0.*dcci: expected the memory that it polls to change, got no progress"
        )
        self.assertIn("[7.0, 7.0, 7.0]", done.stdout)

    def test_level_off_does_not_look(self):
        code = f"""
import torch, op_extension
op_extension.kernel.load({str(KERNELS / "faults.cpp")!r}, entry="other_valid_shape")[1]()
print("ran")
"""
        self.assertEqual(run_python(code, NPU_CHECK="off").stdout, "ran\n")

    def test_names_a_negative_offset_as_it_was_given(self):
        for offset in (-1, 64, -(2**31)):
            sentence = rf"Value: expected an element from 0 to 63, got {offset}, at"
            self.assert_faults_at_once("element", "Get" + sentence, offset, False)
            self.assert_faults_at_once("element", "Set" + sentence, offset, True)
        for length in (-64, -1, 0, 65):
            sentence = f"TMRGSORT: expected a blockLen of a multiple of 64, got {length}, at"
            self.assert_faults_at_once("block_length", sentence, length)

    def test_names_the_line_beside_a_large_kernel_that_is_left_out(self):
        source = self.source(BESIDE_A_LARGE_ONE)
        want = BESIDE_A_LARGE_ONE.count("\n")
        for flags in ((), ("-Wl,-O1",)):  # with these the compiler's driver calls the linker
            with self.assertRaisesRegex(RuntimeError, rf"GetValue: .*got 512, at .*:{want}$"):
                op_extension.kernel.load(source, entry="small", flags=flags)[1](torch.zeros(1), 512)


class AfterAFaultTest(KernelTest):
    def test_it_comes_once_and_drops_what_is_queued_behind_it(self):
        x = torch.zeros(8, device="npu")
        torch.npu.synchronize()
        load("faults.cpp", "global_shape")[1](x)
        load("faults.cpp", "fill").compile()[1](x, 8)
        with self.assertRaisesRegex(RuntimeError, "global_shape, block 0"):
            torch.npu.synchronize()
        torch.npu.synchronize()
        self.assertEqual(x.tolist(), [0.0] * 8)

    def test_on_cpu_tensors_the_launch_raises_it(self):
        with self.assertRaisesRegex(RuntimeError, "global_shape, block 0"):
            load("faults.cpp", "global_shape")[1](torch.zeros(64 * 64))

    def test_it_names_the_kernel_after_its_python_object_is_gone(self):
        x = torch.zeros(8, device="npu")
        load("faults.cpp", "global_shape")[1](x)
        with self.assertRaisesRegex(RuntimeError, "global_shape, block 0"):
            x.cpu()


if __name__ == "__main__":
    unittest.main()
