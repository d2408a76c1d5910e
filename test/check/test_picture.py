# SPDX-License-Identifier: Apache-2.0
"""check.picture: tiles and steps of a kernel."""

import sys
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import torch

from op_extension import _runtime, kernel
from op_extension.check import picture

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.kernel.kernels_of_test import KernelTest, load

MIXED = """
#include <pto/pto-inst.hpp>

extern "C" __global__ AICORE void meet(__gm__ float*) {
#ifdef __DAV_CUBE__
  ffts_cross_core_sync(PIPE_FIX, pto::getFFTSMsg(2, 3));
#else
  wait_flag_dev(3);
#endif
  pto::SYNCALL<pto::SyncCoreType::Mix>();
}
"""
SVG = "{http://www.w3.org/2000/svg}"


class PictureTest(KernelTest):
    def add(self, n=256):
        x = torch.ones(n, device="npu")
        return picture(load("add.cpp", "add_float")[2], x, x, torch.empty_like(x), n)

    def test_has_the_steps_of_the_first_block_in_order(self):
        shown = self.add(1000)
        names = [step.name for step in shown.steps]
        row = ["TLOAD", "TLOAD", "set_flag", "wait_flag", "TADD", "set_flag", "wait_flag", "TSTORE"]
        self.assertEqual(names, [*row, "set_flag", "wait_flag"] * 2)  # rows 0 and 2 of 4
        self.assertEqual(shown.kernel, "add_float")
        self.assertEqual([lane.pipe for lane in shown.lanes], ["PIPE_MTE2", "PIPE_V", "PIPE_MTE3"])
        self.assertEqual({(step.core, step.sub_block) for step in shown.steps}, {("vector", 0)})
        self.assertRegex(shown.steps[0].line, r"add\.cpp:\d+$|\.so\+0x")
        self.assertTrue(shown.is_whole)

    def test_an_arrow_leads_from_a_set_flag_to_its_wait(self):
        shown = self.add()
        self.assertEqual(shown.arrows, [(2, 3), (5, 6), (8, 9)])
        stands = [(shown.steps[one].pipe, shown.steps[other].pipe) for one, other in shown.arrows]
        self.assertEqual(stands, [("PIPE_MTE2", "PIPE_V"), ("PIPE_V", "PIPE_MTE3"), ("PIPE_MTE3", "PIPE_MTE2")])

    def test_shows_tiles_and_columns_as_text(self):
        lines = str(self.add()).splitlines()
        self.assertEqual(lines[0], "kernel add_float, block 0")
        self.assertIn("UB: peak 33792 of 196608 bytes, 3072 in tiles", lines[1])
        heading = next(line for line in lines if "MTE2 (vector 0)" in line)
        add = next(line for line in lines if " TADD" in line)
        self.assertEqual(add.index("TADD"), heading.index("V (vector"))
        self.assertEqual(add.split()[0], "5")

    def test_draws_a_box_for_each_instruction_and_tile_and_an_arrow_for_each_flag(self):
        root = ElementTree.fromstring(self.add().to_svg())
        titles = [title.text for title in root.iter(f"{SVG}title")]
        self.assertEqual(len(titles), 3 + 4)
        self.assertEqual(sum("marker-end" in path.attrib for path in root.iter(f"{SVG}path")), 3)
        texts = [text.text for text in root.iter(f"{SVG}text")]
        for text in ("kernel add_float, block 0", "TADD", "vector 0 MTE2", "set MTE2>V 0"):
            self.assertIn(text, texts)

    def test_shows_the_cores_of_a_mixed_kernel(self):
        path = self.source(MIXED, "mixed.cpp")
        shown = picture(kernel.load(path, entry="meet", core="mix")[1], torch.zeros(8, device="npu"))
        self.assertEqual(
            {(lane.core, lane.sub_block) for lane in shown.lanes}, {("cube", 0), ("vector", 0), ("vector", 1)}
        )
        self.assertEqual(len(shown.arrows), 2)  # to each vector core
        for one, other in shown.arrows:
            self.assertEqual((shown.steps[one].label, shown.steps[other].label), ("set cores 3", "wait cores 3"))
            self.assertLess(one, other)
        self.assertEqual([step.kind for step in shown.steps].count("meet"), 3)
        self.assertIn("vector 1", str(shown))
        ElementTree.fromstring(shown.to_svg())

    def test_takes_operators_and_launches_of_nothing(self):
        x = torch.ones(100, device="npu")
        self.assertEqual(picture(torch.ops.npu.my_add, x, x).kernel, "my_add_float")
        nothing = picture(lambda: None)
        self.assertEqual((nothing.steps, nothing.lanes, nothing.arrows), ([], [], []))
        ElementTree.fromstring(nothing.to_svg())
        self.assertIn("no tile was placed", str(nothing))

    def test_says_when_steps_are_missing(self):
        with mock.patch.object(_runtime, "MAX_RECORDED_STEPS", 10):  # as many as the kernel makes
            shown = self.add()
        self.assertFalse(shown.is_whole)
        self.assertTrue(str(shown).endswith("and more, which is not recorded"))

    def test_recording_stops_after_a_fault(self):
        with self.assertRaisesRegex(RuntimeError, "wait_without_set"):
            picture(load("faults.cpp", "wait_without_set")[2])
        before = _runtime.steps()
        load("faults.cpp", "valid_region")[1](1)
        self.assertEqual(_runtime.steps(), before)

    def test_saves_by_the_ending(self):
        shown, folder = self.add(), self.folder()
        for name, text in (("a.svg", shown.to_svg()), ("a.txt", shown.to_text())):
            shown.save(folder / name)
            self.assertEqual((folder / name).read_text(), text + "\n")
        with self.assertRaisesRegex(ValueError, "expected a name that ends with .svg or .txt, got 'a.png'"):
            shown.save("a.png")


if __name__ == "__main__":
    unittest.main()
