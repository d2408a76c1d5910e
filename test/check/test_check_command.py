# SPDX-License-Identifier: Apache-2.0
"""op-extension check: what it gives a command, and what it makes of what the command's processes leave."""

import contextlib
import io
import json
import os
import sys
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from op_extension import cli
from test.check.sample_findings import finding
from test.kernel.kernels_of_test import KernelTest


def written(*findings, launches=1):
    """What a process writes of findings."""
    rows = [found.to_dict() for found in findings]
    for row in rows:
        for side in (row["first"], row["second"]):
            side.update(library="/none/libk.so", offset=16 * (side["line"] or 1))
            for name in ("place", "file", "line"):
                del side[name]
    return json.dumps({"launches": launches, "findings": rows})


class CommandTest(KernelTest):
    def check(self, *arguments):
        """Exit code, standard output and standard error of the command."""
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            code = cli.main(["check", *map(str, arguments)])
        return code, out.getvalue(), err.getvalue()

    def leaving(self, *texts, end="exit 0"):
        """A command that leaves a file for each text, as that many processes would, then ends so."""
        folder = self.folder()
        for number, text in enumerate(texts):
            (folder / f"{number}-0.json").write_text(text)
        return "sh", "-c", f"cp {folder}/*.json $NPU_HAZARD_REPORT; {end}"

    def test_reports_what_processes_found(self):
        one, other = finding(times=2), finding("overlap")
        code, out, err = self.check(*self.leaving(written(one, other), written(one)))
        self.assertEqual((code, err), (1, ""))
        self.assertIn("libk.so+0x30: read-after-write: TADD may read bytes before TLOAD has written them\n", out)
        self.assertIn("kernel add, met 4 times", out)
        self.assertTrue(out.endswith("\n2 findings\n"))

    def test_without_findings_the_status_is_that_of_the_command(self):
        for end, expected in (("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 143)):
            code, out, err = self.check(*self.leaving(written(), end=end))
            failure = f"expected the command to end with 0, got {expected}\n" if expected else ""
            self.assertEqual((code, out, err), (expected, failure + "no finding\n", ""))
        self.assertEqual(self.check(*self.leaving(written(finding()), end="exit 3"))[0], 1)

    def test_says_when_nothing_was_checked(self):
        for command in (("true",), self.leaving(written(launches=0))):
            code, out, err = self.check(*command)
            self.assertEqual((code, out), (0, "nothing was checked\n"))
            self.assertIn("op-extension check: expected a launch of a kernel, got none: nothing was checked", err)

    def test_each_report_says_where_nothing_was_checked(self):
        sentence = "expected a launch of a kernel, got none: nothing was checked"
        code, out, _ = self.check("--format", "junit", "true")
        suite = ElementTree.fromstring(out)[0]
        self.assertEqual((code, suite.get("tests"), suite.get("skipped"), suite.get("errors")), (0, "1", "1", "0"))
        self.assertEqual(suite.find("testcase/skipped").get("message"), sentence)
        code, out, _ = self.check("--format", "sarif", "true")
        invocation = json.loads(out)["runs"][0]["invocations"][0]
        self.assertEqual((code, invocation["exitCode"], invocation["executionSuccessful"]), (0, 0, True))
        self.assertEqual(
            invocation["toolExecutionNotifications"], [{"level": "warning", "message": {"text": sentence}}]
        )
        code, out, _ = self.check("--format", "json", "true")
        self.assertEqual((code, json.loads(out)["command"]), (0, {"launches": 0, "exit_code": 0}))

    def test_each_report_says_where_the_command_has_failed(self):
        command, sentence = self.leaving(written(launches=2), end="exit 3"), "expected the command to end with 0, got 3"
        code, out, _ = self.check("--format", "junit", *command)
        suite = ElementTree.fromstring(out)[0]
        self.assertEqual((code, suite.get("tests"), suite.get("errors"), suite.get("skipped")), (3, "1", "1", "0"))
        self.assertEqual(suite.find("testcase/error").get("message"), sentence)
        code, out, _ = self.check("--format", "sarif", *command)
        invocation = json.loads(out)["runs"][0]["invocations"][0]
        self.assertEqual((code, invocation["exitCode"], invocation["executionSuccessful"]), (3, 3, False))
        self.assertEqual(invocation["toolExecutionNotifications"], [{"level": "error", "message": {"text": sentence}}])
        code, out, _ = self.check("--format", "json", *command)
        self.assertEqual((code, json.loads(out)["command"]), (3, {"launches": 2, "exit_code": 3}))

    def test_gives_the_command_its_variables(self):
        script = "echo $NPU_CHECK $NPU_HAZARD_KINDS > "
        path = self.folder() / "variables"
        self.check("sh", "-c", f"{script}{path}")
        self.assertEqual(path.read_text(), "hazards order,unwritten,overlap,flag,range\n")
        self.check("--kinds", "flag,vector_order", "--", "sh", "-c", f"{script}{path}")
        self.assertEqual(path.read_text(), "hazards flag,vector_order\n")

    def test_runs_a_script_of_python(self):
        path = self.source("import sys; sys.exit(len(sys.argv))", "script.py")
        self.assertEqual(self.check(path, "a", "b")[0], 3)

    def test_writes_the_format_that_is_asked_for(self):
        command = self.leaving(written(finding()))
        self.assertEqual(json.loads(self.check("--format", "json", *command)[1])["findings"][0]["times"], 1)
        folder = self.folder()
        for name, begin in (("a.sarif", "{"), ("a.xml", "<?xml"), ("a.txt", "/none/libk"), ("report", "/none/libk")):
            code, out, err = self.check("--output", folder / name, *command)
            self.assertEqual((code, out), (1, ""))
            self.assertTrue((folder / name).read_text().startswith(begin), name)
            self.assertEqual(
                err, "" if begin == "/none/libk" else f"op-extension check: 1 finding, see {folder / name}\n"
            )

    def test_takes_suppressions(self):
        text = '[[suppression]]\nkind = "order"\nlocation = "add.cpp"\nreason = "known"\n'
        path = self.source(text, "known.toml")
        lines = {("/none/libk.so", 16 * line): f"/src/add.cpp:{line}" for line in range(1, 5)}
        with mock.patch("op_extension.hazards.command.lines_at", lambda places: lines):
            code, out, _ = self.check("--suppressions", path, *self.leaving(written(finding())))
        self.assertEqual(
            (code, out), (0, "suppressed: read-after-write at /src/add.cpp:3: known\nno finding, 1 suppressed\n")
        )
        code, out, _ = self.check("--suppressions", path, *self.leaving(written()))
        self.assertEqual(code, 0)
        self.assertIn("suppression of order at add.cpp (known): expected a finding, got none", out)

    def test_names_a_wrong_usage(self):
        bad = self.source("[[", "bad.toml")
        for arguments, sentence in (
            ([], "expected a command, got none; usage: op-extension check"),
            (["--"], "expected a command, got none"),
            (["--kinds", "races", "true"], "kinds: expected some of order, .*, got 'races'"),
            (["--kinds", "", "true"], "kinds: expected some of order, .*, got ''"),
            (["--suppressions", bad, "true"], "bad.toml: expected a file in TOML"),
            (["--suppressions", "/none", "true"], "/none: No such file or directory"),
            (["--output", "/none/report", "true"], "/none/report: No such file or directory"),
        ):
            code, out, err = self.check(*arguments)
            self.assertEqual((code, out), (2, ""))
            self.assertRegex(err, f"^op-extension check: .*{sentence}")
        with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit) as end:
            cli.main(["check", "--format", "html", "true"])
        self.assertEqual(end.exception.code, 2)
        self.assertIn("invalid choice: 'html'", err.getvalue())

    def test_names_a_command_that_is_none(self):
        code, _, err = self.check("no-such-program")
        self.assertEqual(code, 127)
        self.assertIn("op-extension check: expected a program, got no-such-program, which is not on PATH", err)
        self.assertEqual(self.check(os.sep)[0], 126)


if __name__ == "__main__":
    unittest.main()
