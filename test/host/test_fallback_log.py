# SPDX-License-Identifier: Apache-2.0
import gc
import sys
import threading
import unittest
from pathlib import Path

import torch

import npu_backend

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import output_of


class FallbackLogTest(unittest.TestCase):
    def test_counts_what_runs_in_the_block(self):
        x = torch.ones(3, 3, device="npu")
        with npu_backend.fallback_log() as log:
            for _ in range(4):
                x.exp()
            torch.mm(x, x)
        x.exp()
        self.assertEqual(dict(log), {"aten::exp": 4, "aten::mm": 1})
        self.assertEqual(list(log), ["aten::exp", "aten::mm"])
        self.assertIn("         4  aten::exp", repr(log))

    def test_counts_from_the_call_until_close(self):
        x = torch.ones(3, device="npu")
        log = npu_backend.fallback_log()
        self.assertEqual(len(log), 0)
        self.assertEqual(repr(log), "no operator ran as a CPU kernel")
        x.exp()
        self.assertEqual(log["aten::exp"], 1)
        x.exp()
        self.assertEqual(log["aten::exp"], 2)
        log.close()
        log.close()
        x.exp()
        self.assertEqual(log["aten::exp"], 2)
        with self.assertRaises(KeyError):
            log["aten::log"]

    def test_operators_on_cpu_views_and_allocations_do_not_count(self):
        x = torch.ones(4, device="npu")
        with npu_backend.fallback_log() as log:
            torch.ones(3).exp()
            torch.empty(3, device="npu")
            x.view(2, 2).cpu()
        self.assertEqual(dict(log), {})

    def test_convolutions_copies_and_backward_threads_count(self):
        layer = torch.nn.Conv2d(1, 2, 3).npu()
        x = torch.ones(1, 1, 5, 5, device="npu")
        with npu_backend.fallback_log() as log:
            layer(x).sum().backward()
            x.half()
        for name in ("aten::convolution", "aten::convolution_backward", "aten::copy_"):
            self.assertGreaterEqual(log[name], 1, name)

    def test_logs_may_overlap_and_count_all_threads(self):
        x = torch.ones(3, device="npu")
        with npu_backend.fallback_log() as outer:
            threads = [threading.Thread(target=lambda: [x.exp() for _ in range(50)]) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            with npu_backend.fallback_log() as inner:
                x.exp()
        self.assertEqual((outer["aten::exp"], inner["aten::exp"]), (201, 1))

    def test_a_lost_log_stops_counting(self):
        x = torch.ones(3, device="npu")
        npu_backend.fallback_log()
        gc.collect()
        with npu_backend.fallback_log() as log:
            before = torch.ops.npu_backend.fallback_log_counts()
        x.exp()
        self.assertEqual(torch.ops.npu_backend.fallback_log_counts(), before)
        self.assertEqual(len(log), 0)

    def test_is_there_when_torch_was_imported_first(self):
        code = (
            "import torch, npu_backend\nwith npu_backend.fallback_log() as log: torch.ones(2).npu().exp()\nprint(log)"
        )
        self.assertIn("aten::exp", output_of(code))


if __name__ == "__main__":
    unittest.main()
