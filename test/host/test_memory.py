# SPDX-License-Identifier: Apache-2.0
import gc
import sys
import unittest
from pathlib import Path

import torch

import npu_backend  # noqa: F401

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import output_of
from test.host.queued_work import Queue

MIB = 2**20


class MemoryTest(unittest.TestCase):
    """Trial 32."""

    def setUp(self):
        gc.collect()
        torch.npu.empty_cache()

    def test_is_zero_before_the_first_use(self):
        code = (
            "import npu_backend, torch\n"
            "print([torch.npu.memory_allocated(d) for d in (0, 'npu:1', torch.device('npu'), None)])\n"
            "print(torch.npu.memory_reserved())\n"
            "print(all(0 < f <= t and type(f) is type(t) is int\n"
            "          for f, t in map(torch.npu.mem_get_info, (0, 'npu:1', torch.device('npu'), None))))\n"
            "print(any(torch.npu.memory_stats().values()))\n"
            "print(torch.accelerator.memory_stats() == torch.npu.memory_stats())"
        )
        self.assertEqual(output_of(code).splitlines(), ["[0, 0, 0, 0]", "0", "True", "False", "True"])

    def test_counts_what_tensors_hold(self):
        for count in (10, MIB, 3 * MIB, 100 * MIB):
            with self.subTest(bytes=count):
                before = torch.npu.memory_allocated()
                torch.npu.reset_peak_memory_stats()
                x = torch.empty(count, dtype=torch.uint8, device="npu")
                held = torch.npu.memory_allocated() - before
                self.assertTrue(count <= held <= max(1.25 * count, count + 2 * MIB), held)
                del x
                self.assertEqual(torch.npu.memory_allocated(), before)
                self.assertEqual(torch.npu.max_memory_allocated(), before + held)

    def test_counts_the_outputs_of_cpu_kernels(self):
        x = torch.ones(MIB, device="npu:1")
        before = torch.npu.memory_allocated(1)
        y = torch.sort(x + 1)[0]
        self.assertGreaterEqual(torch.npu.memory_allocated(1) - before, 4 * MIB)
        del y
        self.assertEqual(torch.npu.memory_allocated(1), before)

    def test_does_not_count_cpu_tensors(self):
        before = torch.npu.memory_allocated()
        x = torch.ones(MIB)
        y = torch.ones(4, device="npu").cpu()
        self.assertEqual(torch.npu.memory_allocated(), before)
        del x, y

    def test_empty_cache_gives_memory_back(self):
        x = torch.empty(64 * MIB, dtype=torch.uint8, device="npu")
        del x
        reserved = torch.npu.memory_reserved()
        torch.npu.empty_cache()
        self.assertLessEqual(torch.npu.memory_reserved(), reserved - 64 * MIB)

    def test_freed_memory_is_used_again(self):
        x = torch.empty(64 * MIB, dtype=torch.uint8, device="npu")
        address = x.data_ptr()
        del x
        self.assertEqual(torch.empty(64 * MIB, dtype=torch.uint8, device="npu").data_ptr(), address)

    def test_memory_is_aligned(self):
        for count in (1, 65, 1000, 10**6):
            x = torch.empty(count, dtype=torch.uint8, device="npu")
            self.assertEqual(x.data_ptr() % 64, 0)
        self.assertEqual(torch.empty(8 * MIB, dtype=torch.uint8, device="npu").data_ptr() % (2 * MIB), 0)

    def test_accelerator_interface_agrees(self):
        x = torch.empty(MIB, device="npu")
        self.assertEqual(torch.accelerator.memory_allocated(), torch.npu.memory_allocated())
        self.assertIn("allocated_bytes.all.peak", torch.accelerator.memory_stats())
        self.assertEqual(torch.accelerator.memory_stats(), torch.npu.memory_stats())
        del x
        torch.npu.reset_accumulated_memory_stats()
        self.assertEqual(torch.npu.memory_stats()["allocated_bytes.all.allocated"], 0)

    def test_mem_get_info_is_free_of_total(self):
        free, total = torch.npu.mem_get_info()
        self.assertIs(type(free), int)
        self.assertTrue(0 < free <= total)

    def test_impossible_request_is_an_out_of_memory_error(self):
        for count in (2**50, 2**62):
            with self.subTest(bytes=count), self.assertRaisesRegex(torch.OutOfMemoryError, "npu out of memory"):
                torch.empty(count, dtype=torch.uint8, device="npu")
        self.assertEqual((torch.ones(2, device="npu") + 1).tolist(), [2.0, 2.0])

    def test_limit_of_the_process_is_kept(self):
        _, total = torch.npu.mem_get_info()
        torch.npu.set_per_process_memory_fraction(200 * MIB / total)
        try:
            torch.npu.empty_cache()
            message = r"to be free on npu:0, got (1\d\d|200)\.\d\d MiB of .*limit of this process 200.00 MiB"
            with self.assertRaisesRegex(torch.OutOfMemoryError, message):
                torch.empty(300 * MIB, dtype=torch.uint8, device="npu")
            with self.assertRaises(torch.OutOfMemoryError):
                torch.ones(30 * MIB, dtype=torch.uint8, device="npu").double()
            torch.empty(100 * MIB, dtype=torch.uint8, device="npu")
        finally:
            torch.npu.set_per_process_memory_fraction(1.0)

    def test_fraction_is_checked_and_given_back(self):
        self.assertEqual(torch.npu.get_per_process_memory_fraction(), 1.0)
        with self.assertRaisesRegex(TypeError, "expected a float, got 1"):
            torch.npu.set_per_process_memory_fraction(1)
        for fraction in (-0.1, 1.1, float("nan")):
            with self.assertRaisesRegex(ValueError, r"expected a fraction in \[0, 1\], got"):
                torch.npu.set_per_process_memory_fraction(fraction)
        torch.npu.set_per_process_memory_fraction(0.5, "npu:1")
        try:
            self.assertEqual(torch.npu.get_per_process_memory_fraction(1), 0.5)
            self.assertEqual(torch.npu.get_per_process_memory_fraction(0), 1.0)
        finally:
            torch.npu.set_per_process_memory_fraction(1.0, 1)

    def test_full_cache_is_emptied_before_a_request_fails(self):
        _, total = torch.npu.mem_get_info()
        torch.npu.set_per_process_memory_fraction(200 * MIB / total)
        try:
            retries = torch.npu.memory_stats()["num_alloc_retries"]
            x = torch.empty(120 * MIB, dtype=torch.uint8, device="npu")
            del x  # stays in the cache, too small for what follows
            torch.empty(160 * MIB, dtype=torch.uint8, device="npu")
            self.assertEqual(torch.npu.memory_stats()["num_alloc_retries"], retries + 1)
        finally:
            torch.npu.set_per_process_memory_fraction(1.0)

    def test_record_stream_keeps_a_block_until_the_stream_has_run(self):
        stream, queue = torch.npu.Stream(), Queue()
        x = torch.ones(MIB, device="npu")
        address = x.data_ptr()
        gate = queue.add_gate(stream)
        x.record_stream(stream)
        del x
        early = [torch.empty(MIB, device="npu") for _ in range(2)]
        self.assertNotIn(address, [y.data_ptr() for y in early])
        self.assertEqual(queue.done, 0)
        states = [b["state"] for s in torch.npu.memory_snapshot() for b in s["blocks"] if b["address"] == address]
        self.assertEqual(states, ["active_awaiting_free"])
        gate.set()
        stream.synchronize()
        late = [torch.empty(MIB, device="npu") for _ in range(2)]
        self.assertIn(address, [y.data_ptr() for y in late])


