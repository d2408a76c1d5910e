# SPDX-License-Identifier: Apache-2.0
import ctypes
import itertools
import sys
import threading
import time
import unittest
from pathlib import Path

import torch

import npu_backend  # noqa: F401

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import output_of
from test.host.queued_work import Queue, runtime


class StreamTest(unittest.TestCase):
    def test_streams_are_streams_of_torch(self):
        stream = torch.npu.Stream()
        self.assertIsInstance(stream, torch.Stream)
        self.assertEqual(stream.device, torch.device("npu:0"))
        self.assertNotEqual(stream, torch.npu.default_stream())
        self.assertEqual(torch.npu.current_stream(), torch.npu.default_stream())
        self.assertEqual(torch.npu.Stream(device="npu:1").device.index, 1)
        self.assertEqual(torch.npu.Stream(priority=-1).priority, 0)

    def test_context_sets_and_restores_stream_and_device(self):
        stream = torch.npu.Stream(1)
        with torch.npu.stream(stream):
            self.assertEqual(torch.npu.current_stream(), stream)
            self.assertEqual(torch.npu.current_device(), 1)
            with torch.npu.stream(None):
                self.assertEqual(torch.npu.current_stream(), stream)
        self.assertEqual(torch.npu.current_device(), 0)
        self.assertEqual(torch.npu.current_stream(1), torch.npu.default_stream(1))
        self.assertEqual(torch.accelerator.current_stream(), torch.npu.current_stream())

    def test_pool_gives_32_streams_in_turn(self):
        self.assertEqual(len({torch.npu.Stream().stream_id for _ in range(100)}), 32)

    def test_current_stream_is_of_the_thread(self):
        seen = []
        with torch.npu.stream(torch.npu.Stream()):
            thread = threading.Thread(target=lambda: seen.append(torch.npu.current_stream().stream_id))
            thread.start()
            thread.join()
        self.assertEqual(seen, [0])

    def test_work_runs_when_somebody_waits(self):
        for wait in ("synchronize", "stream", "event", "cpu", "item", "data_ptr", "fallback", "dlpack", "poll"):
            with self.subTest(wait=wait):
                x, queue = torch.ones(2, device="npu"), Queue()
                queue.add(count=3)
                event = torch.npu.current_stream().record_event()
                {
                    "synchronize": torch.npu.synchronize,
                    "stream": torch.npu.current_stream().synchronize,
                    "event": event.synchronize,
                    "cpu": x.cpu,
                    "item": lambda: x[0].item(),  # noqa: B023
                    "data_ptr": x.data_ptr,
                    "fallback": x.exp,
                    "dlpack": lambda: torch.utils.dlpack.to_dlpack(x),  # noqa: B023
                    "poll": lambda: self.poll(event),  # noqa: B023
                }[wait]()
                self.assertEqual(queue.done, 3)

    @staticmethod
    def poll(event):
        while not event.query():
            pass

    def test_query_is_false_while_work_is_pending(self):
        queue = Queue()
        queue.add(count=1, milliseconds=300)
        self.assertFalse(torch.npu.current_stream().query())
        torch.npu.synchronize()
        self.assertTrue(torch.npu.current_stream().query())

    def test_stream_waits_for_the_event_of_another(self):
        first, second, queue = torch.npu.Stream(), torch.npu.Stream(), Queue()
        queue.add(count=5, stream=first)
        second.wait_event(first.record_event())
        second.synchronize()
        self.assertEqual(queue.done, 5)
        queue.add(count=5, stream=first)
        second.wait_stream(first)
        second.synchronize()
        self.assertEqual(queue.done, 10)


