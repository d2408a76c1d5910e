# SPDX-License-Identifier: Apache-2.0
"""check.hazards and check.report: what they find in a kernel, and how they say it."""

import json
import os
import sys
import unittest
from pathlib import Path
from unittest import mock

import torch

from op_extension import check, cli, kernel
from op_extension.errors import HazardError

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import PACKAGES, run_python
from test.kernel.kernels_of_test import KernelTest, load

RACY = Path(__file__).resolve().parent / "racy.cpp"
#: A process of its own with one fault of the kernel; PROGRAM goes on behind what that raises.
SETUP = f"""
import os, sys, torch
import op_extension
from op_extension import check, kernel
twice = kernel.load({str(RACY)!r}, entry="twice", defines={{"FAULT": "NO_FLAG"}})
x = torch.ones(512, device="npu")
y = torch.zeros(512, device="npu")
"""
PROGRAM = f"""{SETUP}
twice[1](x, y, 2)
try:
    torch.npu.synchronize()
except RuntimeError as error:
    print(error)
"""


def line_of(text):
    lines = RACY.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


class HazardTest(KernelTest):
    def launch(self, fault, device="npu", rows=2, blocks=1):
        x = torch.ones(256 * rows, device=device)
        y = torch.zeros(256 * rows, device=device)
        kernel.load(RACY, entry="twice", defines={"FAULT": fault})[blocks](x, y, rows)
        return y

    def found(self, fault, **options):
        with check.hazards(raises=False, **options) as report:
            self.launch(fault)
        return report

    def test_a_right_kernel_passes(self):
        for device in ("npu", "cpu"):
            with check.hazards(kinds="order,unwritten,overlap,flag,range") as report:
                y = self.launch("RIGHT", device, rows=8, blocks=4)
            self.assertEqual(report.to_text(), "no finding")
            self.assertEqual(y.sum().item(), 2 * 256 * 8)

    def test_a_kernel_in_auto_mode_needs_no_flags(self):
        x, z = torch.arange(1024.0), torch.zeros(1024)
        with check.hazards():
            load("auto_add.cpp", "auto_add", flags=["-D__PTO_AUTO__"])[1](x, z, 4)
        self.assertTrue(torch.equal(z, x + 1))

    def test_names_both_lines_and_the_flag_that_is_missing(self):
        with self.assertRaises(HazardError) as caught, check.hazards():
            self.launch("NO_FLAG")
        finding = caught.exception.findings[0]
        self.assertEqual((finding.kind, finding.kernel, finding.space), ("read-after-write", "twice", "UB"))
        self.assertEqual((finding.begin, finding.end), (0, 1024))
        self.assertEqual((finding.first.instruction, finding.first.line), ("TLOAD", line_of("TLOAD(")))
        self.assertEqual((finding.second.instruction, finding.second.line), ("TADD", line_of("TADD(")))
        self.assertEqual((finding.first.pipe, finding.second.pipe), ("PIPE_MTE2", "PIPE_V"))
        self.assertEqual(finding.first.file, str(RACY))
        text = str(caught.exception)
        self.assertTrue(text.startswith("hazards: expected none, got\n"))
        self.assertRegex(text, rf"set_flag\(PIPE_MTE2, PIPE_V, EVENT_ID0\); +behind .*racy.cpp:{line_of('TLOAD(')}\n")
        self.assertRegex(text, rf"wait_flag\(PIPE_MTE2, PIPE_V, EVENT_ID0\); +before .*racy.cpp:{line_of('TADD(')}\n")

    def test_finds_what_each_fault_is(self):
        for fault, kind in (
            ("NO_FLAG_BACK", "write-after-read"),
            ("LEFT_SET", "flag-left-set"),
            ("LEFT_BETWEEN", "flag-left-set"),
            ("UNWRITTEN", "unwritten-read"),
        ):
            kinds = {finding.kind for finding in self.found(fault).findings}
            self.assertIn(kind, kinds, fault)
        with check.hazards(raises=False) as report:
            self.launch("BLOCKS_COLLIDE", rows=4, blocks=4)
        self.assertEqual({finding.kind for finding in report.findings}, {"write-after-write"})
        self.assertEqual(report.findings[0].space, "GM")

    def test_kinds_are_switched(self):
        self.assertFalse(self.found("LEFT_SET", kinds=["order", "unwritten"]))
        self.assertTrue(self.found("LEFT_SET", kinds=["flag"]))
        with self.assertRaisesRegex(ValueError, "kinds: expected some of order, .*, got 'races'"):
            check.hazards(kinds=["races"]).__enter__()

    def test_a_flag_between_cores_that_is_left_set_has_its_line(self):
        with check.hazards(raises=False) as report:
            self.launch("LEFT_BETWEEN", rows=4, blocks=4)
        (finding,) = report.findings
        self.assertEqual((finding.kind, finding.times), ("flag-left-set", 4))
        self.assertEqual(finding.first.instruction, "ffts_cross_core_sync")
        self.assertEqual(finding.first.line, line_of("ffts_cross_core_sync("))
        self.assertIn("wait_flag_dev(3) on the cores that the flag is for", report.to_text())
        self.assertFalse(self.found("LEFT_BETWEEN", kinds=["order"]))

    def test_without_raising_the_body_goes_on(self):
        for device in ("npu", "cpu"):
            with check.hazards(raises=False) as report:
                y = self.launch("NO_FLAG", device)
                self.assertEqual(y.cpu().sum().item(), 1024.0)
                self.assertGreaterEqual(len(report), 1)  # so far
            self.assertGreaterEqual(len(report), 1)

    def test_suppressed_ones_do_not_raise(self):
        known = check.Suppression("order", f"racy.cpp:{line_of('TADD(')}", "the test wants it so")
        unused = check.Suppression("overlap", "racy.cpp", "there is none")
        with check.hazards(suppress=[known, unused]) as report:
            self.launch("NO_FLAG")
        self.assertEqual(report.findings, [])
        self.assertEqual({one.kind for one, _ in report.suppressed} & {"read-after-write"}, {"read-after-write"})
        self.assertEqual(report.unused, [unused])
        with self.assertRaisesRegex(TypeError, "suppress: expected check.Suppression, got 'racy.cpp'"):
            check.hazards(suppress=["racy.cpp"]).__enter__()

    def test_an_exception_of_the_body_takes_the_report_with_it(self):
        with self.assertRaisesRegex(KeyError, "mine") as caught, check.hazards():
            self.launch("NO_FLAG")
            raise KeyError("mine")
        self.assertIn("read-after-write", "".join(caught.exception.__notes__))

    def test_one_at_a_time(self):
        refused = self.assertRaisesRegex(RuntimeError, "expected no other one that is open in this process")
        with check.hazards(), refused:
            check.hazards().__enter__()
        with check.hazards() as report:  # the refused one has not left the door shut
            self.launch("RIGHT")
        self.assertFalse(report)

    def test_off_nothing_is_found(self):
        with check.hazards(raises=False):
            pass
        self.launch("NO_FLAG").cpu()
        self.assertEqual(check.report().findings, [])

    def test_the_report_of_the_last_one_stays(self):
        report = self.found("NO_FLAG")
        self.assertEqual(check.report().findings, report.findings)


