# SPDX-License-Identifier: Apache-2.0
"""kernel.load: kernels of every kind of core, on npu and cpu tensors and on numpy arrays."""

import gc
import os
import sys
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import torch

import op_extension

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import run_python
from test.kernel.kernels_of_test import KernelTest, load


def floats(count, device="npu"):
    return torch.arange(count, dtype=torch.float32, device="cpu").to(device)


class LoadTest(KernelTest):
    def test_adds_npu_tensors(self):
        for count in (1, 255, 256, 257, 5000):
            with self.subTest(count=count):
                x, y, z = floats(count), floats(count) * 3, torch.full((count,), -1.0, device="npu")
                load("add.cpp", "add_float")[4](x, y, z, count)
                self.assertTrue(torch.equal(z.cpu(), x.cpu() * 4))

    def test_has_run_on_cpu_tensors_when_the_call_returns(self):
        x, z = floats(1000, "cpu"), torch.zeros(1000)
        load("add.cpp", "add_float")[2](x, x, z, 1000)
        self.assertEqual(z.numpy().tolist(), (2 * np.arange(1000)).tolist())

    def test_leaves_what_lies_outside_of_a_view(self):
        z = torch.zeros(300, device="npu")
        load("add.cpp", "add_float")[1](floats(300)[100:200], floats(100), z[100:200], 100)
        want = torch.zeros(300)
        want[100:200] = torch.arange(100) * 2.0 + 100
        self.assertTrue(torch.equal(z.cpu(), want))

    def test_takes_the_entry_from_a_template(self):
        k = load("add.cpp", "wide::add<half>")
        x, z = torch.ones(40, dtype=torch.half, device="npu"), torch.zeros(40, dtype=torch.half, device="npu")
        k[1](x, x, z, 40)
        self.assertEqual(z.cpu().tolist(), [2.0] * 40)

    def test_reads_defines_as_dict_and_as_list(self):
        for defines in ({"COLUMNS": 64}, ["COLUMNS=64"]):
            k = load("add.cpp", "add_float", defines=defines)
            z = torch.zeros(100, device="npu")
            with op_extension.check.count_instructions() as counts:
                k[1](floats(100), floats(100), z, 100)
            self.assertEqual(counts["TADD"].executions, 2)  # rows of 64

    def test_compiles_as_cxx20_too(self):
        text = (
            '#include <pto/pto-inst.hpp>\nextern "C" __global__ AICORE void k(__gm__ int64_t* x) { *x = __cplusplus; }'
        )
        source = self.source(text)
        for standard, want in (("c++17", 201703), ("c++20", 202002)):
            x = torch.zeros(1, dtype=torch.int64)
            op_extension.kernel.load(source, entry="k", std=standard)[1](x)
            self.assertEqual(x.item(), want)

    def test_finds_headers_beside_the_source_and_in_include_dirs(self):
        source = self.source('#include "near.h"\n#include "far.h"\nextern "C" void k(int* x) { *x = kNear + kFar; }')
        (source.parent / "near.h").write_text("constexpr int kNear = 1;")
        far = self.folder()
        (far / "far.h").write_text("constexpr int kFar = 20;")
        x = torch.zeros(1, dtype=torch.int32)
        op_extension.kernel.load(source, entry="k", include_dirs=[far])[1](x)
        self.assertEqual(x.item(), 21)

    def test_takes_paths_of_any_characters_but_quotation_marks(self):
        text = '#include "near.h"\nextern "C" void k(int* x) { *x = kNear; }'
        for name in ("it's", "a\\b", "a b", "$HOME", "#x", "a:b", "100%d", "grün"):
            with self.subTest(name=name):
                folder = self.folder() / name
                folder.mkdir()
                (folder / "k.cpp").write_text(text)
                (folder / "near.h").write_text("constexpr int kNear = 1;")
                x = torch.zeros(1, dtype=torch.int32)
                with mock.patch.dict(os.environ, NPU_CACHE_DIR=str(folder / "cache")):
                    op_extension.kernel.load(folder / "k.cpp", entry="k")[1](x)
                    self.assertEqual(x.item(), 1)
                    (folder / "near.h").write_text("constexpr int kNear = 23;")  # is a dependency
                    op_extension.kernel.load(folder / "k.cpp", entry="k")[1](x)
                    self.assertEqual(x.item(), 23)
        source = self.folder() / 'q"q.cpp'
        source.write_text(text)
        with self.assertRaisesRegex(ValueError, "a path that #include can name, without quotation marks as source"):
            op_extension.kernel.load(source, entry="k")

    def test_is_seen_by_observers_like_a_kernel_built_ahead_of_time(self):
        x = floats(4)
        with op_extension.check.count_instructions() as counts:
            torch.ops.npu.my_add(x, x)
            load("add.cpp", "add_float")[1](x, x, torch.empty_like(x), 4)
        self.assertEqual(counts["TADD"].executions, 2)
        self.assertGreater(op_extension.check.launch_count("add_float"), 0)

    def test_compile_makes_the_library_and_runs_nothing(self):
        before = op_extension.check.launch_count("add_bytes")
        k = load("add.cpp", "add_bytes")
        self.assertIs(k.compile(), k)
        self.assertTrue(k.libraries["vector"].is_file())
        self.assertEqual(op_extension.check.launch_count("add_bytes"), before)

    def test_signature_is_that_of_the_function(self):
        types = [parameter.type for parameter in load("add.cpp", "add_float").signature]
        self.assertEqual(types, ["const float*", "const float*", "float*", "uint32_t"])
        types = [parameter.type for parameter in load("scalars.cpp", "structs").signature]
        self.assertEqual(types, ["int64_t*", "Pair", "Pair*", "void*"])


