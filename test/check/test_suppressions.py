# SPDX-License-Identifier: Apache-2.0
"""Suppressions: what they match, what is said of them, and their file."""

import sys
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from op_extension.hazards.report import Report
from op_extension.hazards.suppression import Suppression, read
from test.check.sample_findings import UNKNOWN, finding
from test.kernel.kernels_of_test import KernelTest

REASON = "looked at: the halves are used in turn"


class SuppressionTest(unittest.TestCase):
    def matches(self, location, kind="read-after-write", **options):
        return Suppression(kind, location, REASON).matches(finding(**options))

    def test_matches_kind_and_place_of_either_side(self):
        for location in ("add.cpp", "add.cpp:2", "add.cpp:3", "add.cpp:3-9", "add.cpp:1-2"):
            self.assertTrue(self.matches(location), location)
        for location in ("add.cpp:4", "add.cpp:4-9", "dd.cpp", "src/add.cpp:2"):
            self.assertFalse(self.matches(location), location)
        self.assertTrue(self.matches("src/add.cpp:2", file="/home/src/add.cpp"))
        self.assertTrue(self.matches("add.cpp:2", file="/home/src/add.cpp"))

    def test_a_switch_stands_for_its_kinds(self):
        self.assertTrue(self.matches("add.cpp", "order"))
        self.assertFalse(self.matches("add.cpp", "flag"))
        self.assertFalse(self.matches("add.cpp", "write-after-read"))

    def test_a_place_without_a_line_is_matched_by_the_other_side_only(self):
        self.assertTrue(self.matches("add.cpp", second=UNKNOWN))
        self.assertFalse(self.matches("libk.so", first=UNKNOWN, second=UNKNOWN))

    def test_refuses_what_says_nothing(self):
        for given, sentence in (
            (("races", "add.cpp", REASON), "expected as kind one of read-after-write, .*, got 'races'"),
            (("order", "add.cpp", " "), "expected a text as reason, got ' '"),
            (("order", "", REASON), "expected a text as location, got ''"),
            (("order", "add.cpp:x", REASON), "expected a location such as .*, got 'add.cpp:x'"),
            (("order", "add.cpp:9-3", REASON), "expected a location such as .*, got 'add.cpp:9-3'"),
            ((None, "add.cpp", REASON), "expected a text as kind, got None"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                Suppression(*given)

    def test_the_report_tells_suppressed_ones_and_unused_suppressions(self):
        used, unused = Suppression("order", "add.cpp:2", REASON), Suppression("overlap", "mul.cpp", REASON)
        report = Report([finding(), finding("overlap")], [used, unused])
        self.assertEqual([found.kind for found in report.findings], ["overlap"])
        self.assertEqual([(found.kind, by) for found, by in report.suppressed], [("read-after-write", used)])
        self.assertEqual(report.unused, [unused])
        text = report.to_text()
        self.assertIn(f"suppressed: read-after-write at add.cpp:3: {REASON}\n", text)
        self.assertIn(f"suppression of overlap at mul.cpp ({REASON}): expected a finding, got none\n", text)
        self.assertTrue(text.endswith("1 finding, 1 suppressed"))


class KnownFileTest(KernelTest):
    def read(self, text):
        return read(self.source(text, "known.toml"))

    def test_holds_suppressions(self):
        text = '[[suppression]]\nkind = "overlap"\nlocation = "add.cpp:1-3"\nreason = "known"\n'
        self.assertEqual(
            self.read(text + text.replace("overlap", "order")),
            [Suppression("overlap", "add.cpp:1-3", "known"), Suppression("order", "add.cpp:1-3", "known")],
        )
        self.assertEqual(self.read(""), [])

    def test_names_what_is_wrong_in_it(self):
        whole = '[[suppression]]\nkind = "order"\nlocation = "a.cpp"\n'
        for text, sentence in (
            ("[[", "known.toml: expected a file in TOML, got: "),
            ('[suppression]\nkind = "order"', r"expected tables \[\[suppression\]\] only, got one table"),
            ("[other]", r"expected tables \[\[suppression\]\] only, got other"),
            (whole, "known.toml, suppression 1: expected kind, location, reason, got kind, location"),
            (whole + 'reason = ""', "known.toml, suppression 1: Suppression: expected a text as reason, got ''"),
            (whole + "reason = 3", "expected a text as reason, got 3"),
            ("suppression = [3]", "known.toml, suppression 1: expected kind, location, reason, got 3"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, sentence):
                self.read(text)


if __name__ == "__main__":
    unittest.main()
