# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a long kernel, wherever the program waits for it."""

import os
import signal
import threading
import time
import unittest
from collections.abc import Callable

import torch

import op_extension  # noqa: F401  (registers the operators)

WAYS: dict[str, Callable[[torch.Tensor], object]] = {
    "synchronize": lambda y: torch.npu.synchronize(),
    "cpu": lambda y: y.cpu(),
    "item": lambda y: y.sum().item(),
}


def long_sum() -> torch.Tensor:
    """Launches a kernel of more than 10 s: a sum over very many views of one element."""
    return torch.ops.npu.sum_to(torch.ones(1, device="npu").expand(10**12), (1,))


class InterruptTest(unittest.TestCase):
    """SIGINT while a kernel runs."""

    def setUp(self) -> None:
        # A program that was started in the background ignores the signal.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))

    def interrupt(self, wait: Callable[[torch.Tensor], object]) -> float:
        """Seconds from the signal to the KeyboardInterrupt."""
        y = long_sum()
        sent = []

        def send() -> None:
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.3, send)
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                wait(y)
            return time.monotonic() - sent[0]
        finally:
            timer.join()

    def test_raises_within_a_second_and_the_next_launch_works(self) -> None:
        for name, wait in WAYS.items():
            with self.subTest(name):
                self.assertLess(self.interrupt(wait), 1.0)
                x = torch.ones(1000, device="npu")
                self.assertEqual(torch.ops.npu.my_add(x, x).sum().item(), 2000.0)

    def test_of_a_launch_that_makes_room_drops_nothing_that_is_launched_later(self) -> None:
        x = torch.ones(1000, device="npu")

        def fill(y: torch.Tensor) -> None:
            for _ in range(1100):  # more than a queue holds
                torch.ops.npu.my_add(x, x)

        self.assertLess(self.interrupt(fill), 1.0)
        z = torch.ops.npu.my_add(x, x)
        self.assertEqual(z.cpu().tolist(), [2.0] * 1000)

    def test_raises_while_the_kernel_runs_in_the_background(self) -> None:
        def wait(y: torch.Tensor) -> None:
            self.assertFalse(torch.npu.current_stream().query())
            torch.npu.synchronize()

        self.assertLess(self.interrupt(wait), 1.0)
        x = torch.ones(10, device="npu")
        self.assertEqual(torch.ops.npu.my_add(x, x).sum().item(), 20.0)

    def test_ends_a_polling_loop(self) -> None:
        def wait(y: torch.Tensor) -> None:
            while not torch.npu.current_stream().query():
                pass

        self.assertLess(self.interrupt(wait), 1.0)
        with self.assertRaises(KeyboardInterrupt):
            # The kernel goes on until somebody waits for it; a second signal ends it.
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            torch.npu.synchronize()
        self.assertEqual(torch.ones(2, device="npu").sum().item(), 2.0)


if __name__ == "__main__":
    unittest.main()