class CoresTest(KernelTest):
    def test_mix_runs_one_cube_and_two_vector_cores_to_a_block(self):
        cells = torch.zeros(6, dtype=torch.int32, device="npu")
        load("mix.cpp", "visit", core="mix")[2](cells)
        self.assertEqual(cells.tolist(), [100, 200, 210, 101, 201, 211])

    def test_core_chooses_the_pass(self):
        for core, want in (("cube", 1), ("vector", 2)):
            cells = torch.zeros(1, dtype=torch.int32)
            load("mix.cpp", "which_core", core=core)[1](cells)
            self.assertEqual(cells.item(), want)

    def test_refuses_passes_of_different_signatures(self):
        with self.assertRaisesRegex(TypeError, r"unlike: expected one signature .* \(int32_t\*, int64_t\) and .*float"):
            load("mix.cpp", "unlike", core="mix").compile()


class StreamTest(KernelTest):
    def test_runs_on_the_stream_that_is_named(self):
        x, z = floats(64), torch.zeros(64, device="npu")
        stream = torch.npu.Stream()
        k = load("add.cpp", "add_float")
        torch.npu.synchronize()
        k[1, stream](x, x, z, 64)
        self.assertFalse(stream.query())
        stream.synchronize()
        self.assertTrue(torch.equal(z.cpu(), 2 * x.cpu()))

    def test_runs_on_the_current_stream_without_a_name(self):
        x, z = floats(64), torch.zeros(64, device="npu")
        k = load("add.cpp", "add_float").compile()
        stream = torch.npu.Stream()
        with torch.npu.stream(stream):
            k[1](x, x, z, 64)
        stream.synchronize()
        self.assertEqual(z[-1].item(), 126.0)

    def test_a_queued_launch_keeps_its_memory(self):
        count = 1 << 16
        k = load("add.cpp", "add_float").compile()
        x, y, z = floats(count), floats(count), torch.zeros(count, device="npu")
        addresses = {x.data_ptr(), y.data_ptr()}  # asking for an address runs what is queued
        k[1](x, y, z, count)
        del x, y
        gc.collect()
        others = [torch.empty(count, device="npu") for _ in range(4)]
        self.assertTrue(torch.equal(z.cpu(), 2 * floats(count, "cpu")))
        self.assertTrue(addresses.isdisjoint(other.data_ptr() for other in others))

    def test_a_launch_may_end_after_the_interpreter_has(self):
        code = (
            "import torch, op_extension; "
            f"k = op_extension.kernel.load({str(load('add.cpp', 'add_float')._request.source)!r}, entry='add_float'); "
            "x = torch.ones(4096, device='npu'); k[1](x, x, x, 4096); print('queued')"
        )
        done = run_python(code)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "queued\n", ""))

    def test_refuses_what_is_no_stream(self):
        k = load("add.cpp", "add_float")
        for wrong in ("x", 4096):
            with self.assertRaisesRegex(TypeError, f"expected a torch.Stream or None, got {wrong!r}"):
                k[1, wrong]
        with self.assertRaisesRegex(ValueError, "expected a stream of npu, got one of cpu"):
            k[1, torch.Stream(device="cpu")]


