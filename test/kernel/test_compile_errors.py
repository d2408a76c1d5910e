# SPDX-License-Identifier: Apache-2.0
"""A kernel that does not compile: the exception shows the caller's own line first."""

import os
import sys
import unittest
from pathlib import Path
from unittest import mock

import op_extension
from op_extension.errors import CompileError

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.kernel.kernels_of_test import KernelTest

PROLOGUE = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"


class CompileErrorTest(KernelTest):
    def error_of(self, text, **options):
        source = self.source(text)
        with self.assertRaises(CompileError) as caught:
            op_extension.kernel.load(source, **{"entry": "k", **options}).compile()
        return source, caught.exception

    def assert_shows(self, text, line, code, sentence):
        source, error = self.error_of(text)
        first, second = str(error).splitlines()[:2]
        self.assertRegex(first, rf"^{source}:{line}: error: .*{sentence}")
        self.assertEqual(second.split("|", 1)[1].strip(), code)
        self.assertEqual((error.path, error.line), (source, line))
        self.assertIn(error.output.strip(), str(error))
        return error

    def test_shows_the_line_of_a_mistake(self):
        code = "undeclared(x);"
        self.assert_shows(
            PROLOGUE + f'extern "C" __global__ AICORE void k(__gm__ float* x) {{\n  {code}\n}}\n',
            4,
            code,
            "not declared",
        )

    def test_shows_the_line_that_uses_a_header_which_refuses_it(self):
        code = "Tile<TileType::Vec, float, 1, 3> tile;"
        text = PROLOGUE + f'extern "C" __global__ AICORE void k() {{\n  {code}\n  tile.data();\n}}\n'
        error = self.assert_shows(text, 4, code, "expected rows")
        self.assertRegex(str(error).splitlines()[2], r"found in .*tile\.hpp:\d+")

    def test_shows_the_line_that_uses_a_macro_of_a_header(self):
        source = self.source('#include "macro.h"\nextern "C" void k() {\n  WRONG;\n}\n')
        (source.parent / "macro.h").write_text("#define WRONG undeclared()\n")
        with self.assertRaises(CompileError) as caught:
            op_extension.kernel.load(source, entry="k").compile()
        self.assertIn("k.cpp:3", str(caught.exception))

    def test_names_an_entry_that_is_not_there(self):
        source, error = self.error_of('extern "C" void other() {}\n')
        self.assertRegex(str(error), rf'^{source}: expected a kernel k \(extern "C" .*\) in the vector pass, got: .*k')

    def test_names_the_pass_without_the_entry(self):
        text = '#ifdef __DAV_CUBE__\nextern "C" void k() {}\n#endif\n'
        self.assertRegex(str(self.error_of(text)[1]), "in the vector pass, got")
        op_extension.kernel.load(self.source(text), entry="k", core="cube").compile()

    def test_names_an_entry_that_returns_something(self):
        self.assertRegex(str(self.error_of('extern "C" int k() { return 1; }\n')[1]), "expected a kernel k .*got")

    def test_shows_what_the_linker_misses(self):
        source, error = self.error_of('extern "C" void gone();\nextern "C" void k() { gone(); }\n')
        self.assertRegex(str(error), rf"^{source}: expected a definition of gone, got none\n")

    def test_is_a_runtime_error_and_the_next_kernel_compiles(self):
        self.assertTrue(issubclass(CompileError, RuntimeError))
        self.error_of("nonsense")
        op_extension.kernel.load(self.source('extern "C" void k() {}'), entry="k").compile()

    def test_does_not_repeat_a_failure_from_the_cache(self):
        source, _ = self.error_of("nonsense")
        source.write_text('extern "C" void k() {}')
        op_extension.kernel.load(source, entry="k").compile()

    def test_a_name_without_template_arguments_is_told_so(self):
        sentence = (
            'expected the name of one function, of a template with its arguments (entry="k<float>"), got k, which'
        )
        template = "template <class T>\n__global__ AICORE void k(__gm__ T* x) { *x = T(); }\n"
        overloads = "__global__ AICORE void k(__gm__ float* x) {}\n__global__ AICORE void k(__gm__ half* x) {}\n"
        for text in (template, overloads):
            self.assertIn(sentence, str(self.error_of(PROLOGUE + text)[1]).splitlines()[0])


class CompilerTest(KernelTest):
    def test_one_sentence_without_a_compiler(self):
        source = self.source('extern "C" void k() {}')
        for variables, program in (
            ({"CXX": "no-such-compiler -O3"}, "no-such-compiler"),
            ({"CXX": "env no-such-compiler -O3"}, "no-such-compiler"),
            ({"CXX": "", "PATH": str(source.parent)}, r"g\+\+"),
        ):
            with self.subTest(variables), mock.patch.dict(os.environ, variables):
                with self.assertRaisesRegex(
                    CompileError, rf"expected a C\+\+ compiler .*got no program {program}; .*apt-get"
                ) as caught:
                    op_extension.kernel.load(source, entry="k").compile()
                self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_names_what_is_open_at_the_end_of_the_file(self):
        for text in (
            'extern "C" void k(int n) {',
            'extern "C" void k() {}\nstruct A {',
            'extern "C" void k() {}\nint x',
        ):
            source = self.source(text)
            with self.assertRaisesRegex(CompileError, f"{source}: expected a declaration that is whole at the end"):
                op_extension.kernel.load(source, entry="k").compile()

    def test_uses_the_command_in_cxx(self):
        source = self.source('extern "C" void k(int* x) { *x = FROM_CXX; }')
        import torch

        x = torch.zeros(1, dtype=torch.int32)
        with mock.patch.dict(os.environ, {"CXX": "g++ -DFROM_CXX=9"}):
            op_extension.kernel.load(source, entry="k")[1](x)
        self.assertEqual(x.item(), 9)

    def test_options_in_cxx_may_have_arguments(self):
        source = self.source('#include "own.h"\nextern "C" void k(int* x) { *x = kFromHeader; }')
        folder = self.folder()
        (folder / "own.h").write_text("constexpr int kFromHeader = 4;\n")
        import torch

        x = torch.zeros(1, dtype=torch.int32)
        with mock.patch.dict(os.environ, {"CXX": f"g++ -isystem {folder}"}):
            op_extension.kernel.load(source, entry="k")[1](x)
        self.assertEqual(x.item(), 4)

    def test_names_a_level_that_the_machine_lacks(self):
        source = self.source('extern "C" void k() {}')
        sentence = "NPU_ISA_LEVEL: expected .*on this machine, got x86-64-v9"
        with mock.patch.dict(os.environ, {"NPU_ISA_LEVEL": "x86-64-v9"}), self.assertRaisesRegex(ValueError, sentence):
            op_extension.kernel.load(source, entry="k").compile()


if __name__ == "__main__":
    unittest.main()
