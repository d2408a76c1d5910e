# SPDX-License-Identifier: Apache-2.0
"""Devices, streams and events of torch.npu inside a compiled graph, and the backend named npu."""

import subprocess
import sys
import unittest

import torch
from torch.testing import assert_close

import npu_backend  # noqa: F401

BACKENDS = ("eager", "aot_eager", "npu")
FROM_OUTSIDE = torch.npu.Stream()


def on_a_stream_of_its_own(x):
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        y = x + 1
    torch.npu.current_stream().wait_stream(stream)
    return y * 2


def on_a_stream_from_outside(x):
    with torch.npu.stream(FROM_OUTSIDE):
        y = x + 1
    torch.npu.current_stream("npu:0").wait_stream(FROM_OUTSIDE)
    return y * 2


def on_no_stream(x):
    with torch.npu.stream(None):
        return (x + 1) * 2


def with_an_event(x):
    event = torch.npu.Event()
    event.record()
    y = x + 1
    event.wait(torch.npu.current_stream())
    return y * 2


def with_waits(x):
    y = x + 1
    torch.npu.synchronize()
    torch.npu.synchronize("npu:0")
    return y * 2


def on_a_device(x):
    with torch.npu.device("npu:0"):
        return (x + 1) * 2


def with_facts_of_the_device(x):
    known = torch.npu.is_available() and torch.npu.get_device_name() and torch.npu.is_bf16_supported()
    return (x + 1) * (2 if known and torch.npu.device_count() > 0 else 1)


def on_the_current_device(x):
    return torch.full((4,), 2.0, device=f"npu:{torch.npu.current_device()}") * (x + 1)


FUNCTIONS = (
    on_a_stream_of_its_own,
    on_a_stream_from_outside,
    on_no_stream,
    with_an_event,
    with_waits,
    on_a_device,
    with_facts_of_the_device,
    on_the_current_device,
)


class CompileStreamsTest(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        self.addCleanup(torch._dynamo.reset)

    def test_calls_of_torch_npu_leave_one_graph(self):
        x = torch.tensor([-1.0, 2, 3, -4], device="npu")
        for function in FUNCTIONS:
            for backend in BACKENDS:
                with self.subTest(function=function.__name__, backend=backend):
                    y = torch.compile(function, backend=backend, fullgraph=True)(x)
                    assert_close(y.cpu(), (x.cpu() + 1) * 2, rtol=0, atol=0)

    def test_another_current_device_makes_another_graph(self):
        def zeros():
            return torch.zeros(2, device=f"npu:{torch.npu.current_device()}")

        compiled = torch.compile(zeros, backend="npu", fullgraph=True)
        self.assertEqual(compiled().device, torch.device("npu", 0))
        with torch.npu.device(1):
            self.assertEqual(compiled().device, torch.device("npu", 1))

    def test_the_backend_npu_is_known_and_trains(self):
        self.assertIn("npu", torch._dynamo.list_backends())
        results = []
        for function in (torch.nn.functional.gelu, torch.compile(torch.nn.functional.gelu, backend="npu")):
            x = torch.linspace(-2, 2, 9, device="npu", requires_grad=True)
            function(x).sum().backward()
            results.append(x.grad)
        assert_close(results[1], results[0], rtol=0, atol=0)

    def test_the_interface_of_the_device_answers(self):
        from torch._dynamo.device_interface import DeviceGuard, get_interface_for_device

        interface = get_interface_for_device(torch.device("npu"))
        self.assertIs(get_interface_for_device("npu:1"), interface)
        self.assertEqual(interface.device_count(), torch.npu.device_count())
        with DeviceGuard(interface, 1):
            self.assertEqual(interface.current_device(), 1)
        self.assertEqual(interface.current_device(), 0)
        self.assertEqual(interface.get_raw_stream(0), torch.npu.current_stream().npu_stream)
        self.addCleanup(torch.npu.set_stream, torch.npu.current_stream())
        interface._set_stream_by_id(FROM_OUTSIDE.stream_id, FROM_OUTSIDE.device_index, FROM_OUTSIDE.device_type)
        self.assertEqual(interface.current_stream(), FROM_OUTSIDE)
        self.assertEqual(interface.get_device_properties(0).name, torch.npu.get_device_name(0))
        self.assertTrue(interface.is_dtype_supported(torch.bfloat16))
        with self.assertRaises(RuntimeError):
            interface.raise_if_triton_unavailable()

    def test_the_compiler_is_told_whoever_comes_first(self):
        ask = (
            "import importlib.util, sys, npu_backend; importlib.util.find_spec('torch._dynamo'); "
            "print('torch._dynamo' in sys.modules); from torch._dynamo import device_interface; "
            "print(device_interface.get_interface_for_device('npu').device_count())"
        )
        for before, is_there in (("", False), ("import torch._dynamo; ", True)):
            with self.subTest(before=before):
                command = [sys.executable, "-c", before + ask]
                output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                self.assertEqual(output.split(), [str(is_there), str(torch.npu.device_count())])


if __name__ == "__main__":
    unittest.main()
