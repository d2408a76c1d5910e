# SPDX-License-Identifier: Apache-2.0
"""The demo learns, as well on npu as on cpu, and its layers run as tile instructions."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import torch

import op_extension
from examples.demo import OURS, SIDE, TEST_EVERY, TORCHS, ConvNet, Digits, accuracy_of_checkpoint, main
from test.op import contract

ROOT = Path(__file__).resolve().parents[2]


class DemoTest(unittest.TestCase):
    """``python examples/demo.py``."""

    def run_demo(self, *options: str) -> tuple[str, Path]:
        """Output of the demo, and the folder that it wrote to."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        command = [sys.executable, "examples/demo.py", f"--output={folder.name}", *options]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500, check=False
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertNotIn("\r", run.stderr)  # no progress bars in a file
        return run.stdout, Path(folder.name)

    def check_accuracy(self, output: str, folder: Path) -> None:
        accuracy = re.search(r"accuracy: (0\.\d+|1\.0+) on npu, (0\.\d+|1\.0+) on cpu", output)
        self.assertIsNotNone(accuracy, output)
        npu, cpu = map(float, accuracy.groups())
        self.assertGreaterEqual(npu, 0.95)
        self.assertLessEqual(abs(npu - cpu), 0.02)
        again = accuracy_of_checkpoint(folder / "digits.pt", Digits())
        self.assertLessEqual(abs(again - npu), 0.01)
        self.assertEqual((folder / "training.png").read_bytes()[1:4], b"PNG")

    def test_learns_and_leaves_a_checkpoint_and_a_picture(self) -> None:
        output, folder = self.run_demo("--epochs=6")
        self.check_accuracy(output, folder)
        executed = re.findall(r"(\d+) (T[A-Z]+)", output)
        self.assertEqual(len(executed), 5)
        self.assertNotIn(0, [int(count) for count, _ in executed])

    def test_learns_with_amp(self) -> None:
        self.check_accuracy(*self.run_demo("--epochs=6", "--amp"))

    def test_each_layer_is_tile_instructions_forward_and_backward(self) -> None:
        torch.manual_seed(0)
        image = torch.randn(4, 1, SIDE, SIDE, device="npu", requires_grad=True)
        weight, bias = (torch.randn(*shape, device="npu", requires_grad=True) for shape in ((3, 1, 3, 3), (3,)))
        matrix, other, row = (torch.randn(*shape, device="npu", requires_grad=True) for shape in ((5, 5), (5, 5), (5,)))
        layers = {
            "conv": (OURS.conv, (image, weight, bias, 2, 1)),
            "relu": (OURS.relu, (image,)),
            "gemm": (OURS.gemm, (matrix, other)),
            "add": (OURS.add, (matrix, row)),
        }
        for name, (layer, arguments) in layers.items():
            with self.subTest(name):
                tensors = [a for a in arguments if isinstance(a, torch.Tensor) and a.is_leaf]
                gradient = torch.ones_like(layer(*arguments))
                with op_extension.check.count_instructions() as counts, contract.Recorder() as recorder:
                    torch.autograd.grad(layer(*arguments), tensors, gradient)
                allowed = (*contract.BELOW, "aten::t", "aten::permute", "aten::transpose", "aten::select")
                self.assertEqual([n for n in recorder.names if not n.startswith(allowed)], [])
                self.assertGreater(counts["TSTORE"].executions, 0)

    def test_nets_of_both_kinds_of_operators_agree(self) -> None:
        torch.manual_seed(0)
        ours, theirs = ConvNet(OURS), ConvNet(TORCHS)
        theirs.load_state_dict(ours.state_dict())
        x = Digits().test_x[:8]
        torch.testing.assert_close(ours.npu()(x.npu()).cpu(), theirs(x), rtol=1e-5, atol=1e-5)

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