class NumpyTest(KernelTest):
    def test_copies_arrays_in_and_out(self):
        x, z = np.arange(600, dtype=np.float32), np.zeros(600, np.float32)
        load("add.cpp", "add_float")[3](x, x, z, 600)
        np.testing.assert_array_equal(z, 2 * x)

    def test_arrays_go_to_the_device_of_the_tensors(self):
        x, z = floats(100), np.zeros((10, 10), np.float32)
        load("add.cpp", "add_float")[1](x, x, z, 100)
        np.testing.assert_array_equal(z.reshape(-1), 2 * np.arange(100))

    def test_writes_into_an_array_of_any_strides(self):
        z = np.zeros((10, 20), np.float32)[:, ::2]
        x = np.ones((10, 10), np.float32).T
        load("add.cpp", "add_float")[1](x, x, z, 100)
        np.testing.assert_array_equal(z, 2 * np.ones((10, 10)))

    def test_leaves_an_array_that_may_not_be_written(self):
        x = np.arange(10, dtype=np.float16)
        x.flags.writeable = False
        z = np.zeros(10, np.float16)
        load("add.cpp", "add_bytes")[1](x, x, z, 10)
        np.testing.assert_array_equal(z, 2 * x)

    def test_an_array_that_is_passed_twice_is_one_memory(self):
        y = np.full(64, 2.0, np.float16)
        for device in ("cpu", "npu"):
            with self.subTest(device):
                x = np.arange(64, dtype=np.float16)
                last = torch.from_numpy(y).to(device)
                load("add.cpp", "add_bytes")[1](x, last, x, 64)  # add_bytes promises of none that it is only read
                np.testing.assert_array_equal(x, np.arange(64) + y)
                x = np.arange(64, dtype=np.float16)
                load("add.cpp", "add_bytes")[1](last, x, x[:], 64)
                np.testing.assert_array_equal(x, np.arange(64) + y)

    def test_refuses_arrays_that_overlap_in_part(self):
        x = np.zeros(100, np.float32)
        k = load("add.cpp", "add_float")
        with self.assertRaisesRegex(ValueError, r"add_float: argument 2 .*: expected an array .*overlaps argument 0 "):
            k[1](x[:64], np.zeros(64, np.float32), x[1:65], 64)
        with self.assertRaisesRegex(ValueError, "overlaps argument 0, a tensor"):
            k[1](torch.from_numpy(x), torch.zeros(100), x, 100)
        columns = np.zeros((64, 2), np.float32)
        k[1](x[:64], x[1:65], columns[:, 0], 64)  # those that are only read may overlap
        k[1](columns[:, 1], x[:64], columns[:, 0], 64)  # neighbours, which share nothing

    def test_refuses_other_objects(self):
        k = load("add.cpp", "add_float")
        with self.assertRaisesRegex(
            TypeError, r"argument 1 \(const float\*\): expected a tensor, an array or None, got int"
        ):
            k[1](np.zeros(4, np.float32), 5, np.zeros(4, np.float32), 4)


if __name__ == "__main__":
    unittest.main()
