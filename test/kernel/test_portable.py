# SPDX-License-Identifier: Apache-2.0
"""op-extension portable: what is said of lines that do not run on each chip, and nothing of others."""

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from op_extension import cli, portable
from op_extension import instruction_probes as probes
from op_extension.errors import CompileError
from op_extension.instruction_calls import Function, functions
from op_extension.jit import toolchain

A3 = "Ascend910B1, Ascend910B2, Ascend910B3, Ascend910B4"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXPECTED = {
    (20, f"TADD: expected elements of type int16, int32, half or float on Ascend910B1, got bfloat16 (not on {A3}; on "
         "Ascend950PR)"),
    (20, "TADD: expected elements of type int16, int32, half or float on Ascend910B1, got double (on no chip; the "
         "emulator runs it where a launch asks for float64)"),
    (31, "TASSIGN: expected the Vec float tile of 208x256 (212992 bytes) to end within the 196608 bytes of UB on "
         f"Ascend910B1, got address 0, end 212992 (not on {A3}; on Ascend950PR)"),
    (34, "TADDC: no chip has it; it runs in the emulator only"),
    (35, f"set_intra_block: expected a chip with flags within a block (A5), got Ascend910B1 (not on {A3}; on "
         "Ascend950PR)"),
    (36, f"wait_intra_block: expected a chip with flags within a block (A5), got Ascend910B1 (not on {A3})"),
}  # fmt: skip
# A launch in brackets, of a kernel for cores of both kinds.
MIXED = """
#include <acl/acl.h>
#include <pto/pto-inst.hpp>
using namespace pto;
__global__ AICORE void product(__gm__ half* x) {
#ifdef __DAV_CUBE__
  TileLeft<half, 16, 16> a;
  TileRight<half, 16, 16> b;
  TileAcc<float, 16, 16> c;
  TASSIGN(a, 0);
  TASSIGN(b, 0);
  TASSIGN(c, 0);
  TMATMUL(c, a, b);
#endif
}
void Launch(half* x, void* stream) {
  product<<<1, nullptr, stream>>>(x);
}
"""
REFUSED = """
#include <pto/pto-inst.hpp>
extern "C" __global__ AICORE void refused(__gm__ float* x) {
  AscendC::TPipe pipe;
}
"""


