# SPDX-License-Identifier: Apache-2.0
import unittest

import torch
from torch.autograd.profiler import profile

import npu_backend  # noqa: F401


class ProfilerTest(unittest.TestCase):
    def test_operators_have_times_on_cpu_and_on_the_device(self):
        with profile(use_device="npu") as profiler:
            x = torch.ones(300, 300, device="npu")
            (x @ x).sum().item()
        products = [event for event in profiler.function_events if event.name == "aten::mm"]
        self.assertGreater(len(products), 0)  # one for each dispatch of the operator
        for product in products:
            self.assertGreater(product.cpu_time_total, 0)
            self.assertGreater(product.device_time_total, 0)
        self.assertGreaterEqual(min(event.cpu_time_total for event in profiler.key_averages()), 0)
        self.assertIn("aten::mm", profiler.key_averages().table(row_limit=10))

    def test_operators_of_the_device_appear_without_naming_it(self):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
            torch.ones(4, device="npu").add_(1)
        self.assertIn("aten::add_", {event.key for event in profiler.key_averages()})


if __name__ == "__main__":
    unittest.main()
