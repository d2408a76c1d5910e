# SPDX-License-Identifier: Apache-2.0
"""Traces beside references, and in files."""

import json
import sys
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from op_extension import check, kernel

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.kernel.kernels_of_test import KERNELS, KernelTest

SUM = "TADD(z_tile, x_tile, y_tile);"


class TracedAdd(KernelTest):
    """add.cpp with its sum replaced, on 600 elements in two blocks."""

    def add(self, replaced=SUM, entry="add_float", dtype=torch.float32):
        text = (KERNELS / "add.cpp").read_text()
        self.assertEqual(text.count(SUM), 1)
        path = self.source(text.replace(SUM, replaced), "add.cpp")
        x, y = torch.arange(600).to(dtype), torch.full((600,), 0.5).to(dtype)
        with check.trace(values=True) as trace:
            kernel.load(path, entry=entry)[2](x.npu(), y.npu(), torch.empty(600, dtype=dtype, device="npu"), 600)
        return trace


class CompareTest(TracedAdd):
    def test_a_load_agrees_with_its_source_with_and_without_padding(self):
        path = self.source((KERNELS / "add.cpp").read_text(), "add.cpp")
        x = torch.arange(300, dtype=torch.float32)
        with check.trace(values=True) as trace:
            kernel.load(path, entry="add_float")[1](x.npu(), x.npu(), torch.empty(300, device="npu"), 300)
        rest = [step for step in trace.steps if step.name == "TLOAD"][-1]
        self.assertEqual((rest.sources[0].shape, rest.destinations[0].shape), ((1, 44), (1, 48)))
        self.assertTrue(trace.compare({"TLOAD": lambda source: source}))
        self.assertTrue(trace.compare(lambda step, *_: step.destinations[0].values if step.name == "TLOAD" else None))
        found = trace.compare({"TLOAD": lambda source: source + (source == 299)})
        self.assertRegex(str(found), "first of 1 differing .* at row 0, column 43: expected 300.0, got 299.0")
        with self.assertRaisesRegex(ValueError, r"shape \(1, 48\) of .*: TLOAD .*, got \(1, 40\)"):
            trace.compare({"TLOAD": lambda source: source if source.shape[1] > 44 else source[:, :40]})

    def test_nothing_that_was_compared_is_no_agreement(self):
        trace = self.add()
        found = trace.compare(lambda step, *sources: None)
        self.assertFalse(found)
        self.assertEqual(str(found), "expected destinations to compare, got none that the reference knows")
        with self.assertRaisesRegex(
            ValueError, r"names of instructions of the trace \(TADD, TLOAD, TSTORE\), got 'TAdd'"
        ):
            trace.compare({"TADD": np.add, "TAdd": np.subtract})

    def test_says_how_many_instructions_lack_values(self):
        trace = self.add()
        steps, tiles = trace.recorded.steps, trace.recorded.tiles
        blind = [
            (*row[:11], [(*operand[:5], None, operand[6]) for operand in row[11]]) for row in steps if row[0] == "TADD"
        ]
        kept = [row for row in steps if row[0] != "TADD"] + blind[:2] + [row for row in steps if row[0] == "TADD"][2:]
        found = check.Trace(trace.recorded._replace(steps=kept, tiles=tiles)).compare({"TADD": np.add})
        self.assertEqual((bool(found), found.compared, found.skipped), (True, 1, 2))
        self.assertRegex(str(found), "no element of 1 destinations differs; 2 instructions lack values")

    def test_a_function_that_does_not_take_the_sources_is_named_by_its_step(self):
        trace = self.add()
        with self.assertRaisesRegex(
            ValueError, r"takes the sources of add_float, .* 5: TADD \(.*\) \(of shape 1x256, 1x256\), got ValueError: "
        ):
            trace.compare({"TADD": lambda left, right: left @ right})

    def test_a_right_kernel_agrees_with_functions_and_with_itself(self):
        trace = self.add()
        found = trace.compare({"TADD": np.add})
        self.assertTrue(found)
        self.assertEqual((found.compared, str(found)), (3, "no element of 3 destinations differs"))
        self.assertTrue(trace.compare(lambda step, *sources: sum(sources) if step.name == "TADD" else None))
        self.assertEqual(trace.compare(self.add()).compared, 12)

    def test_names_instruction_element_and_both_values(self):
        trace = self.add("TADD(z_tile, x_tile, y_tile); z_tile.SetValue(2, 0.0f);")
        found = trace.compare(self.add("TADD(z_tile, x_tile, y_tile); z_tile.SetValue(2, -0.5f);"))
        self.assertFalse(found)
        self.assertEqual((found.step.name, found.step.block), ("SetValue", 0))
        self.assertRegex(str(found), r"at row 0, column 2: expected -0\.5, got 0\.0, \d+ ulp apart$")
        found = self.add("TADD(z_tile, x_tile, x_tile);").compare({"TADD": lambda *tiles: tiles[0] + 0.5})
        self.assertEqual((found.step.block, found.step.number), (0, 5))
        self.assertRegex(
            str(found),
            r"^add_float, launch 0, block 0 \(vector 0\), instruction 5: TADD \(.*\): first of 256 differing elements "
            r"of destination \(UB Vec float ND 1x256 at 0x8000\) at row 0, column 0: "
            r"expected 0\.5, got 0\.0, \d+ ulp apart$",
        )

    def test_another_instruction_is_a_difference(self):
        found = self.add("TSUB(z_tile, x_tile, y_tile);").compare(self.add())
        self.assertRegex(str(found), r"instruction 5: TSUB \(.*\): expected TADD \(.*\) as in the reference, got TSUB$")

    def test_more_and_fewer_instructions_are_differences(self):
        once, twice = self.add(), self.add(f"{SUM} {SUM}")
        self.assertRegex(str(twice.compare(once)), r"instruction 6: TADD \(.*\): expected TSTORE .* got TADD")
        with check.trace(values=True, instructions="TLOAD") as nothing:
            pass
        self.assertFalse(nothing.compare(once))
        self.assertRegex(str(nothing.compare(once)), r"expected add_float, .* TLOAD .* got no such instruction")

    def cut(self, trace, index, **fields):
        """trace with other fields of a step."""
        places = {"is_complete": 9, "operands": 11}
        steps = list(trace.recorded.steps)
        row = list(steps[index])
        for name, value in fields.items():
            row[places[name]] = value
        steps[index] = tuple(row)
        return check.Trace(trace.recorded._replace(steps=steps))

    def test_instructions_that_did_not_end_are_differences(self):
        trace = self.add()
        index = next(i for i, step in enumerate(trace.steps) if step.name == "TADD")
        faulted = self.cut(trace, index, is_complete=False)
        found = faulted.compare(trace)
        self.assertEqual(found.step.number, 5)
        self.assertRegex(
            str(found), r"5: TADD \(.*\): expected TADD \(.*\) to end as in the reference, got TADD that did "
        )
        self.assertRegex(
            str(trace.compare(faulted)), "expected an instruction that does not end, as in .* one that ended$"
        )
        fewer = self.cut(trace, index, operands=trace.recorded.steps[index][11][1:])
        self.assertRegex(str(trace.compare(fewer)), "expected 0 destinations as in the reference, got 1$")

    def test_tolerances_and_ulp_of_16_bits(self):
        trace = self.add(entry="add_bytes", dtype=torch.float16)

        def off_by_one(left, right):
            exact = (left + right).astype(np.float16)
            return np.nextafter(exact, np.float16(np.inf))

        found = trace.compare({"TADD": off_by_one})
        self.assertEqual((found.element.ulp, found.element.column), (1, 0))
        self.assertTrue(trace.compare({"TADD": off_by_one}, max_ulp=1))
        self.assertTrue(trace.compare({"TADD": off_by_one}, rtol=1e-2))
        self.assertTrue(trace.compare({"TADD": np.add}))

    def test_bad_references_are_refused(self):
        trace = self.add()
        for reference, error, sentence in (
            (3, TypeError, "expected a trace, a function or a dict of functions as reference, got int"),
            ({"TADD": lambda *tiles: np.zeros(3)}, ValueError, r"of shape \(1, 256\) of add_float.*, got \(3,\)"),
            ({"TADD": lambda *tiles: [1, 2]}, ValueError, "expected 1 destinations of add_float.*, got 2"),
        ):
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                trace.compare(reference)


