# SPDX-License-Identifier: Apache-2.0
"""The end of a process behind a backward pass, which autograd's threads may still be busy with."""

import sys
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import start_python

PASS_AND_END = """
import torch

x = torch.ones(4, device="npu", requires_grad=True)
(x * x).sum().backward()
torch.npu.synchronize()
"""


class EndTest(unittest.TestCase):
    def test_a_process_may_end_right_behind_a_backward_pass(self):
        # Of pairs of such processes two in five aborted before.
        for _ in range(6):
            for end in [start_python(PASS_AND_END) for _ in range(2)]:
                process = end()
                self.assertEqual((process.returncode, process.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
