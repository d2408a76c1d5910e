# SPDX-License-Identifier: Apache-2.0
"""Statistics, summary and snapshot of the allocator."""

import gc
import unittest

import torch

import npu_backend  # noqa: F401

MIB = 2**20
COUNTED = (
    "allocation",
    "segment",
    "active",
    "inactive_split",
    "allocated_bytes",
    "reserved_bytes",
    "active_bytes",
    "inactive_split_bytes",
    "requested_bytes",
)


def blocks_of(device):
    return [block for s in torch.npu.memory_snapshot() if s["device"] == device for block in s["blocks"]]


class StatisticsTest(unittest.TestCase):
    def setUp(self):
        gc.collect()
        torch.npu.empty_cache()

    def test_keys_are_those_of_cuda(self):
        keys = set(torch.npu.memory_stats())
        for name in COUNTED:
            for pool in ("all", "small_pool", "large_pool"):
                for column in ("current", "peak", "allocated", "freed"):
                    self.assertIn(f"{name}.{pool}.{column}", keys)
        for name in ("oversize_allocations", "oversize_segments"):
            for column in ("current", "peak", "allocated", "freed"):
                self.assertIn(f"{name}.{column}", keys)
        for name in ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free"):
            self.assertIn(name, keys)
        self.assertIn("max_split_size", keys)
        self.assertEqual(list(torch.npu.memory_stats()), sorted(keys))

    def test_every_number_adds_up(self):
        tensors = [torch.empty(n, dtype=torch.uint8, device="npu") for n in (1, 1000, MIB, 3 * MIB, 100)]
        del tensors[1]
        stats = torch.npu.memory_stats()
        for name in COUNTED:
            total = {column: stats[f"{name}.all.{column}"] for column in ("current", "peak", "allocated", "freed")}
            self.assertGreaterEqual(total["peak"], total["current"], name)
            parts = [stats[f"{name}.{pool}.current"] for pool in ("small_pool", "large_pool")]
            self.assertEqual(sum(parts), total["current"], name)
        held = stats["allocated_bytes.all.current"]
        free = torch.npu.memory_reserved() - held
        self.assertEqual(held, torch.npu.memory_allocated())
        self.assertEqual(stats["requested_bytes.all.current"], sum(t.numel() for t in tensors) + self.held_before())
        self.assertEqual(stats["inactive_split_bytes.all.current"], free)

    def held_before(self):
        """Bytes that other tensors of this process asked for: none, when this file runs alone."""
        return sum(b["requested_size"] for b in blocks_of(0)) - 1 - MIB - 3 * MIB - 100

    def test_sums_and_peaks_start_anew(self):
        x = torch.empty(3 * MIB, dtype=torch.uint8, device="npu")
        del x
        torch.npu.reset_accumulated_memory_stats()
        torch.npu.reset_peak_memory_stats()
        stats = torch.npu.memory_stats()
        for name in COUNTED:
            self.assertEqual(stats[f"{name}.all.allocated"], 0, name)
            self.assertEqual(stats[f"{name}.all.peak"], stats[f"{name}.all.current"], name)

    def test_out_of_memory_is_counted(self):
        before = torch.npu.memory_stats()["num_ooms"]
        with self.assertRaises(torch.OutOfMemoryError):
            torch.empty(2**50, dtype=torch.uint8, device="npu")
        self.assertEqual(torch.npu.memory_stats()["num_ooms"], before + 1)

    def test_devices_are_counted_apart(self):
        before = torch.npu.memory_allocated("npu:0"), torch.npu.memory_allocated("npu:1")
        x = torch.empty(MIB, device="npu:1")
        self.assertEqual(torch.npu.memory_allocated("npu:0"), before[0])
        self.assertEqual(torch.npu.memory_allocated("npu:1"), before[1] + x.nbytes)


class SummaryTest(unittest.TestCase):
    def test_shows_what_is_held_and_how_often_memory_ran_out(self):
        torch.npu.empty_cache()
        x = torch.empty(8 * MIB, dtype=torch.uint8, device="npu:1")
        summary = torch.npu.memory_summary("npu:1")
        ooms = torch.npu.memory_stats(1)["num_ooms"]
        self.assertIn(f"Memory of npu:1, of {torch.npu.device_count()} devices: {ooms} times out of memory", summary)
        held = next(line for line in summary.splitlines() if line.startswith("held by tensors"))
        self.assertIn(f"{torch.npu.memory_allocated(1) / MIB:.1f} MiB", held)
        self.assertEqual(summary.count("large blocks"), 9)
        self.assertNotIn("large blocks", torch.npu.memory_summary(1, abbreviated=True))
        del x


class SnapshotTest(unittest.TestCase):
    def test_a_tensor_is_a_block_with_its_size(self):
        x, y = torch.empty(1000, device="npu:1"), torch.empty(MIB, device="npu:1")
        blocks = {block["address"]: block for block in blocks_of(1)}
        for tensor in (x, y):
            block = blocks[tensor.data_ptr()]
            self.assertEqual((block["requested_size"], block["state"]), (tensor.nbytes, "active_allocated"))
            self.assertGreaterEqual(block["size"], tensor.nbytes)
        address = x.data_ptr()
        del x
        block = next(block for block in blocks_of(1) if block["address"] == address)
        self.assertEqual((block["requested_size"], block["state"]), (0, "inactive"))

    def test_segments_are_whole_and_agree_with_the_statistics(self):
        x = [torch.empty(n, device="npu") for n in (1, 300, 70_000, MIB)]
        for device in range(torch.npu.device_count()):
            segments = [s for s in torch.npu.memory_snapshot() if s["device"] == device]
            for segment in segments:
                end = segment["address"]
                for block in segment["blocks"]:
                    self.assertEqual(block["address"], end)
                    end += block["size"]
                self.assertEqual(end, segment["address"] + segment["total_size"])
                self.assertEqual(segment["segment_type"], "large" if len(segment["blocks"]) == 1 else "small")
            self.assertEqual(sum(s["total_size"] for s in segments), torch.npu.memory_reserved(device))
            self.assertEqual(sum(s["allocated_size"] for s in segments), torch.npu.memory_allocated(device))
        del x


if __name__ == "__main__":
    unittest.main()