class SideStreamTest(unittest.TestCase):
    """Side streams run in the background once somebody asks how far they are."""

    def test_streams_run_beside_each_other_in_the_background(self):
        streams, queues = [torch.npu.Stream() for _ in range(3)], [Queue() for _ in range(3)]
        for stream, queue in zip(streams, queues, strict=True):
            queue.add(count=2, milliseconds=100, stream=stream)
            self.assertFalse(stream.query())
        while not all(stream.query() for stream in streams):
            pass
        self.assertEqual([queue.done for queue in queues], [2, 2, 2])

    def test_order_within_a_stream_and_across_events_holds(self):
        order = []
        first, second = torch.npu.Stream(), torch.npu.Stream()
        queue = Queue(on_done=order.append)
        queue.add(count=1, milliseconds=50, stream=first, label="first")
        second.wait_event(first.record_event())
        queue.add(count=1, stream=second, label="second")
        torch.npu.current_stream().wait_stream(second)
        queue.add(count=1, label="third")
        self.assertFalse(torch.npu.current_stream().query())
        torch.npu.synchronize()
        self.assertEqual(order, ["first", "second", "third"])

    def test_a_stream_made_through_the_c_interface_is_usable(self):
        handle = ctypes.c_void_p()
        self.assertEqual(runtime().npuStreamCreate(ctypes.byref(handle)), 0)
        stream, queue = torch.npu.ExternalStream(handle.value), Queue()
        self.assertEqual((stream.npu_stream, stream.device), (handle.value, torch.device("npu:0")))
        queue.add(count=2, stream=stream)
        with torch.npu.stream(stream):
            self.assertEqual((torch.ones(2, device="npu") + 1).tolist(), [2.0, 2.0])
        self.assertEqual(queue.done, 2)
        runtime().npuStreamDestroy(handle)
        with self.assertRaisesRegex(RuntimeError, "npu stream: expected the stream_id 0 to 32 or the address of a"):
            stream.synchronize()

    def test_one_that_nobody_made_is_named(self):
        x = torch.ones(3, device="npu")
        uses = (
            lambda stream: stream.synchronize(),
            lambda stream: stream.query(),
            lambda stream: torch.npu.set_stream(stream),
            lambda stream: x.record_stream(stream),
            lambda stream: stream.record_event(),
            lambda stream: torch.npu.current_stream().wait_stream(stream),
            lambda stream: stream.native_handle,
        )
        for number, use in itertools.product((12345, 33, -5), uses):
            stream = torch.npu.Stream(stream_id=number, device_index=0, device_type=20)
            sentence = f"expected the stream_id 0 to 32 or the address of a stream that lives, got {number}"
            with self.assertRaisesRegex(RuntimeError, sentence):
                use(stream)
        for device, use in itertools.product((9, -3), uses):
            stream = torch.npu.Stream(stream_id=1, device_index=device, device_type=20)
            with self.assertRaisesRegex(RuntimeError, rf"expected a device index in \[0, 2\), got {device}"):
                use(stream)
        self.assertEqual(torch.npu.current_stream().stream_id, 0)


class LaunchTest(unittest.TestCase):
    """Trial 33: when a launch returns."""

    CODE = """
import npu_backend, op_extension, torch
x = torch.zeros(300_000, device="npu")
for _ in range(100):
    x = torch.ops.npu.my_add(x, torch.ones(1, device="npu"))
print(torch.npu.current_stream().query())
torch.npu.synchronize()
print(torch.npu.current_stream().query(), x.sum().item())
"""

    def test_a_loop_of_launches_returns_before_the_work_is_done(self):
        self.assertEqual(output_of(self.CODE).split(), ["False", "True", "30000000.0"])

    def test_launches_wait_when_the_environment_asks_for_it(self):
        self.assertEqual(output_of(self.CODE, ASCEND_LAUNCH_BLOCKING="1").split(), ["True", "True", "30000000.0"])


class EventTest(unittest.TestCase):
    """Trial 33: events."""

    def test_elapsed_time_is_that_of_the_work(self):
        start, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
        queue = Queue()
        begun = time.monotonic()
        start.record()
        queue.add(count=1, milliseconds=50)
        end.record()
        end.synchronize()
        self.assertGreaterEqual(start.elapsed_time(end), 50)
        self.assertLessEqual(start.elapsed_time(end), 1000 * (time.monotonic() - begun))

    def test_query_tells_when_a_long_kernel_has_ended(self):
        event, queue = torch.npu.Event(), Queue()
        queue.add(count=1, milliseconds=500)
        event.record()
        self.assertFalse(event.query())
        event.synchronize()
        self.assertEqual((event.query(), queue.done), (True, 1))

    def test_recording_again_moves_the_event(self):
        event, queue = torch.npu.Event(), Queue()
        event.record()
        event.synchronize()
        queue.add(count=1, milliseconds=200)
        event.record()
        self.assertFalse(event.query())
        torch.npu.synchronize()
        self.assertTrue(event.query())

    def test_elapsed_time_needs_timing_and_both_records(self):
        timed, untimed = torch.npu.Event(enable_timing=True), torch.npu.Event()
        for event in (timed, untimed):
            with self.assertRaisesRegex(RuntimeError, "expected events"):
                event.elapsed_time(timed)
        timed.record()
        with self.assertRaisesRegex(RuntimeError, "enable_timing=True"):
            timed.elapsed_time(untimed)

    def test_event_may_be_waited_for_on_its_own_stream_or_before_a_record(self):
        event = torch.npu.Event()
        event.wait()
        event.synchronize()
        self.assertTrue(event.query())
        event.record()
        event.wait()
        torch.npu.synchronize()
        self.assertIsInstance(event, torch.Event)

    def test_event_of_torch_works(self):
        event = torch.Event("npu")
        event.record(torch.npu.current_stream())
        event.synchronize()
        self.assertTrue(event.query())


if __name__ == "__main__":
    unittest.main()
