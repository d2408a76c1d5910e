# SPDX-License-Identifier: Apache-2.0
"""Copies with non_blocking=True between npu and pinned memory, with work pending on the stream."""

import gc
import sys
import unittest
from pathlib import Path

import torch

import npu_backend  # noqa: F401

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.queued_work import Queue


class QueuedCopyTest(unittest.TestCase):
    def setUp(self):
        self.queue = Queue()
        self.addCleanup(torch.npu.synchronize)

    def keep_busy(self, stream=None):
        """Puts work on stream that ends when what is returned is called."""
        gate = self.queue.add_gate(stream)
        self.addCleanup(gate.set)
        return gate.set

    def test_to_the_host_returns_at_once_and_is_done_after_synchronize(self):
        x, host = torch.arange(1000.0, device="npu"), torch.zeros(1000, pin_memory=True)
        end_work = self.keep_busy()
        host.copy_(x, non_blocking=True)
        self.assertEqual(host.sum().item(), 0.0)
        end_work()
        torch.npu.synchronize()
        self.assertEqual(host.tolist(), list(range(1000)))

    def test_to_cpu_makes_pinned_memory_that_is_filled_later(self):
        x = torch.arange(5.0, device="npu")
        end_work = self.keep_busy()
        host = x.to("cpu", non_blocking=True)
        event = torch.npu.current_stream().record_event()
        self.assertTrue(host.is_pinned())
        self.assertFalse(event.query())
        end_work()
        event.synchronize()
        self.assertEqual(host.tolist(), [0.0, 1.0, 2.0, 3.0, 4.0])

    def test_to_the_device_keeps_its_place_in_the_stream(self):
        host = torch.full((1000,), 3.0).pin_memory()
        end_work = self.keep_busy()
        x = host.npu(non_blocking=True)
        end_work()
        self.assertEqual((x + 1).sum().item(), 4000.0)
        self.assertEqual(self.queue.done, 1)

    def test_memory_of_freed_tensors_stays_until_the_copy_has_run(self):
        before = torch.npu.host_memory_stats()["allocated_bytes.current"]
        x, host = torch.zeros(100_000, device="npu"), torch.ones(100_000).pin_memory()
        end_work = self.keep_busy()
        x.copy_(host, non_blocking=True)
        del host
        self.assertGreater(torch.npu.host_memory_stats()["allocated_bytes.current"], before)
        others = [torch.zeros(100_000, pin_memory=True) for _ in range(4)]
        end_work()
        self.assertEqual(x.sum().item(), 100_000)
        del others
        gc.collect()
        torch.npu.host_empty_cache()
        self.assertEqual(torch.npu.host_memory_stats()["allocated_bytes.current"], before)

    def test_a_freed_device_tensor_is_still_copied(self):
        x, host = torch.full((100_000,), 2.0, device="npu"), torch.zeros(100_000, pin_memory=True)
        address = x.data_ptr()
        end_work = self.keep_busy()
        host.copy_(x, non_blocking=True)
        del x
        (state,) = [b["state"] for s in torch.npu.memory_snapshot() for b in s["blocks"] if b["address"] == address]
        self.assertEqual(state, "active_allocated")
        end_work()
        torch.npu.synchronize()
        self.assertEqual(host.sum().item(), 200_000)

    def test_goes_to_the_side_stream_it_was_issued_on(self):
        side = torch.npu.Stream()
        x, host = torch.ones(10, device="npu"), torch.zeros(10, pin_memory=True)
        end_work = self.keep_busy(side)
        with torch.npu.stream(side):
            host.copy_(x, non_blocking=True)
        self.assertEqual(host.sum().item(), 0)
        torch.npu.current_stream().wait_stream(side)
        self.assertEqual(self.queue.done, 0)
        end_work()
        torch.npu.current_stream().synchronize()
        self.assertEqual((self.queue.done, host.sum().item()), (1, 10.0))

    def test_what_is_no_plain_copy_is_done_at_once(self):
        x = torch.arange(6.0, device="npu").view(2, 3)
        for name, host in {
            "pageable": torch.zeros(2, 3),
            "conversion": torch.zeros(2, 3, dtype=torch.float64, pin_memory=True),
            "other strides": torch.zeros(3, 2, pin_memory=True).t(),
            "broadcast": torch.zeros(4, 2, 3, pin_memory=True),
        }.items():
            with self.subTest(copy=name):
                self.queue.add(count=1)
                host.copy_(x, non_blocking=True)
                torch.testing.assert_close(host, x.cpu().expand(host.shape).to(host.dtype), rtol=0, atol=0)

    def test_views_are_copied_where_they_lie(self):
        x, host = torch.arange(10.0, device="npu"), torch.zeros(10, pin_memory=True)
        end_work = self.keep_busy()
        host[2:5].copy_(x[5:8], non_blocking=True)
        end_work()
        torch.npu.synchronize()
        self.assertEqual(host.tolist(), [0, 0, 5, 6, 7, 0, 0, 0, 0, 0])


if __name__ == "__main__":
    unittest.main()
