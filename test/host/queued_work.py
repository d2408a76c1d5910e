# SPDX-License-Identifier: Apache-2.0
"""Work on a stream that takes a known time, put there through the C interface of the runtime."""

import ctypes
import threading
import time

import torch

import npu_backend

_HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def runtime():
    """libnpu_runtime.so of the package under test."""
    return ctypes.CDLL(str(npu_backend._boot._library.library_path().parent / "libnpu_runtime.so"))


class Queue:
    """Adds functions that take time, then count."""

    def __init__(self, on_done=None):
        self.done = 0
        self._functions = []
        self._on_done = on_done or (lambda label: None)

    def add(self, count, milliseconds=1, stream=None, label=None):
        """Queues count functions on stream, the current one when None; each ends with on_done(label)."""

        def work():
            time.sleep(milliseconds / 1000)  # the work: all it does is take time
            self.done += 1
            self._on_done(label)

        for _ in range(count):
            self._enqueue(work, stream)

    def add_gate(self, stream=None):
        """Queues a function that ends when the event that is returned is set."""
        gate = threading.Event()

        def work():
            gate.wait(timeout=60)
            self.done += 1

        self._enqueue(work, stream)
        return gate

    def _enqueue(self, work, stream):
        function = _HOST_FUNCTION(lambda _: work())
        self._functions.append(function)
        stream = stream or torch.npu.current_stream()
        error = runtime().npuLaunchHostFunction(ctypes.c_void_p(stream.npu_stream), function, None)
        assert error == 0, error