class StorageTest(unittest.TestCase):
    def test_resize_keeps_device_and_contents(self):
        x = torch.arange(4.0, device="npu:1")
        storage = x.untyped_storage()
        storage.resize_(32)
        self.assertEqual((storage.nbytes(), storage.device), (32, torch.device("npu:1")))
        self.assertEqual(x.tolist(), [0.0, 1.0, 2.0, 3.0])
        storage.resize_(0)
        self.assertEqual((storage.nbytes(), storage.device), (0, torch.device("npu:1")))
        storage.resize_(16)
        self.assertEqual(x.fill_(3).tolist(), [3.0] * 4)

    def test_set_takes_storage_and_tensor(self):
        x = torch.arange(6.0, device="npu")
        y = torch.empty(0, device="npu").set_(x.untyped_storage(), 2, (2, 2), (2, 1))
        self.assertEqual(y.tolist(), [[2.0, 3.0], [4.0, 5.0]])
        self.assertEqual(torch.empty(0, device="npu").set_(x).tolist(), x.tolist())
        self.assertEqual(torch.empty(0, device="npu").set_(x.untyped_storage()).shape, (6,))
        self.assertEqual(x.clone().set_().shape, (0,))
        with self.assertRaisesRegex(RuntimeError, "different device"):
            torch.empty(0, device="npu").set_(torch.ones(3).untyped_storage(), 0, (3,))

    def test_resize_of_a_tensor(self):
        x = torch.arange(4.0, device="npu")
        x.resize_(2, 3)
        self.assertEqual(x.flatten()[:4].tolist(), [0.0, 1.0, 2.0, 3.0])
        self.assertEqual(x.resize_(2).tolist(), [0.0, 1.0])

    def test_resize_that_fails_leaves_the_tensor_as_it_was(self):
        x = torch.ones(2, device="npu")
        fixed = torch.ones(2, device="npu").share_memory_()
        memory = fixed.untyped_storage()
        for resize in (
            lambda: x.resize_(2**50),
            lambda: x.set_(x.untyped_storage(), 0, (2**40, 2**40), (1, 1)),
            lambda: x.set_(memory, 1, (2,), (1,)),
            lambda: fixed.resize_(3),
            lambda: memory.resize_(0),
        ):
            with self.assertRaises(RuntimeError):
                resize()
            self.assertEqual((x.tolist(), fixed.tolist(), memory.nbytes()), ([1.0, 1.0], [1.0, 1.0], 8))

    def test_deterministic_mode_fills_new_memory(self):
        torch.use_deterministic_algorithms(True)
        try:
            self.assertTrue(torch.empty(5, device="npu").isnan().all())
            self.assertTrue(torch.empty_strided((2, 2), (2, 1), device="npu", dtype=torch.complex64).isnan().all())
            for dtype in (torch.uint8, torch.int8, torch.int32, torch.int64):
                expected = [torch.iinfo(dtype).max] * 3
                self.assertEqual(torch.empty(3, device="npu", dtype=dtype).tolist(), expected)
            self.assertEqual(torch.empty(2, device="npu", dtype=torch.bool).tolist(), [True, True])
        finally:
            torch.use_deterministic_algorithms(False)


if __name__ == "__main__":
    unittest.main()
