# SPDX-License-Identifier: Apache-2.0
"""Tensors of the device that processes send each other: one memory for all."""

import gc
import os
import pickle
import unittest
from multiprocessing.reduction import ForkingPickler

import torch
import torch.multiprocessing as mp

import npu_backend
import op_extension  # noqa: F401
from test.host.python_process import output_of

assert npu_backend  # the device, also where torch did not load it

held = {}  # in the other process


def describe(x):
    return x.device, x.dtype, tuple(x.shape), x.stride(), x.storage_offset(), x.requires_grad, type(x), x.tolist()


def hold(name, x):
    held[name] = x


def drop(name):
    del held[name]
    gc.collect()


def call(function, name):
    return function(held[name])


def add_one(x):
    x.add_(1)


def is_of_one_storage(first, second):
    x, y = held[first], held[second]
    return x.untyped_storage()._cdata == y.untyped_storage()._cdata and x.data_ptr() != y.data_ptr()


def my_add(x):
    return torch.ops.npu.my_add(x, x)


def sum_of(x):
    return x.sum().item()


def identity(x):
    return x


def sentence_of_resize(x):
    try:
        x.resize_(100)
    except RuntimeError as error:
        return str(error)
    return "no error"


def use_both_strategies(x):
    before = mp.get_sharing_strategy()
    mp.set_sharing_strategy("file_system")
    try:
        y = ForkingPickler.loads(ForkingPickler.dumps(x))
        return y.tolist(), y.data_ptr() == x.data_ptr()
    finally:
        mp.set_sharing_strategy(before)


def resources():
    gc.collect()
    with open("/proc/self/maps") as maps:
        mappings = sum("/torch_" in line for line in maps)
    return len(os.listdir("/proc/self/fd")), mappings, torch.npu.memory_allocated(0), torch.npu.memory_allocated(1)


def take_and_give(queue, pipe):
    """Sends back by pipe what comes by queue, until None comes."""
    for x in iter(queue.get, None):
        pipe.send(x)