class ProcessTest(KernelTest):
    def output(self, code, program=PROGRAM, **variables):
        done = run_python(program + code, NPU_CHECK="hazards", **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_npu_check_raises_at_the_next_synchronisation(self):
        out = self.output("print([finding.second.line for finding in check.report().findings])")
        self.assertIn("twice", out)
        self.assertIn("TADD", out)
        self.assertIn(f"[{line_of('TADD(')}", out)

    def test_a_report_waits_for_what_is_queued_and_raises_no_finding(self):
        code = """
other, z = torch.Stream(device="npu"), torch.zeros(512, device="npu")
torch.npu.synchronize()
twice[1](x, y, 2)
twice[1, other](x, z, 2)
print([(finding.second.line, finding.times) for finding in check.report().findings][:1])
torch.npu.synchronize()
print("goes on")
"""
        out = self.output(code, SETUP)
        self.assertEqual(out, f"[({line_of('TADD(')}, 8)]\ngoes on\n")

    def test_a_report_raises_what_has_failed(self):
        code = """
torch.npu.synchronize()
twice[1](x, y, 1 << 20)
try:
    check.report()
except RuntimeError as error:
    print(error)
"""
        out = self.output(code, SETUP)
        self.assertIn("TSTORE: expected an address within the tensors of the launch", out)

    def test_a_context_within_leaves_the_findings_of_the_process(self):
        code = """
with check.hazards(kinds="flag") as report:
    twice[1](x, y, 2)
print("inside", len(report))
before = len(check.report())
print("before", before > 0)
"""
        out = self.output(code)
        self.assertIn("inside 0\n", out)
        self.assertIn("before True\n", out)

    def test_processes_leave_their_findings_in_a_folder(self):
        folder = self.folder()
        out = self.output("check.hazards().__enter__(); os._exit(0)", NPU_HAZARD_REPORT=str(folder))
        self.assertEqual(out, "")  # nothing is raised
        made = [json.loads(path.read_text()) for path in folder.iterdir()]
        kinds = [row["kind"] for process in made for row in process["findings"]]
        self.assertIn("read-after-write", kinds)
        self.assertGreaterEqual(made[0]["launches"], 1)

    def test_the_command_reports_what_a_program_did(self):
        path, program = self.folder() / "report.json", self.source("import npu_backend" + PROGRAM, "program.py")
        variables = {"PYTHONPATH": str(PACKAGES), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
        with mock.patch.dict(os.environ, variables):
            code = cli.main(["check", "--output", str(path), sys.executable, str(program)])
        self.assertEqual(code, 1)
        found = json.loads(path.read_text())["findings"]
        # Without the flag nothing makes V wait for the store of the row before, either.
        self.assertEqual([row["kind"] for row in found], ["read-after-write", "write-after-read"])
        self.assertEqual(found[0]["second"]["place"], f"{RACY}:{line_of('TADD(')}")
        self.assertEqual(found[0]["mend"].count("PIPE_MTE2, PIPE_V"), 2)

    def test_kinds_of_the_process_are_switched(self):
        out = self.output("print(len(check.report()))", NPU_HAZARD_KINDS="flag,range")
        self.assertEqual(out, "0\n")


if __name__ == "__main__":
    unittest.main()
