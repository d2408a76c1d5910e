# SPDX-License-Identifier: Apache-2.0
"""Work on a stream that takes a known time, put there through the C interface of the runtime."""

import ctypes
import time

import torch

import npu_backend

_HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def runtime():
    """libnpu_runtime.so of the package under test."""
    return ctypes.CDLL(str(npu_backend._boot._library.library_path().parent / "libnpu_runtime.so"))


class Queue:
    """Adds functions that sleep, then count."""

    def __init__(self):
        self.done = 0
        self._functions = []

    def add(self, count, milliseconds=1, stream=None):
        """Queues count functions on stream, the current one when None."""
        stream = stream or torch.npu.current_stream()

        def work(_):
            time.sleep(milliseconds / 1000)  # the work: all it does is take time
            self.done += 1

        function = _HOST_FUNCTION(work)
        self._functions.append(function)
        for _ in range(count):
            error = runtime().npuLaunchHostFunction(ctypes.c_void_p(stream.npu_stream), function, None)
            assert error == 0, error