class SharingTest(unittest.TestCase):
    """The other process is started by spawn, once: it takes seconds to import torch."""

    @classmethod
    def setUpClass(cls):
        cls.pool = mp.get_context("spawn").Pool(1)
        cls.addClassCleanup(cls.pool.terminate)

    def there(self, function, *arguments):
        return self.pool.apply_async(function, arguments).get(timeout=300)

    def test_views_parameters_dtypes_and_devices_arrive_as_they_are(self):
        base = torch.arange(24.0, device="npu")
        for x in (
            base,
            base[5:],
            base[::2],
            base.view(4, 6).t(),
            base.view(4, 6)[1:, 2:4],
            base.clone().requires_grad_(),
            torch.nn.Parameter(torch.ones(3, device="npu")),
            torch.nn.Parameter(torch.ones(3, device="npu"), requires_grad=False),
            torch.ones(2, dtype=torch.bfloat16, device="npu:1"),
            torch.tensor([1 + 2j], device="npu"),
            torch.tensor(True, device="npu"),
            torch.ones(0, 3, device="npu:1"),
        ):
            with self.subTest(x=x):
                self.assertEqual(self.there(describe, x), describe(x))

    def test_sparse_tensors_and_modules_arrive(self):
        dense = torch.tensor([[0.0, 2.0], [0.0, 0.0]], device="npu")
        self.assertEqual(self.there(sum_of, dense.to_sparse()), 2)
        layer = torch.nn.Linear(2, 2).npu()
        copy = self.there(identity, layer)
        self.assertTrue(torch.equal(copy.weight, layer.weight))
        self.assertEqual(copy.weight.data_ptr(), layer.weight.data_ptr())

    def test_a_write_is_seen_on_the_other_side(self):
        x = torch.zeros(3, device="npu")
        self.there(hold, "x", x)
        x.add_(4)
        self.assertEqual(self.there(call, sum_of, "x"), 12)
        self.there(call, add_one, "x")
        self.assertEqual(x.tolist(), [5.0, 5.0, 5.0])
        self.there(drop, "x")

    def test_tensors_of_one_storage_that_come_one_by_one_share_it(self):
        x = torch.arange(6.0, device="npu")
        self.there(hold, "x", x)
        self.there(hold, "tail", x[2:])
        self.assertTrue(self.there(is_of_one_storage, "x", "tail"))
        mine = self.there(call, identity, "tail")
        self.assertEqual(mine.untyped_storage()._cdata, x.untyped_storage()._cdata)
        self.there(drop, "x")
        self.there(drop, "tail")

    def test_memory_lives_until_the_last_process_drops_it(self):
        self.there(hold, "x", torch.full((1000,), 2.0, device="npu"))
        gc.collect()
        theirs = self.there(call, identity, "x")
        self.assertEqual(self.there(call, sum_of, "x"), 2000)
        self.there(drop, "x")
        self.assertEqual(theirs.sum().item(), 2000)

    def test_queued_kernels_run_before_their_result_is_sent(self):
        x = torch.ones(20, 2048, dtype=torch.half, device="npu")
        for stream in (torch.npu.default_stream(), torch.npu.Stream()):
            with torch.npu.stream(stream):
                y = my_add(my_add(x))
                self.assertEqual(self.there(my_add, y).tolist(), [[8.0] * 2048] * 20)
                y.add_(1)  # has moved, and is queued for again
                self.assertEqual(self.there(sum_of, my_add(y).float()), 10 * 20 * 2048)

    def test_launch_holds_shared_memory_whose_tensor_is_gone(self):
        x = torch.ones(64, 2048, device="npu")
        x.share_memory_()
        y = my_add(x)
        del x
        self.assertEqual(y.sum().item(), 2 * 64 * 2048)

    def test_shared_storage_is_not_resized(self):
        expected = "npu: expected a storage that can be resized, got a fixed one of 8 bytes"
        x = torch.ones(2, device="npu")
        self.assertIn(expected, self.there(sentence_of_resize, x))
        self.assertIn(expected, sentence_of_resize(x))
        with self.assertWarns(UserWarning), self.assertRaisesRegex(RuntimeError, "resize"):
            torch.cat([x + 1, x + 1], out=x)
        self.assertEqual(x.tolist(), [1.0, 1.0])

    def test_share_memory_moves_at_once(self):
        x = torch.arange(4.0, device="npu")
        before = x.data_ptr()
        self.assertIs(x.share_memory_(), x)
        moved = x.data_ptr()
        self.assertNotEqual(moved, before)
        self.assertEqual(self.there(sum_of, x.share_memory_()), 6)
        self.assertEqual((x.data_ptr(), x.tolist()), (moved, [0.0, 1.0, 2.0, 3.0]))
        self.assertEqual(torch.ones(0, device="npu").share_memory_().numel(), 0)

    def test_both_sharing_strategies_serve_one_after_the_other(self):
        x = torch.arange(3.0, device="npu")
        self.assertEqual(self.there(sum_of, x), 3)
        self.assertEqual(use_both_strategies(x), ([0.0, 1.0, 2.0], True))
        self.assertEqual(self.there(use_both_strategies, x), ([0.0, 1.0, 2.0], True))
        self.assertEqual(self.there(sum_of, x), 3)

    def test_nothing_is_left_over(self):
        def exchange():
            for device in ("npu:0", "npu:1"):
                x = torch.ones(1000, device=device)
                self.assertEqual(self.there(identity, x).data_ptr(), x.data_ptr())

        def all_resources():
            # The other's first: threads of the pool hold what they handed on last until they hand on something else.
            theirs = self.there(resources)
            return resources(), theirs

        exchange()
        before = all_resources()
        for _ in range(20):
            exchange()
        self.assertEqual(all_resources(), before)

    def test_memory_that_is_shared_counts_as_freed(self):
        before = torch.npu.memory_allocated()
        x = torch.ones(1 << 20, device="npu")
        self.assertGreater(torch.npu.memory_allocated(), before)
        self.there(sum_of, x)
        self.assertEqual(torch.npu.memory_allocated(), before)
        del x
        self.assertEqual(torch.npu.memory_allocated(), before)

    def test_addresses_in_shared_memory_are_known(self):
        x = torch.ones(2, device="npu").share_memory_()
        self.assertEqual(torch.from_dlpack(x).data_ptr(), x.data_ptr())
        self.assertEqual(x.numpy(force=True).tolist(), [1.0, 1.0])

    def test_index_of_a_device_that_is_not_there_gets_a_sentence(self):
        with self.assertRaisesRegex(RuntimeError, r"expected a device index in \[0, \d+\), got 99"):
            npu_backend._sharing._rebuild(torch.UntypedStorage._new_shared(8), 99)

    def test_files_hold_copies(self):
        x = torch.ones(2, device="npu").share_memory_()
        y = pickle.loads(pickle.dumps(x))
        y.add_(1)
        self.assertEqual((x.tolist(), y.tolist(), y.device), ([1.0, 1.0], [2.0, 2.0], x.device))


