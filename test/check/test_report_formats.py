# SPDX-License-Identifier: Apache-2.0
"""The report as JSON, JUnit XML and SARIF."""

import contextlib
import json
import sys
import unittest
from pathlib import Path
from xml.etree import ElementTree

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from op_extension.hazards.finding import Finding
from op_extension.hazards.kinds import KINDS
from op_extension.hazards.outcome import Outcome
from op_extension.hazards.report import Report
from op_extension.hazards.suppression import Suppression
from test.check.sample_findings import SOURCE, UNKNOWN, finding
from test.kernel.kernels_of_test import KernelTest

KNOWN = Suppression("overlap", "add.cpp", "known <&>")
UNUSED = Suppression("flag", "mul.cpp:3", "gone")
FINDINGS = [finding(times=7), finding("overlap"), finding("unwritten-read", first=None), finding(second=UNKNOWN)]


class JsonTest(unittest.TestCase):
    def test_holds_all_fields(self):
        made = json.loads(Report(FINDINGS, [KNOWN, UNUSED]).to_json())
        self.assertEqual([Finding.of_dict(row) for row in made["findings"]], [FINDINGS[0], *FINDINGS[2:]])
        self.assertEqual(made["findings"][0]["first"]["line"], 2)
        self.assertEqual([row["reason"] for row in made["suppressed"]], ["known <&>"])
        self.assertEqual(made["unused_suppressions"], [vars(UNUSED)])


class JunitTest(unittest.TestCase):
    def suite(self, report):
        root = ElementTree.fromstring(report.to_junit())
        self.assertEqual((root.tag, len(root), root[0].tag), ("testsuites", 1, "testsuite"))
        for name in ("tests", "failures", "errors", "skipped"):
            self.assertEqual(root.get(name), root[0].get(name))
        self.assertEqual(int(root.get("tests")), len(root[0].findall("testcase")))
        self.assertEqual(int(root.get("failures")), len(root[0].findall("testcase/failure")))
        self.assertEqual(int(root.get("skipped")), len(root[0].findall("testcase/skipped")))
        self.assertEqual(int(root.get("errors")), len(root[0].findall("testcase/error")))
        return root[0]

    def test_has_a_failed_test_for_each_finding(self):
        suite = self.suite(Report(FINDINGS, [KNOWN, UNUSED]))
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("skipped")), ("4", "3", "1"))
        case = suite.find("testcase")
        self.assertEqual((case.get("classname"), case.get("name")), ("add", "read-after-write add.cpp:3"))
        self.assertEqual((case.get("file"), case.get("line")), ("add.cpp", "3"))
        failure = case.find("failure")
        self.assertEqual(failure.get("type"), "read-after-write")
        self.assertEqual(failure.text, str(FINDINGS[0]))
        self.assertEqual(suite.find("testcase/skipped").get("message"), "known <&>")
        self.assertIn("mul.cpp:3", suite.find("system-out").text)

    def test_has_one_that_passes_when_nothing_is_found(self):
        suite = self.suite(Report([]))
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "0"))

    def test_has_tests_for_the_command_besides_those_for_findings(self):
        suite = self.suite(Report(FINDINGS, [KNOWN], Outcome(launches=1, exit_code=3)))
        self.assertEqual([suite.get(name) for name in ("tests", "failures", "errors", "skipped")], list("5311"))
        suite = self.suite(Report([], (), Outcome(launches=0, exit_code=127)))
        self.assertEqual([suite.get(name) for name in ("tests", "failures", "errors", "skipped")], list("2011"))

    def test_takes_names_that_xml_has_no_letters_for(self):
        self.assertIn("a?b", self.suite(Report([finding(file="a\x01b")])).find("testcase").get("name"))