class PortableTest(unittest.TestCase):
    def examined(self, text: str) -> tuple[Path, portable.Report]:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name, "kernel.cpp")
        path.write_text(text, encoding="utf-8")
        return path, portable.examine(path)

    def test_names_lines_and_chips(self) -> None:
        path = Path(__file__).parent / "kernels" / "ported.cpp"
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = cli.main(["portable", str(path)])
        *lines, last = out.getvalue().splitlines()
        self.assertEqual({line for line in lines}, {f"{path}:{line}: {text}" for line, text in EXPECTED})
        self.assertRegex(last, r"ported.cpp: \d+ calls of instructions judged by their types; these depend on more")
        self.assertRegex(last, r"wait_flag \(19, 22\)")
        self.assertEqual(code, 1)

    def test_finds_nothing_in_a_kernel_for_all_chips(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = cli.main(["portable", str(EXAMPLES / "my_op_package" / "csrc" / "scaled_add_kernel.cpp")])
        self.assertEqual((code, out.getvalue().count("\n")), (0, 1), out.getvalue())

    def test_looks_at_both_kinds_of_core_and_at_launches_in_brackets(self) -> None:
        _, report = self.examined(MIXED)
        self.assertEqual(report.findings, [])
        self.assertGreaterEqual(report.judged, 4)
        self.assertNotIn("TMATMUL", report.not_judged)

    def test_says_what_does_not_compile_here(self) -> None:
        path, report = self.examined(REFUSED)
        (finding,) = report.findings
        self.assertEqual((finding.path, finding.line), (str(path), 4))
        self.assertRegex(finding.text, r"^does not compile here \(vector\): .*AscendC")

    def test_a_compiler_that_does_not_end_is_one_sentence(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, compiler = Path(folder, "kernel.cpp"), Path(folder, "compiler")
            source.write_text(MIXED)
            compiler.write_text("#!/bin/sh\nsleep 600\n")  # a child of its own, which keeps the pipes open
            compiler.chmod(0o755)
            with (
                mock.patch.dict(os.environ, {"CXX": str(compiler)}),
                mock.patch.object(toolchain, "_SECONDS", 1.0),
                contextlib.redirect_stderr(io.StringIO()) as error,
            ):
                self.assertEqual(cli.main(["portable", str(source)]), 2)
        self.assertEqual(
            error.getvalue(), "op-extension portable: op_extension: expected compiler to end within 1 s, got no end\n"
        )

    def test_a_missing_file_is_no_finding(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as error:
            self.assertEqual(cli.main(["portable", "/nowhere/kernel.cpp"]), 2)
        self.assertEqual(
            error.getvalue(), "op-extension portable: expected a C++ source, got no file /nowhere/kernel.cpp\n"
        )

    def test_a_missing_argument_is_named_alone(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as error, self.assertRaises(SystemExit):
            cli.main(["portable"])
        self.assertTrue(error.getvalue().endswith("the following arguments are required: FILE\n"), error.getvalue())


# Stands for the program of probes 0 to 3: 1 crashes on the second chip, 2 does not end on the first.
PROBES = """#!/bin/sh
[ "$1" = chips ] && echo One Two && exit
for number; do
  [ $number$NPU_SOC = 1Two ] && kill -SEGV $$
  [ $number$NPU_SOC = 2One ] && exec sleep 600
  for core in vector cube vector-of-block cube-of-block; do
    printf '\\n@probe %s %s 0 \\n\\n@probe %s %s 1 no\\n' $number $core $number $core
  done
done
"""


class ProbesTest(unittest.TestCase):
    def tried(self, program: str) -> list[dict[probes.Trial, str]]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "probes")
            path.write_text(program)
            path.chmod(0o755)
            built = mock.patch.object(probes, "_build", return_value=(path, {0, 1, 2, 3}))
            with built, mock.patch.object(probes, "_SECONDS_OF_RUN", 3.0):
                functions = [Function("TADD", "", ())] * 5
                return probes.tried(toolchain.find_compiler(), functions, Path(folder))

    def test_one_that_ends_the_program_or_does_not_end_is_judged_on_no_chip(self) -> None:
        results = self.tried(PROBES)
        self.assertEqual([len(trials) for trials in results], [16, 0, 0, 16, 0])
        self.assertEqual(results[3][probes.Trial("Two", "cube", False)], "")
        self.assertEqual([portable._verdict("TADD", trials) for trials in results], ["", None, None, "", None])

    def test_one_with_a_part_of_the_trials_is_not_judged(self) -> None:
        trials = {probes.Trial("One", "vector", False): "", probes.Trial("Two", "cube", False): "TADD: no"}
        self.assertIsNone(portable._verdict("TADD", trials))

    def test_a_program_that_does_not_run_is_one_sentence(self) -> None:
        with self.assertRaisesRegex(CompileError, "expected the names of chips from probes, got: exit code 3$"):
            self.tried("#!/bin/sh\nexit 3\n")


class FunctionsTest(unittest.TestCase):
    def test_reads_symbols(self) -> None:
        symbols = {
            "_Z8set_flag6pipe_tS_l": Function("set_flag", "", ("pipe_t", "pipe_t", "long")),
            "_ZN3pto7TASSIGNIfiEEvRT_T0_": Function("pto::TASSIGN", "float, int", ("float&", "int")),
        }
        self.assertEqual(functions(list(symbols)), symbols)

    def test_leaves_out_methods_insides_and_what_is_no_function(self) -> None:
        self.assertEqual(
            functions(["_ZN3pto6detail4LoadEv", "_ZNK3npu4Core3GetEv", "memcpy", "_ZN3npu12current_coreE"]), {}
        )


if __name__ == "__main__":
    unittest.main()
