# SPDX-License-Identifier: Apache-2.0
"""Pools of memory, allocators from a library, and memory without a tensor."""

import ctypes
import gc
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import torch

import npu_backend  # noqa: F401

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import output_of

MIB = 2**20

LIBRARY = """
#include <stdlib.h>
static size_t held;
static int calls;
void* take(size_t bytes, int device, void* stream) {
  if (device != 1 || stream == NULL || bytes > 64u << 20) return NULL;
  held += bytes;
  ++calls;
  return aligned_alloc(64, (bytes + 63) / 64 * 64);
}
void give(void* memory, size_t bytes, int device, void* stream) {
  (void)stream;
  if (device == 1) held -= bytes;
  free(memory);
}
size_t bytes_held(void) { return held; }
int calls_made(void) { return calls; }
"""


class MemPoolTest(unittest.TestCase):
    def segments_of(self, pool):
        return [segment["address"] for segment in pool.snapshot()]

    def test_tensors_of_the_context_lie_in_the_pool(self):
        pool, other = torch.npu.MemPool(), torch.npu.MemPool()
        self.assertNotEqual(pool.id, other.id)
        with torch.npu.use_mem_pool(pool):
            self.assertEqual(pool.use_count(), 2)
            x = torch.empty(4 * MIB, dtype=torch.uint8, device="npu")
            y = torch.ones(5, device="npu") + 1
        self.assertEqual(pool.use_count(), 1)
        z = torch.empty(4 * MIB, dtype=torch.uint8, device="npu")
        addresses = {b["address"] for s in pool.snapshot() for b in s["blocks"] if b["state"] == "active_allocated"}
        self.assertLessEqual({x.data_ptr(), y.data_ptr()}, addresses)
        self.assertNotIn(z.data_ptr(), addresses)
        self.assertEqual(y.tolist(), [2.0] * 5)
        self.assertEqual(other.snapshot(), [])

    def test_freed_memory_serves_the_pool_only(self):
        pool = torch.npu.MemPool()
        with torch.npu.use_mem_pool(pool):
            x = torch.empty(40 * MIB, dtype=torch.uint8, device="npu")
        address = x.data_ptr()
        del x
        outside = torch.empty(40 * MIB, dtype=torch.uint8, device="npu")
        self.assertNotEqual(outside.data_ptr(), address)
        torch.npu.empty_cache()
        self.assertIn(address, self.segments_of(pool))
        with torch.npu.use_mem_pool(pool):
            self.assertEqual(torch.empty(40 * MIB, dtype=torch.uint8, device="npu").data_ptr(), address)

    def test_memory_goes_with_the_pool_or_its_last_tensor(self):
        gc.collect()
        torch.npu.empty_cache()
        reserved = torch.npu.memory_reserved()
        pool = torch.npu.MemPool()
        with torch.npu.use_mem_pool(pool):
            x = torch.ones(10 * MIB, device="npu")
            y = torch.empty(20 * MIB, device="npu")
        del y, pool
        gc.collect()
        self.assertEqual(torch.npu.memory_reserved(), reserved + x.nbytes)
        self.assertEqual(x.sum().item(), 10 * MIB)
        del x
        torch.npu.empty_cache()
        self.assertEqual(torch.npu.memory_reserved(), reserved)

    def test_holds_for_its_device_and_thread(self):
        pool = torch.npu.MemPool()
        with torch.npu.use_mem_pool(pool, 1):
            x = torch.empty(MIB, device="npu:0")
            made = []
            thread = threading.Thread(target=lambda: made.append(torch.empty(MIB, device="npu:1")))
            thread.start()
            thread.join()
            self.assertEqual(pool.snapshot(), [])
            y = torch.empty(MIB, device="npu:1")
        self.assertEqual(self.segments_of(pool), [y.data_ptr()])
        del x

    def test_contexts_nest_and_end_with_an_exception(self):
        outer, inner = torch.npu.MemPool(), torch.npu.MemPool()
        with torch.npu.use_mem_pool(outer):
            with self.assertRaises(KeyError), torch.npu.use_mem_pool(inner):
                raise KeyError
            x = torch.empty(2 * MIB, device="npu")
        self.assertEqual((self.segments_of(outer), self.segments_of(inner)), ([x.data_ptr()], []))

    def test_other_arguments_are_refused(self):
        with self.assertRaisesRegex(TypeError, r"expected NPUPluggableAllocator\(...\).allocator\(\), got 'x'"):
            torch.npu.MemPool("x")


