# SPDX-License-Identifier: Apache-2.0
"""Signals, forks and processes that load the library in unusual ways: trials 25 and 29, with test_namespace.py."""

import shutil
import tempfile
import unittest
from pathlib import Path

import torch

import npu_backend
from test.host.python_process import PACKAGES, output_of, run_python

LIBRARY = npu_backend._boot._library.library_path()

INTERRUPT = """
import ctypes, os, signal, sys, threading, time
import npu_backend, torch
runtime = ctypes.CDLL({runtime!r})
usleep = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p)
x = torch.ones(3, device="npu")

def queue():  # ten seconds of work
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    for _ in range(1000):
        assert runtime.npuLaunchHostFunction(stream, usleep, ctypes.c_void_p(10000)) == 0

def interrupt():
    time.sleep(0.3)  # by then the main thread waits for the work
    os.kill(os.getpid(), {signal})

{handler}
queue()
threading.Thread(target=interrupt).start()
start = time.monotonic()
try:
    {wait}
    print("no exception")
except {exception} as error:
    print(type(error).__name__, time.monotonic() - start < 3)
print((x + 1).tolist())
"""


# A program that was started in the background ignores the signal, and so do those that it starts.
LISTEN = "signal.signal(signal.SIGINT, signal.default_int_handler)"


def interrupt_code(wait, exception="KeyboardInterrupt", signal="signal.SIGINT", handler=LISTEN):
    runtime = str(LIBRARY.parent / "libnpu_runtime.so")
    return INTERRUPT.format(wait=wait, exception=exception, signal=signal, handler=handler, runtime=runtime)


class InterruptTest(unittest.TestCase):
    def test_ctrl_c_raises_at_once_wherever_python_waits(self):
        for wait in (
            "torch.npu.synchronize()",
            "x.cpu()",
            "x.sum().item()",
            "x.data_ptr()",
            "torch.npu.current_stream().synchronize()",
            "torch.npu.current_stream().record_event().synchronize()",
        ):
            with self.subTest(wait=wait):
                self.assertEqual(output_of(interrupt_code(wait)), "KeyboardInterrupt True\n[2.0, 2.0, 2.0]\n")

    def test_exception_of_another_signal_handler_is_raised(self):
        handler = "def handle(*_): raise TimeoutError\nsignal.signal(signal.SIGUSR1, handle)"
        code = interrupt_code("torch.npu.synchronize()", "TimeoutError", "signal.SIGUSR1", handler)
        self.assertEqual(output_of(code), "TimeoutError True\n[2.0, 2.0, 2.0]\n")


class ForkTest(unittest.TestCase):
    def test_child_gets_a_sentence_and_the_parent_stays_whole(self):
        code = """
import os, npu_backend, torch
x = torch.ones(2, device="npu")
pid = os.fork()
if pid == 0:
    good = torch.npu._is_in_bad_fork()
    for use in (lambda: torch.ones(2, device="npu"), lambda: x + 1, x.cpu, torch.npu.synchronize, torch.npu.Stream):
        try:
            use()
            good = False
        except RuntimeError as error:
            good = good and "spawn" in str(error)
    torch.manual_seed(0)
    del x
    os._exit(3 if good and torch.ones(2).sum() == 2 else 4)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), (x + 1).tolist(), torch.npu._is_in_bad_fork())
"""
        self.assertEqual(output_of(code).strip(), "3 [2.0, 2.0] False")

    def test_child_of_a_process_that_has_set_a_device_knows_that_it_is_one(self):
        code = """
import os, npu_backend, torch
torch.npu.set_device(1)
pid = os.fork()
if pid == 0:
    sentences = []
    for use in (torch.npu.init, lambda: torch.ones(2, device="npu")):
        try:
            use()
        except RuntimeError as error:
            sentences.append("got its forked child" in str(error) and "spawn" in str(error))
    os._exit(3 if torch.npu._is_in_bad_fork() and sentences == [True, True] else 4)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), torch.npu.is_initialized(), torch.npu._is_in_bad_fork())
"""
        self.assertEqual(output_of(code).strip(), "3 True False")

    def test_child_forked_before_the_first_use_may_use_the_device(self):
        code = """
import os, npu_backend, torch
assert torch.npu.is_available()
pid = os.fork()
if pid == 0:
    os._exit(int((torch.ones(2, device="npu") + 1).sum().item()))
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
        self.assertEqual(output_of(code).strip(), "4")

    def test_workers_of_a_loader_use_cpu_tensors(self):
        code = """
import npu_backend, torch
from torch.utils.data import DataLoader, TensorDataset
x = torch.ones(2, device="npu")
loader = DataLoader(TensorDataset(torch.arange(8.0)), 2, num_workers=2)
print([(batch.npu() * 2).sum().item() for (batch,) in loader], torch.manual_seed(1) is not None)
"""
        self.assertEqual(output_of(code).strip(), "[2.0, 10.0, 18.0, 26.0] True")


class SecondCopyTest(unittest.TestCase):
    def test_second_copy_of_the_library_is_one_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "npu_backend")
            shutil.copytree(PACKAGES / "npu_backend", copy)
            code = f"""
import sys, warnings
import npu_backend, torch
for name in [name for name in sys.modules if name.split(".")[0] == "npu_backend"]:
    del sys.modules[name]
sys.path.insert(0, {folder!r})
warnings.simplefilter("ignore")
try:
    import npu_backend
except ImportError as error:
    print(error)
print((torch.ones(2, device="npu") + 1).tolist())
"""
            lines = output_of(code).splitlines()
        self.assertIn("another copy of this library", lines[0])
        self.assertEqual(lines[1:], ["[2.0, 2.0]"])

    def test_bare_load_of_a_second_copy_warns(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy2(LIBRARY, Path(folder, LIBRARY.name))
            code = (
                f"import npu_backend, torch\ntorch.ops.load_library({str(copy)!r})\nprint(torch.ones(2, device='npu'))"
            )
            libraries = f"{LIBRARY.parent}:{Path(torch.__file__).parent / 'lib'}"
            done = run_python(code, LD_LIBRARY_PATH=libraries)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("another copy of this library", done.stderr)

    def test_another_private_device_is_named(self):
        code = """
import torch
torch.utils.rename_privateuse1_backend("toy")
try:
    import npu_backend
except ImportError as error:
    print(error)
"""
        self.assertIn("got one named 'toy'", output_of(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0"))

    def test_library_loaded_before_torch_works_where_the_loader_finds_that(self):
        code = f"""
import ctypes
try:
    ctypes.CDLL({str(LIBRARY)!r})
except OSError as error:
    print("OSError")
else:
    import torch
    print((torch.ones(2, device="npu") + 1).tolist())
"""
        torch_libraries = Path(torch.__file__).parent / "lib"
        found = output_of(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0", LD_LIBRARY_PATH=str(torch_libraries))
        self.assertEqual(found.strip(), "[2.0, 2.0]")
        beside = LIBRARY.parents[2] / "torch" / "lib"  # where the library itself looks
        alone = output_of(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0", LD_LIBRARY_PATH="")
        self.assertEqual(alone.strip(), "[2.0, 2.0]" if beside.is_dir() else "OSError")


if __name__ == "__main__":
    unittest.main()
