# SPDX-License-Identifier: Apache-2.0
import sys
import threading
import unittest
from pathlib import Path

import torch
from torch.testing import assert_close

import npu_backend

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import output_of


class DeviceTest(unittest.TestCase):
    def tearDown(self):
        torch.npu.set_device(0)

    def test_ones_plus_one_is_two(self):
        z = torch.ones(2, device="npu") + 1
        self.assertEqual(z.device, torch.device("npu", 0))
        self.assertEqual(z.tolist(), [2.0, 2.0])

    def test_there_are_two_devices_by_default(self):
        self.assertEqual(output_of("import npu_backend, torch; print(torch.npu.device_count())").strip(), "2")

    def test_environment_variable_sets_the_number_of_devices(self):
        code = "import npu_backend, torch; print(torch.npu.device_count(), torch.ones(1, device='npu:4').device)"
        self.assertEqual(output_of(code, NPU_DEVICE_COUNT="5").strip(), "5 npu:4")

    def test_is_the_accelerator_of_torch(self):
        self.assertTrue(torch.npu.is_available())
        self.assertEqual(torch.accelerator.current_accelerator(), torch.device("npu"))
        self.assertEqual(torch.accelerator.device_count(), torch.npu.device_count())

    def test_accelerator_interface_of_torch_reaches_it(self):
        accelerator = torch.accelerator
        with accelerator.device_index(1):
            self.assertEqual(torch.npu.current_device(), 1)
            self.assertEqual(torch.ones(1, device=accelerator.current_accelerator()).device.index, 1)
        accelerator.set_device_index("npu:1")
        self.assertEqual(accelerator.current_device_index(), 1)
        accelerator.set_device_index(0)
        stream = torch.Stream("npu")
        with stream:
            self.assertEqual(accelerator.current_stream(), stream)
            self.assertEqual(torch.npu.current_stream(), stream)
        accelerator.set_stream(torch.npu.default_stream())
        accelerator.synchronize()
        accelerator.empty_cache()
        accelerator.empty_host_cache()
        x = torch.empty(1000, device="npu")
        accelerator.reset_peak_memory_stats()
        self.assertEqual(accelerator.max_memory_allocated(), torch.npu.memory_allocated())
        self.assertEqual(accelerator.max_memory_reserved(), torch.npu.memory_reserved())
        self.assertEqual(accelerator.get_memory_info()[1], torch.npu.mem_get_info()[1])
        self.assertIn(torch.bfloat16, accelerator.get_device_capability()["supported_dtypes"])
        del x

    def test_set_device_chooses_where_npu_without_index_is(self):
        torch.npu.set_device(1)
        self.assertEqual(torch.npu.current_device(), 1)
        self.assertEqual(torch.empty(1, device="npu").device.index, 1)
        self.assertEqual(torch.randn(1, device="npu").device.index, 1)

    def test_context_restores_the_device(self):
        with torch.npu.device(1):
            self.assertEqual(torch.npu.current_device(), 1)
            with torch.npu.device("npu:0"):
                self.assertEqual(torch.npu.current_device(), 0)
            with torch.npu.device(None):
                self.assertEqual(torch.npu.current_device(), 1)
        self.assertEqual(torch.npu.current_device(), 0)

    def test_device_of_follows_a_tensor(self):
        with torch.npu.device_of(torch.ones(1, device="npu:1")):
            self.assertEqual(torch.npu.current_device(), 1)
        with torch.npu.device_of(torch.ones(1)):
            self.assertEqual(torch.npu.current_device(), 0)

    def test_current_device_is_of_the_thread(self):
        torch.npu.set_device(1)
        seen = []
        thread = threading.Thread(target=lambda: seen.append(torch.npu.current_device()))
        thread.start()
        thread.join()
        self.assertEqual(seen, [0])

    def test_missing_device_is_named_wherever_an_index_is_taken(self):
        operators = torch.ops.npu_backend
        takers = {
            "memory_stats": torch.accelerator.memory_stats,
            "reset_peak": torch.accelerator.reset_peak_memory_stats,
            "reset_accumulated": torch.accelerator.reset_accumulated_memory_stats,
            "memory_info": torch.accelerator.get_memory_info,
            "drain": operators.drain,
            "trim": operators.trim,
            "default_generator": operators.default_generator,
            "set_memory_limit": lambda index: operators.set_memory_limit(index, 2**40),
        }
        for name, take in takers.items():
            indices = (-1, 99) if take.__module__.startswith("torch.accelerator") else (-1, 99, 200, 2**40)
            for index in indices:
                expected = rf"expected a device index in \[0, 2\), got {index}\b"
                with self.subTest(name, index=index), self.assertRaisesRegex(RuntimeError, expected):
                    take(index)

    def test_missing_device_is_named(self):
        with self.assertRaisesRegex(RuntimeError, r"expected a device index in \[0, 2\), got 7"):
            torch.ones(1, device="npu:7")
        with self.assertRaisesRegex(ValueError, r"expected a device index in \[0, 2\), got 2"):
            torch.npu.set_device(2)
        with self.assertRaisesRegex(ValueError, "expected an npu device, got cpu"):
            torch.npu.set_device("cpu")

    def test_moves_between_cpu_and_devices(self):
        x = torch.arange(6.0).view(2, 3)
        for moved in (x.npu(), x.npu(1), x.to("npu:1"), x.npu().npu(1)):
            self.assertEqual(moved.device.type, "npu")
            assert_close(moved.cpu(), x, rtol=0, atol=0)
        self.assertTrue(x.npu().is_npu)
        self.assertEqual(torch.nn.Linear(2, 2).npu(1).weight.device.index, 1)

    def test_properties_name_the_system_on_chip(self):
        properties = torch.npu.get_device_properties()
        self.assertEqual(properties.name, torch.npu.get_device_name())
        self.assertGreater(properties.total_memory, 0)
        self.assertEqual(properties.vector_core_num, 2 * properties.cube_core_num)

    def test_default_device_and_with_device_make_npu_tensors(self):
        with torch.device("npu"):
            self.assertEqual(torch.zeros(2).device.type, "npu")
        torch.set_default_device("npu:1")
        try:
            self.assertEqual(torch.arange(3).device, torch.device("npu:1"))
        finally:
            torch.set_default_device(None)

    def test_every_dtype_is_created_copied_printed_and_kept(self):
        for dtype in (
            torch.bool,
            torch.uint8,
            torch.int8,
            torch.int16,
            torch.int32,
            torch.int64,
            torch.float16,
            torch.bfloat16,
            torch.float32,
            torch.float64,
            torch.complex64,
            torch.complex128,
            torch.uint64,
        ):
            with self.subTest(dtype=dtype):
                x = torch.ones(3, dtype=dtype, device="npu")
                self.assertEqual(x.cpu().dtype, dtype)
                self.assertIn("device='npu:0'", repr(x))
        self.assertEqual(torch.tensor([2**40, 1], device="npu").sum().item(), 2**40 + 1)

    def test_load_library_alone_brings_the_device(self):
        code = (
            "import torch, glob, sys\n"
            "torch.ops.load_library(sys.argv[1])\n"
            "print((torch.ones(2, device='npu') + 1).tolist(), 'npu_backend' in sys.modules)"
        )
        library = npu_backend._boot._library.library_path()
        code = code.replace("sys.argv[1]", repr(str(library)))
        self.assertEqual(output_of(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0").strip(), "[2.0, 2.0] False")

    def test_importing_twice_and_reloading_changes_nothing(self):
        code = (
            "import importlib, npu_backend, torch\n"
            "x = torch.ones(2, device='npu')\n"
            "importlib.reload(npu_backend)\n"
            "torch.ops.load_library(npu_backend._boot._library.library_path())\n"
            "print((x + 1).tolist())"
        )
        self.assertEqual(output_of(code).strip(), "[2.0, 2.0]")


if __name__ == "__main__":
    unittest.main()
