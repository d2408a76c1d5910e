# SPDX-License-Identifier: Apache-2.0
"""A finding as text, and the report of several."""

import os
import sys
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from op_extension.hazards.finding import Finding, merged
from op_extension.hazards.kinds import DEFAULT_SWITCHES, KINDS, SWITCHES, bits_of
from op_extension.hazards.report import Report
from op_extension.hazards.text import text_of, why
from test.check.sample_findings import ADD, LOAD, SOURCE, STORE, UNKNOWN, finding
from test.kernel.kernels_of_test import KernelTest


class TextTest(KernelTest):
    def test_quotes_both_lines_and_says_what_to_add_where(self):
        path = self.source(SOURCE, "add.cpp")
        text = str(finding(file=str(path), times=20)).replace(f"{path.parent}/", "")
        self.assertEqual(
            text,
            """\
add.cpp:3: read-after-write: TADD may read bytes before TLOAD has written them
  first: add.cpp:2: TLOAD on PIPE_MTE2 writes UB 0x0 - 0x400 (vector core, block 0)
    2 | TLOAD(x, x_row);
  then: add.cpp:3: TADD on PIPE_V reads UB 0x100 - 0x300 (vector core, block 0)
    3 | TADD(z, x, x);
  UB 0x100 - 0x300 (512 bytes), kernel add, met 20 times
  why: PIPE_MTE2 and PIPE_V run side by side, and no flag makes PIPE_V wait for PIPE_MTE2.
  to mend it, add:
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);   behind add.cpp:2
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  before add.cpp:3""",
        )

    def test_quotes_a_file_that_has_changed_anew(self):
        path = self.source(SOURCE, "add.cpp")
        self.assertIn("    3 | TADD(z, x, x);", str(finding(file=str(path))))
        path.write_text(SOURCE.replace("TADD", "TSUB"))
        os.utime(path, (0, 0))  # a clock may tick too slowly
        self.assertIn("    3 | TSUB(z, x, x);", str(finding(file=str(path))))

    def test_goes_without_the_source(self):
        text = str(finding(file="/none/add.cpp"))
        self.assertNotIn(" | ", text)
        self.assertIn("/none/add.cpp:3: TADD on PIPE_V", text)

    def test_goes_without_lines(self):
        text = str(finding(second=UNKNOWN))
        self.assertTrue(text.startswith("libk.so+0x1f0: read-after-write: "))
        self.assertIn("wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  before libk.so+0x1f0", text)

    def test_a_statement_that_stands_between_names_both_places(self):
        text = str(finding("vector-order", first=ADD, mend="pipe_barrier(PIPE_V);"))
        self.assertIn("    pipe_barrier(PIPE_V);  behind add.cpp:3, before add.cpp:3", text)

    def test_a_mend_that_is_no_code_is_said(self):
        found = finding("unwritten-read", first=None, mend="write these bytes first")
        self.assertIn("add.cpp:3: unwritten-read: TADD reads bytes that nothing has written\n  then: ", str(found))
        self.assertTrue(str(found).endswith("  to mend it: write these bytes first"))

    def test_a_flag_has_no_bytes(self):
        setting = ("set_flag", "PIPE_V", "vector", 0, 0, 0, 0, 3)
        found = finding("flag-left-set", setting, None, "wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);", bytes_at=(0, 0))
        text = str(found)
        self.assertIn("add.cpp:3: flag-left-set: a flag is left set at the end\n", text)
        self.assertIn("  kernel add, met once\n", text)
        self.assertIn("    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);  behind add.cpp:3", text)

    def test_each_kind_has_a_text(self):
        for kind in KINDS:
            text = text_of(finding(kind))
            self.assertIn(kind, text)
            self.assertNotIn("{", text)

    def test_the_reason_is_that_of_the_cores(self):
        self.assertIn("Blocks run side by side", why(finding(second=STORE)))
        cube = ("TMATMUL", "PIPE_M", "cube", *LOAD[3:])
        self.assertIn("cores of a block", why(finding(first=cube)))
        self.assertIn("Nothing makes one instruction of PIPE_V wait", why(finding(first=ADD)))


class DataTest(unittest.TestCase):
    def test_sides_have_files_and_lines(self):
        found = finding()
        self.assertEqual((found.first.file, found.first.line, found.second.line), ("add.cpp", 2, 3))
        unknown = finding(second=UNKNOWN).second
        self.assertEqual((unknown.file, unknown.line), (None, None))

    def test_goes_through_a_dict(self):
        for found in (finding(), finding("unwritten-read", first=None)):
            self.assertEqual(Finding.of_dict(found.to_dict()), found)

    def test_findings_of_several_processes_become_one(self):
        found = merged([finding(times=2), finding(times=3), finding("overlap"), finding(second=STORE)])
        self.assertEqual([one.times for one in found], [5, 1, 1])

    def test_kinds_are_switched_by_name(self):
        self.assertEqual(bits_of(None), 31)
        self.assertEqual(bits_of(SWITCHES), 63)
        self.assertEqual(bits_of("order, vector_order"), 33)
        self.assertEqual(bits_of(["flag", "flag"]), 8)
        self.assertEqual({kind.switch for kind in KINDS.values()}, set(SWITCHES))
        self.assertEqual(set(SWITCHES) - set(DEFAULT_SWITCHES), {"vector_order"})

    def test_unknown_kinds_are_named(self):
        for given, named in ((["order", "races"], "'races'"), ("order,", "''"), ([], "''"), ([3], "3")):
            with self.assertRaisesRegex(ValueError, f"kinds: expected some of order, unwritten, .*, got {named}"):
                bits_of(given)


class ReportTest(unittest.TestCase):
    def test_says_how_many(self):
        self.assertEqual(Report([]).to_text(), "no finding")
        self.assertFalse(Report([]))
        report = Report([finding(), finding("overlap")])
        self.assertEqual((len(report), bool(report)), (2, True))
        self.assertEqual(str(report).count("read-after-write"), 1)
        self.assertTrue(str(report).endswith("\n\n2 findings"))

    def test_grows_until_it_is_closed(self):
        found = [finding()]
        report = Report(lambda: list(found))
        self.assertEqual(len(report), 1)
        found.append(finding("overlap"))
        self.assertEqual(len(report), 2)
        report.close()
        found.clear()
        self.assertEqual([one.kind for one in report.findings], ["read-after-write", "overlap"])


if __name__ == "__main__":
    unittest.main()
