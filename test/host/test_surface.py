# SPDX-License-Identifier: Apache-2.0
"""Trial 36 for ``torch.npu``: every name is there; what does not work raises a sentence with its name."""

import importlib
import sys
import unittest
from operator import attrgetter
from pathlib import Path

import torch

import npu_backend  # noqa: F401
from npu_backend.npu import npu_config, unsupported

if __name__ == "__main__":  # in a script, "test" and "tools" would be others
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools import coverage
from tools.torch_npu_names import NAMES

MUST_WORK = ("Devices", "Streams and events", "Random numbers", "Memory", "Mixed precision")


class SurfaceTest(unittest.TestCase):
    def test_every_name_is_there(self):
        self.assertEqual(sum(map(len, list(NAMES.values())[:8])), 142)
        for names in NAMES.values():
            for name in names:
                with self.subTest(name=name):
                    attrgetter(name)(torch.npu)
                    self.assertIn(coverage.status_of(name)[0], ("works", "no effect", "raises"))

    def test_what_training_scripts_use_works(self):
        for heading in MUST_WORK:
            for name in NAMES[heading]:
                with self.subTest(name=name):
                    status, text = coverage.status_of(name)
                    self.assertEqual(status, "works")
                    self.assertNotEqual(text, "")

    def test_coverage_page_is_fresh(self):
        self.assertEqual(coverage.PAGE.read_text(encoding="utf-8"), coverage.page(), "run python -m tools.coverage")

    def test_unsupported_calls_raise_a_sentence_with_name_and_advice(self):
        for name in unsupported.CALLS:
            with (
                self.subTest(name=name),
                self.assertRaisesRegex(NotImplementedError, rf"^torch\.npu\.{name}: not supported on the .*[;,] "),
            ):
                getattr(torch.npu, name)(1, keyword=2)

    def test_attributes_of_unsupported_objects_raise_a_sentence(self):
        for name in unsupported.OBJECTS:
            with self.subTest(name=name), self.assertRaisesRegex(NotImplementedError, rf"^torch\.npu\.{name}: not"):
                getattr(torch.npu, name).range_start("x")

    def test_unsupported_names_can_be_imported_and_asked_about(self):
        self.assertFalse(isinstance(3, torch.npu.NPUGraph))
        self.assertFalse(hasattr(torch.npu.NPUGraph, "__wrapped__"))
        self.assertEqual(importlib.import_module("torch.npu").NPUGraph, torch.npu.NPUGraph)
        self.assertIn("Not supported", torch.npu.graph.__doc__)

    def test_unknown_names_are_attribute_errors(self):
        with self.assertRaisesRegex(AttributeError, "'torch.npu' has no attribute 'nothing'"):
            torch.npu.nothing  # noqa: B018
        for name in torch.npu.__all__:
            getattr(torch.npu, name)

    def test_submodules_are_importable(self):
        for name in ("amp", "memory", "npu_config", "random", "streams"):
            self.assertIs(importlib.import_module(f"torch.npu.{name}"), getattr(torch.npu, name))

    def test_methods_of_events_that_need_the_chip_raise(self):
        event = torch.npu.Event()
        for call in (event.recorded_time, event.ipc_handle, lambda: torch.npu.Event.from_ipc_handle(0, b"")):
            with self.assertRaisesRegex(NotImplementedError, r"^torch\.npu\.Event\.\w+: not supported on the .*; "):
                call()


class OptionTest(unittest.TestCase):
    def test_switches_are_kept_and_checked(self):
        for name, switches in npu_config.SWITCHES.items():
            owner = getattr(torch.npu, name)
            for switch, value in switches.copy().items():
                setattr(owner, switch, not value)
                self.assertIs(getattr(owner, switch), not value)
                setattr(owner, switch, value)
                with self.assertRaisesRegex(TypeError, f"torch.npu.{name}.{switch}: expected True or False, got 1"):
                    setattr(owner, switch, 1)
            with self.assertRaisesRegex(AttributeError, f"torch.npu.{name}: expected one of .*, got alow_hf32"):
                owner.alow_hf32 = True

    def test_options_are_accepted(self):
        torch.npu.set_option({"ACL_OP_COMPILER_CACHE_MODE": "enable"})
        torch.npu.set_compile_mode(jit_compile=True)
        self.assertFalse(torch.npu.is_jit_compile_false())
        torch.npu.set_compile_mode(jit_compile=False)
        self.assertTrue(torch.npu.is_jit_compile_false())
        torch.npu.set_mm_bmm_format_nd(False)
        self.assertFalse(torch.npu.get_mm_bmm_format_nd())
        torch.npu.set_mm_bmm_format_nd(True)
        torch.npu.ipc_collect()
        torch.npu.empty_virt_addr_cache()
        with self.assertRaisesRegex(TypeError, "torch.npu.set_option: expected a dictionary, got 'x'"):
            torch.npu.set_option("x")
        with self.assertRaisesRegex(TypeError, "expected True or False, got 0"):
            torch.npu.set_mm_bmm_format_nd(0)


class TypedTensorTest(unittest.TestCase):
    def test_types_make_tensors_and_recognise_them(self):
        x = torch.npu.FloatTensor([1, 2])
        self.assertEqual((x.dtype, x.device.type, x.tolist()), (torch.float32, "npu", [1.0, 2.0]))
        self.assertEqual(torch.npu.LongTensor(2, 3).shape, (2, 3))
        self.assertEqual(torch.npu.BoolTensor(torch.Size([4])).shape, (4,))
        self.assertEqual(torch.npu.HalfTensor().shape, (0,))
        self.assertIsInstance(x, torch.npu.FloatTensor)
        self.assertNotIsInstance(x, torch.npu.HalfTensor)
        self.assertNotIsInstance(x.cpu(), torch.npu.FloatTensor)

    def test_tensors_convert_to_them(self):
        for name in ("BFloat16Tensor", "HalfTensor", "FloatTensor", "IntTensor", "BoolTensor"):
            for target in (getattr(torch.npu, name), f"torch.npu.{name}"):
                y = torch.ones(2).type(target)
                self.assertIsInstance(y, getattr(torch.npu, name))
                self.assertEqual(y.type(), f"torch.npu.{name}")


if __name__ == "__main__":
    unittest.main()