class SavedTest(TracedAdd):
    def saved(self):
        path = self.folder() / "add.npz"
        trace = self.add()
        trace.save(path)
        return trace, path

    def test_a_trace_comes_back_as_it_was(self):
        trace, path = self.saved()
        again = check.Trace.load(path)
        self.assertEqual(str(again), str(trace))
        self.assertEqual(again.recorded, trace.recorded)
        self.assertTrue(again.compare(trace))
        self.assertEqual([entry.name for entry in path.parent.iterdir()], ["add.npz"])

    def test_the_file_has_the_rights_that_any_new_file_has(self):
        with mock.patch("os.umask", side_effect=AssertionError("the whole process has it")):
            _, path = self.saved()
        other = path.parent / "other"
        other.touch()
        self.assertEqual(path.stat().st_mode, other.stat().st_mode)

    def test_numpy_alone_reads_the_file(self):
        trace, path = self.saved()
        with np.load(path) as archive:
            header = json.loads(archive["header"].tobytes())
            self.assertEqual(archive["values"].dtype, np.uint8)
        self.assertEqual((header["format"], header["version"]), ("op_extension.trace", 2))
        self.assertEqual([step[0] for step in header["steps"]], [step.name for step in trace.steps])

    def test_a_file_that_cannot_be_finished_leaves_the_old_one(self):
        trace, path = self.saved()
        before = path.read_bytes()
        with mock.patch("os.replace", side_effect=OSError("no room")), self.assertRaisesRegex(OSError, "no room"):
            trace.save(path)
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual([entry.name for entry in path.parent.iterdir()], ["add.npz"])
        with self.assertRaises(FileNotFoundError):
            trace.save(path.parent / "missing" / "add.npz")

    def test_damaged_and_foreign_files_are_refused(self):
        _, path = self.saved()
        whole = path.read_bytes()
        for cut in (0, 1, 30, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:cut])
            with (
                self.subTest(cut=cut),
                self.assertRaisesRegex(ValueError, "expected a file that Trace.save has written"),
            ):
                check.Trace.load(path)
        for at in range(80, len(whole) // 2, 997):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
            with self.subTest(at=at), self.assertRaisesRegex(ValueError, "expected a file that Trace.save has written"):
                check.Trace.load(path)
        np.savez(path, other=np.zeros(3))
        with self.assertRaisesRegex(ValueError, "another or damaged"):
            check.Trace.load(path)
        for header, sentence in (
            ({"format": "x"}, "holds no trace"),
            ({"format": "op_extension.trace", "version": 1}, "of version 1"),
            ({"format": "op_extension.trace", "version": 2}, "damaged"),
            ([1], "holds no trace"),
        ):
            np.savez(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8), values=np.zeros(1, np.uint8))
            with self.subTest(header=header), self.assertRaisesRegex(ValueError, sentence):
                check.Trace.load(path)
        with self.assertRaises(FileNotFoundError):
            check.Trace.load(path.parent / "missing.npz")


if __name__ == "__main__":
    unittest.main()
