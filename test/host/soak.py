# SPDX-License-Identifier: Apache-2.0
"""Many operations in several threads, each with a stream of its own: do results and memory stay right?

Run as a program it prints what it saw as JSON. Each tensor holds ``first + step * arange(n)`` with integers small
enough to be exact, so that what it should hold is known without a second computation, and no two tensors that overlap
by mistake agree.
"""

import argparse
import collections
import ctypes
import gc
import json
import os
import queue
import random
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch

import op_extension  # noqa: F401  (registers my_add)

SLOTS = 24  # tensors that a thread keeps at most
LARGEST = 2**20  # elements
BOUND = 2**22  # values stay below it: float32 is exact up to 2**24


@dataclass(eq=False)
class Held:
    """A tensor on npu and what it should hold."""

    tensor: torch.Tensor
    first: int
    step: int

    def expected(self):
        """The values, on CPU."""
        return self.first + self.step * torch.arange(self.tensor.numel(), dtype=self.tensor.dtype)

    def check(self, values):
        """Raises when values, a CPU tensor, are others."""
        if not torch.equal(values, self.expected()):
            raise AssertionError(f"expected {self.first} + {self.step} * arange, got {values}")


@dataclass
class Worker:
    """One thread: a stream, tensors, and a source of random numbers."""

    index: int
    mailboxes: list
    held: list = field(default_factory=list)
    done: collections.Counter = field(default_factory=collections.Counter)

    def __post_init__(self):
        self.random = random.Random(self.index)
        self.stream = torch.npu.Stream()
        self.steps = [
            *[self.allocate] * 3, *[self.upload] * 2, self.upload_pinned, *[self.free] * 4, self.download,
            self.download_pinned, *[self.add] * 3, *[self.my_add] * 4, self.scale, self.add_in_place, self.clone,
            self.copy, self.through_view, self.reduce, self.send, self.receive, self.refused,
        ]  # fmt: skip

    def run(self, operations):
        """Does operations of them, then checks and drops all tensors."""
        with torch.npu.stream(self.stream):
            for _ in range(operations):
                step = self.random.choice(self.steps)
                step()
                self.done[step.__name__] += 1
            while self.held:
                self.free()

    def empty_mailbox(self):
        """Takes what others sent last."""
        with torch.npu.stream(self.stream):
            while not self.mailboxes[self.index].empty():
                self.receive()
            while self.held:
                self.free()
            self.stream.synchronize()

    # --- what a step uses ---

    def keep(self, tensor, first, step):
        if abs(first) + abs(step) * tensor.numel() >= BOUND:
            tensor = torch.zeros_like(tensor)
            first = step = 0
        if len(self.held) == SLOTS:
            self.free()
        self.held.append(Held(tensor, first, step))

    def one(self):
        if not self.held:
            self.allocate()
        return self.random.choice(self.held)

    def pair(self):
        """Two of one size and dtype; the second is the first where there is no other."""
        a = self.one()
        same = [b for b in self.held if (b.tensor.shape, b.tensor.dtype) == (a.tensor.shape, a.tensor.dtype)]
        return a, self.random.choice(same)

    def new_values(self):
        """Of a few sizes often, so that pairs are found, and of any size else."""
        often = self.random.random() < 0.7
        size = self.random.choice((3, 1000, 40_000)) if often else int(LARGEST ** self.random.random())
        dtype = self.random.choice((torch.float32, torch.int32))
        first, step = self.random.randint(-99, 99), self.random.randint(-3, 3)
        return size, dtype, first, step if abs(step) * size < BOUND // 2 else 0

    # --- the steps ---

    def allocate(self):
        size, dtype, first, step = self.new_values()
        if step:
            values = torch.arange(size, device="npu", dtype=dtype).mul_(step).add_(first)
        else:
            values = torch.empty(size, device="npu", dtype=dtype).fill_(first)
        self.keep(values, first, step)

    def upload(self):
        size, dtype, first, step = self.new_values()
        self.keep((first + step * torch.arange(size, dtype=dtype)).npu(), first, step)

    def upload_pinned(self):
        size, dtype, first, step = self.new_values()
        pinned = (first + step * torch.arange(size, dtype=dtype)).pin_memory()
        self.keep(pinned.to("npu", non_blocking=True), first, step)

    def free(self):
        if self.held:
            held = self.held.pop(self.random.randrange(len(self.held)))
            if self.random.random() < 0.5:  # the rest goes while work on it is pending
                held.check(held.tensor.cpu())

    def download(self):
        held = self.one()
        held.check(held.tensor.to("cpu"))

    def download_pinned(self):
        held = self.one()
        pinned = torch.empty(held.tensor.shape, dtype=held.tensor.dtype, pin_memory=True)
        pinned.copy_(held.tensor, non_blocking=True)
        self.stream.synchronize()
        held.check(pinned)

    def add(self):
        a, b = self.pair()
        self.keep(a.tensor + b.tensor, a.first + b.first, a.step + b.step)

    def my_add(self):
        a, b = self.pair()
        self.keep(torch.ops.npu.my_add(a.tensor, b.tensor), a.first + b.first, a.step + b.step)

    def scale(self):
        held = self.one()
        self.keep(held.tensor * -2, held.first * -2, held.step * -2)

    def add_in_place(self):
        held = self.one()
        held.tensor.add_(1)
        held.first += 1

    def clone(self):
        held = self.one()
        self.keep(held.tensor.clone(), held.first, held.step)

    def copy(self):
        a, b = self.pair()
        a.tensor.copy_(b.tensor)
        a.first, a.step = b.first, b.step

    def through_view(self):
        held = self.one()
        view = held.tensor[: held.tensor.numel() // 2]
        view += 5
        view -= 5

    def reduce(self):
        held = self.one()
        ends = held.tensor[[0, -1]].tolist()
        if ends != [held.first, held.first + held.step * (held.tensor.numel() - 1)]:
            raise AssertionError(f"expected ends of {held.first} + {held.step} * arange, got {ends}")

    def send(self):
        """A tensor goes to another thread and its stream, perhaps before the work on it has run."""
        held = self.one()
        self.held.remove(held)
        self.mailboxes[self.random.randrange(len(self.mailboxes))].put((held, self.stream.record_event()))

    def receive(self):
        try:
            held, event = self.mailboxes[self.index].get_nowait()
        except queue.Empty:
            return
        self.stream.wait_event(event)
        held.tensor.record_stream(self.stream)
        self.keep(held.tensor, held.first, held.step)

    def refused(self):
        """An error leaves everything as it was."""
        held = self.one()
        # The first empties the cache: seldom.
        wrong = self.random.choice((self.too_much, *[self.other_shape, self.other_dtype] * 20))
        try:
            wrong(held.tensor)
        except (RuntimeError, TypeError):
            return
        raise AssertionError(f"expected an error from {wrong.__name__}, got none")

    @staticmethod
    def too_much(_):
        torch.empty(2**50, device="npu")

    @staticmethod
    def other_shape(tensor):
        tensor.unsqueeze(0) @ torch.ones(tensor.numel() + 1, 1, dtype=tensor.dtype, device="npu")

    @staticmethod
    def other_dtype(tensor):
        torch.ops.npu.my_add(tensor, torch.ones(1, dtype=torch.int8, device="npu"))


def resident_bytes_without_caches():
    """Of this process, once the caches of the device and of the C library have given back what nobody uses."""
    torch.npu.empty_cache()
    torch.npu.host_empty_cache()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def in_threads(functions):
    """Calls all at once; raises the first error of one."""
    errors = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def soak(operations, threads, phases):
    """Bytes that were allocated, reserved and resident after each phase, when no tensor was left; counts and time."""
    mailboxes = [queue.SimpleQueue() for _ in range(threads)]
    workers = [Worker(index, mailboxes) for index in range(threads)]
    report = {"allocated": [], "reserved": [], "resident": []}
    start = time.monotonic()
    for _ in range(phases):
        in_threads([lambda w=worker: w.run(operations // phases // threads) for worker in workers])
        for worker in workers:
            worker.empty_mailbox()
        torch.npu.synchronize()
        gc.collect()
        report["allocated"].append(torch.npu.memory_allocated())
        report["reserved"].append(torch.npu.memory_reserved())
        report["resident"].append(resident_bytes_without_caches())
    report["operations"] = dict(sum((worker.done for worker in workers), collections.Counter()))
    report["seconds"] = time.monotonic() - start
    return report


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--operations", type=int, default=500_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--phases", type=int, default=10)
    options = parser.parse_args()
    print(json.dumps(soak(options.operations, options.threads, options.phases)))
