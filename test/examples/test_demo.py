# SPDX-License-Identifier: Apache-2.0
"""The demo learns, as well on npu as on cpu, and its sums run as launches of the tile kernels."""

import contextlib
import io
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from examples.demo import TEST_EVERY, Digits, ResidualNet, main

ROOT = Path(__file__).resolve().parents[2]


class DemoTest(unittest.TestCase):
    """``python examples/demo.py``."""

    def test_learns_and_counts_its_launches(self) -> None:
        epochs, batch_size = 8, 32
        command = [sys.executable, "examples/demo.py", f"--epochs={epochs}", f"--batch-size={batch_size}"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

        accuracy = re.search(r"accuracy: (0\.\d+|1\.0+) on npu, (0\.\d+|1\.0+) on cpu", run.stdout)
        self.assertIsNotNone(accuracy, run.stdout)
        npu, cpu = map(float, accuracy.groups())
        self.assertGreaterEqual(npu, 0.95)
        self.assertLessEqual(abs(npu - cpu), 0.02)

        launches = re.search(r"launches of the tile kernels: (\d+) forward, (\d+) backward", run.stdout)
        self.assertIsNotNone(launches, run.stdout)
        steps = epochs * -(-len(Digits().train_y) // batch_size)
        forward = ResidualNet.ADDS * (steps + epochs)  # each step, and the test images once an epoch
        self.assertEqual(tuple(map(int, launches.groups())), (forward, steps))

    def test_names_a_number_that_is_too_small(self) -> None:
        for option in ("--epochs=0", "--batch-size=-1"):
            with self.subTest(option), contextlib.redirect_stderr(io.StringIO()) as said:
                with mock.patch.object(sys, "argv", ["demo.py", option]), self.assertRaises(SystemExit):
                    main()
                self.assertRegex(said.getvalue(), r"expected a number of at least 1, got (0|-1)\n")

    def test_keeps_test_images_out_of_training(self) -> None:
        digits = Digits()
        self.assertEqual(len(digits.test_y), -(-1797 // TEST_EVERY))
        self.assertEqual(len(digits.train_y) + len(digits.test_y), 1797)


if __name__ == "__main__":
    unittest.main()