class SarifTest(KernelTest):
    def run_of(self, report):
        made = json.loads(report.to_sarif())
        self.assertEqual((made["version"], len(made["runs"])), ("2.1.0", 1))
        self.assertRegex(made["$schema"], r"sarif-schema-2\.1\.0\.json$")
        run = made["runs"][0]
        rules = run["tool"]["driver"]["rules"]
        for rule in rules:
            self.assertTrue(rule["shortDescription"]["text"] and rule["help"]["text"], rule["id"])
            self.assertIn(rule["defaultConfiguration"]["level"], ("error", "warning"))
        for result in run["results"]:
            self.assert_is_result(result, rules)
        return run

    def assert_is_result(self, result, rules):
        self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
        self.assertTrue(result["message"]["text"])
        self.assertGreaterEqual(result["occurrenceCount"], 1)
        self.assertEqual(len(result["locations"]), 1)
        for location in result["locations"] + result["relatedLocations"]:
            self.assertTrue(location["message"]["text"])
            physical = location["physicalLocation"]
            self.assertNotIn(" ", physical["artifactLocation"]["uri"])
            self.assertGreaterEqual(physical.get("region", {"startLine": 1})["startLine"], 1)
        ids = [location["id"] for location in result["relatedLocations"]]
        self.assertEqual(len(ids), len(set(ids)))

    def test_has_a_rule_for_each_kind_and_a_result_for_each_finding(self):
        run = self.run_of(Report(FINDINGS, [KNOWN, UNUSED]))
        self.assertEqual([rule["id"] for rule in run["tool"]["driver"]["rules"]], list(KINDS))
        results = run["results"]
        self.assertEqual(
            [result["ruleId"] for result in results],
            ["read-after-write", "unwritten-read", "read-after-write", "overlap"],
        )
        self.assertEqual(  # in all results, or in none of a run
            [result["suppressions"] for result in results],
            [[], [], [], [{"kind": "external", "justification": "known <&>"}]],
        )
        for result in self.run_of(Report(FINDINGS, [UNUSED]))["results"]:
            self.assertNotIn("suppressions", result)
        self.assertEqual(results[0]["occurrenceCount"], 7)
        self.assertIn("set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);", results[0]["message"]["text"])
        notes = run["invocations"][0]["toolExecutionNotifications"]
        self.assertEqual([note["level"] for note in notes], ["warning"])
        self.assertIn("mul.cpp:3", notes[0]["message"]["text"])

    def test_names_both_places_with_their_lines(self):
        result = self.run_of(Report([finding()]))["results"][0]
        places = [location["physicalLocation"] for location in result["locations"] + result["relatedLocations"]]
        self.assertEqual([place["artifactLocation"]["uri"] for place in places], ["add.cpp", "add.cpp"])
        self.assertEqual([place["region"]["startLine"] for place in places], [3, 2])

    def test_names_files_from_the_folder_of_the_report(self):
        path = self.source(SOURCE, "add 1.cpp").resolve()
        for folder, uri in ((path.parent, "add%201.cpp"), (Path("/"), path.as_uri().removeprefix("file:///"))):
            with contextlib.chdir(folder):
                run = self.run_of(Report([finding(file=str(path))]))
            place = run["results"][0]["locations"][0]["physicalLocation"]
            self.assertEqual(place["artifactLocation"]["uri"], uri)
            self.assertEqual(place["region"]["snippet"]["text"], "TADD(z, x, x);")

    def test_fingerprints_outlive_a_line_above(self):
        def print_of(file, text):
            report = Report([finding(file=str(self.source(text, file)))])
            return self.run_of(report)["results"][0]["partialFingerprints"]

        self.assertEqual(print_of("add.cpp", SOURCE), print_of("other.cpp", SOURCE))
        self.assertNotEqual(print_of("add.cpp", SOURCE), print_of("add.cpp", SOURCE.replace("z", "w")))


class SaveTest(KernelTest):
    def test_takes_the_format_from_the_name(self):
        report, folder = Report(FINDINGS), self.folder()
        for name, text in (
            ("a.txt", report.to_text()),
            ("a.json", report.to_json()),
            ("a.xml", report.to_junit()),
            ("a.SARIF", report.to_sarif()),
        ):
            report.save(folder / name)
            self.assertEqual((folder / name).read_text(), text.rstrip("\n") + "\n")

    def test_names_what_it_does_not_take(self):
        with self.assertRaisesRegex(
            ValueError, r"expected a name that ends with one of .txt, .json, .xml, .sarif, got"
        ):
            Report([]).save("report.html")
        with self.assertRaisesRegex(ValueError, "format: expected one of text, json, junit, sarif, got 'html'"):
            Report([]).to_format("html")


if __name__ == "__main__":
    unittest.main()