@unittest.skipIf(shutil.which("cc") is None, "needs a C compiler for the library of the test")
class PluggableAllocatorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        source, cls.path = Path(folder.name, "source.c"), Path(folder.name, "source.so")
        source.write_text(LIBRARY)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", cls.path, source], check=True)

    def test_a_pool_takes_its_memory_from_the_library(self):
        library = ctypes.CDLL(str(self.path))
        library.bytes_held.restype = ctypes.c_size_t
        allocator = torch.npu.NPUPluggableAllocator(self.path, "take", "give")
        pool = torch.npu.MemPool(allocator.allocator())
        self.assertIs(pool.allocator, allocator.allocator())
        with torch.npu.use_mem_pool(pool, 1):
            x = torch.ones(5 * MIB, device="npu:1")
            with self.assertRaises(torch.OutOfMemoryError):
                torch.empty(100 * MIB, device="npu:1")
        self.assertEqual(library.bytes_held(), x.nbytes)
        self.assertEqual((x + 1).sum().item(), 10 * MIB)
        del x, pool
        gc.collect()
        self.assertEqual(library.bytes_held(), 0)

    def test_missing_library_or_function_is_an_error(self):
        with self.assertRaises(OSError):
            torch.npu.NPUPluggableAllocator("/nowhere.so", "take", "give")
        with self.assertRaises(AttributeError):
            torch.npu.NPUPluggableAllocator(self.path, "take", "missing")

    def test_the_whole_process_may_take_its_memory_from_it(self):
        code = f"""
import ctypes, npu_backend, torch
library = ctypes.CDLL({str(self.path)!r})
library.bytes_held.restype = ctypes.c_size_t
print(torch.npu.get_allocator_backend())
torch.npu.memory.change_current_allocator(torch.npu.NPUPluggableAllocator({str(self.path)!r}, "take", "give"))
x = torch.ones(100, device="npu:1")
y = (x * 2).relu()
print(library.bytes_held(), library.calls_made() >= 3, y.sum().item(), torch.npu.get_allocator_backend())
del x, y
print(library.bytes_held(), torch.npu.memory_reserved(1))
try:
    torch.ones(1, device="npu:0")
except torch.OutOfMemoryError as error:
    print("out of memory")
"""
        self.assertEqual(output_of(code).splitlines(), ["native", "800 True 200.0 pluggable", "0 0", "out of memory"])

    def test_it_is_too_late_after_the_first_tensor(self):
        torch.ones(1, device="npu")
        with self.assertRaisesRegex(RuntimeError, "call it before the first tensor on npu"):
            torch.npu.change_current_allocator(torch.npu.NPUPluggableAllocator(self.path, "take", "give"))
        with self.assertRaisesRegex(TypeError, "expected an NPUPluggableAllocator, got 3"):
            torch.npu.change_current_allocator(3)
        self.assertEqual(torch.npu.get_allocator_backend(), "native")


class RawMemoryTest(unittest.TestCase):
    def test_memory_without_a_tensor_counts_until_it_is_deleted(self):
        before = torch.npu.memory_allocated(1)
        address = torch.npu.caching_allocator_alloc(1000, device=1)
        self.assertEqual(address % 64, 0)
        self.assertGreaterEqual(torch.npu.memory_allocated(1), before + 1000)
        ctypes.memset(address, 7, 1000)
        torch.npu.caching_allocator_delete(address)
        self.assertEqual(torch.npu.memory_allocated(1), before)

    def test_what_was_not_allocated_is_not_deleted(self):
        for address in (8, torch.ones(3).data_ptr()):
            with self.assertRaisesRegex(ValueError, "expected an address from caching_allocator_alloc, got"):
                torch.npu.caching_allocator_delete(address)
        address = torch.npu.caching_allocator_alloc(64)
        torch.npu.caching_allocator_delete(address)
        with self.assertRaisesRegex(ValueError, "expected an address"):
            torch.npu.caching_allocator_delete(address)
        self.assertEqual(torch.npu.caching_allocator_alloc(0), 0)
        with self.assertRaisesRegex(ValueError, "expected a size of at least 0 bytes, got -1"):
            torch.npu.caching_allocator_alloc(-1)


class PinnedStatisticsTest(unittest.TestCase):
    def test_pinned_tensors_count_until_they_are_freed(self):
        gc.collect()
        torch.npu.host_empty_cache()
        before = torch.npu.host_memory_stats()
        x = torch.empty(10_000, pin_memory=True)
        stats = torch.npu.host_memory_stats()
        self.assertEqual(stats["active_requests.current"], before["active_requests.current"] + 1)
        self.assertGreaterEqual(stats["active_bytes.current"], before["active_bytes.current"] + x.nbytes)
        self.assertEqual(stats["num_host_alloc"], before["num_host_alloc"] + 1)
        del x
        after = torch.npu.host_memory_stats()
        self.assertEqual(after["allocated_bytes.current"], before["allocated_bytes.current"])
        self.assertGreaterEqual(after["active_bytes.peak"], stats["active_bytes.current"])

    def test_sums_and_peaks_start_anew(self):
        torch.empty(10, pin_memory=True)
        torch.npu.reset_accumulated_host_memory_stats()
        torch.npu.reset_peak_host_memory_stats()
        stats = torch.npu.host_memory_stats_as_nested_dict()
        for name in ("allocations", "allocated_bytes", "active_requests", "active_bytes"):
            self.assertEqual(stats[name]["allocated"], 0)
            self.assertEqual(stats[name]["peak"], stats[name]["current"])
        self.assertEqual((stats["num_host_alloc"], stats["host_alloc_time"]["count"]), (0, 0))
        torch.accelerator.empty_host_cache()


if __name__ == "__main__":
    unittest.main()