class StartTest(unittest.TestCase):
    def test_queues_and_pipes_carry_tensors_under_forkserver(self):
        context = mp.get_context("forkserver")
        queue = context.Queue()
        here, there = context.Pipe()
        process = context.Process(target=take_and_give, args=(queue, there))
        process.start()
        x = torch.arange(8.0, device="npu")
        try:
            for y in (x, x[4:], x[::2], x.cpu()):
                queue.put(y)
                self.assertTrue(here.poll(300))
                self.assertEqual(describe(here.recv()), describe(y))
        finally:
            queue.put(None)
            process.join(300)
        self.assertEqual(process.exitcode, 0)

    def test_workers_of_a_loader_send_tensors_unless_they_were_forked_after_the_first_use(self):
        code = """
import npu_backend, torch
from torch.utils.data import DataLoader

class Data(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, index): return torch.full((2,), float(index), device="npu")

def epoch():
    return [(batch + 1).tolist() for batch in DataLoader(Data(), 2, num_workers=1)]

print(epoch())
torch.ones(1, device="npu")
try:
    epoch()
except RuntimeError as error:
    print("got its forked child" in str(error))
"""
        self.assertEqual(output_of(code), "[[[1.0, 1.0], [2.0, 2.0]], [[3.0, 3.0], [4.0, 4.0]]]\nTrue\n")


class LockTest(unittest.TestCase):
    """Who drops shared memory waits for no lock whose holder may wait for it."""

    def test_a_queue_drops_memory_while_another_thread_waits_for_it_with_the_interpreters_lock(self):
        code = """
import faulthandler, gc, os, op_extension, npu_backend, torch

faulthandler.dump_traceback_later(200, exit=True)

def mappings():
    gc.collect()
    with open("/proc/self/maps") as maps:
        return sum("/torch_" in line for line in maps)

for foreign in (False, True):
    for _ in range(10):
        x = torch.ones(64, 2048, device="npu")
        x = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)) if foreign else x.share_memory_()
        y = torch.ops.npu.my_add(torch.ops.npu.my_add(x, x), x)
        del x
        torch.npu.current_stream().query()  # a thread of its own runs the queue from here on
        torch.UntypedStorage(y.untyped_storage().nbytes()).copy_(y.untyped_storage())
        torch.npu.synchronize()
    print(y.unique().tolist(), mappings())
"""
        self.assertEqual(output_of(code), "[3.0] 0\n[3.0] 0\n")

    def test_one_thread_adopts_what_python_alone_owns_while_another_drops(self):
        code = """
import faulthandler, threading, npu_backend, torch

faulthandler.dump_traceback_later(200, exit=True)
adopt, shared = torch.ops.npu_backend.adopt_shared_memory, torch.UntypedStorage._new_shared
memory = shared(64)
owner = adopt(memory, 0)
stop = threading.Event()

def drop():
    while not stop.is_set():
        storages = [adopt(shared(8), 0) for _ in range(20)]
        while storages:
            del storages[-1]
            sum(range(20))  # so that the interpreter changes threads between two drops

thread = threading.Thread(target=drop)
thread.start()
same = all([adopt(memory, 0)._cdata == owner._cdata for _ in range(10000)])
stop.set()
thread.join()
print(same)
"""
        self.assertEqual(output_of(code), "True\n")
