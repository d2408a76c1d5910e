# SPDX-License-Identifier: Apache-2.0
"""Libraries that bisheng makes: kernels of both passes, launched, counted and named like those of kernel.load."""

import contextlib
import ctypes
import io
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import torch

import op_extension
from op_extension.check import count_instructions, launch_count, memory_map
from op_extension.compat.bisheng_compile import host_compiler, without_registrations
from op_extension.jit import toolchain

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.compat.driver import bisheng

COUNTS = """
#pragma once
#include <pto/pto-inst.hpp>
// One more for each core that runs it, so that a kernel that runs on more cores than it is for is seen.
inline void CountCore(__gm__ int* counts, int place) { counts[place] += 1; }
"""
KERNELS = """
#include "counts.hpp"
using namespace pto;

template <class T>
AICORE void Double(__gm__ T* x) {
#if __CCE_AICORE__ == 220 && defined(__DAV_C220_VEC__)
  using Global = GlobalTensor<T, Shape<1, 1, 1, 1, 32>, Stride<1, 1, 1, 32, 1>>;
  Tile<TileType::Vec, T, 1, 32> tile;
  TASSIGN(tile, 64);
  Global global(x + 32 * block_idx);
  TLOAD(tile, global);
  TADD(tile, tile, tile);
  TSTORE(global, tile);
#endif
}
__global__ AICORE void doubled(__gm__ float* x, __gm__ int* counts) {
  Double(x);
#ifdef __DAV_VEC__
  CountCore(counts, block_idx);
#endif
}
__global__ AICORE void on_cube(__gm__ int* counts) {
#ifdef __DAV_CUBE__
  CountCore(counts, block_idx);
#endif
}
template <int kAdd>
__global__ AICORE void on_both(__gm__ int* counts) {
#ifdef __DAV_CUBE__
  CountCore(counts, 0);
  ffts_cross_core_sync(PIPE_FIX, getFFTSMsg(2, 3));
#else
  wait_flag_dev(3);
  counts[1 + get_subblockid()] = counts[0] + kAdd;
#endif
}
__global__ AICORE void on_none(__gm__ int*) {}
// Not empty for any kind of core: these say which they are for.
__global__ __vector__ void named_vector(__gm__ int* counts) { CountCore(counts, block_idx); }
__global__ AICORE __attribute__((aic)) void named_cube(__gm__ int* counts) { CountCore(counts, block_idx); }
__global__ __mix__(1, 2) void named_both(__gm__ int* counts) {
#ifdef __DAV_VEC__
  CountCore(counts, get_subblockid());
#endif
}
__global__ AICORE void misplaced(__gm__ float* x) {
#ifdef __DAV_VEC__
  Tile<TileType::Vec, float, 1, 32> tile;
  TASSIGN(tile, 4);
#endif
}
#define LAUNCH(kernel, ...) kernel<<<blocks, nullptr, stream>>>(__VA_ARGS__)
extern "C" void call_doubled(int blocks, void* stream, float* x, int* counts) { LAUNCH(doubled, x, counts); }
extern "C" void call_on_cube(int blocks, void* stream, int* counts) { LAUNCH(on_cube, counts); }
extern "C" void call_on_both(int blocks, void* stream, int* counts) { on_both<5><<<1, nullptr, stream>>>(counts); }
extern "C" void call_on_none(int blocks, void* stream, int* counts) { LAUNCH(on_none, counts); }
extern "C" void call_named_vector(int, void* stream, int* counts) { named_vector<<<3, nullptr, stream>>>(counts); }
extern "C" void call_named_cube(int, void* stream, int* counts) { named_cube<<<3, nullptr, stream>>>(counts); }
extern "C" void call_named_both(int, void* stream, int* counts) { named_both<<<1, nullptr, stream>>>(counts); }
extern "C" void call_misplaced(int blocks, void* stream, float* x) { LAUNCH(misplaced, x); }
"""


class LibraryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        Path(folder.name, "counts.hpp").write_text(COUNTS)
        source, library = Path(folder.name, "kernels.cpp"), Path(folder.name, "kernels.so")
        source.write_text(KERNELS)
        flags = ["-fPIC", "-xcce", "--npu-arch=dav-2201", "-O0", "-std=c++17", "-MD", "-MF", f"{library}.d"]
        # The object file first, as build files do it; only it says whether it can hold both passes.
        bisheng(*flags, "-c", source, "-o", f"{library}.o")
        bisheng("-shared", "--cce-fatobj-link", f"{library}.o", "-o", library)
        cls.library = ctypes.CDLL(str(library))

    def call(self, name, *tensors, blocks=1):
        stream = torch.npu.current_stream()._as_parameter_
        addresses = [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
        getattr(self.library, f"call_{name}")(ctypes.c_int(blocks), stream, *addresses)

    def counts(self, name, blocks=3):
        counts = torch.zeros(blocks, dtype=torch.int32, device="npu")
        self.call(name, counts, blocks=blocks)
        return counts.tolist()

    def test_a_kernel_runs_on_the_cores_for_which_it_is_not_empty(self):
        x, counts = torch.arange(96.0).npu(), torch.zeros(3, dtype=torch.int32, device="npu")
        self.call("doubled", x, counts, blocks=3)
        self.assertEqual(x.tolist(), (2 * torch.arange(96.0)).tolist())
        self.assertEqual(counts.tolist(), [1, 1, 1])
        self.assertEqual(self.counts("on_cube"), [1, 1, 1])
        self.assertEqual(self.counts("on_both"), [1, 6, 6])
        self.assertEqual(self.counts("on_none"), [0, 0, 0])

    def test_a_kernel_runs_on_the_cores_that_it_names(self):
        self.assertEqual(self.counts("named_vector"), [1, 1, 1])
        self.assertEqual(self.counts("named_cube"), [1, 1, 1])
        self.assertEqual(self.counts("named_both"), [1, 1, 0])

    def test_a_launch_is_queued_on_the_stream_that_it_names(self):
        stream, x = torch.npu.Stream(), torch.ones(32, device="npu")
        counts = torch.zeros(1, dtype=torch.int32, device="npu")
        torch.npu.synchronize()
        with torch.npu.stream(stream):
            self.call("doubled", x, counts)
            self.assertFalse(stream.query())
        stream.synchronize()
        self.assertEqual(x.unique().tolist(), [2.0])

    def test_a_kernel_is_observed(self):
        x, counts = torch.ones(96, device="npu"), torch.zeros(3, dtype=torch.int32, device="npu")
        before = launch_count("doubled")
        with count_instructions() as counted:
            self.call("doubled", x, counts, blocks=3)
        self.assertEqual(counted["TADD"], (3, 96))
        self.assertEqual(launch_count("doubled"), before + 1)
        with contextlib.redirect_stdout(io.StringIO()):
            (tile,) = memory_map(self.call, "doubled", x, counts).tiles
        self.assertEqual((tile["kernel"], tile["core"], tile["address"]), ("doubled", "vector", 64))
        line = next(at for at, text in enumerate(KERNELS.splitlines(), 1) if "TASSIGN(tile, 64)" in text)
        self.assertRegex(tile["line"], rf"kernels\.cpp:{line}$|\.so\+0x")

    def test_a_fault_names_the_kernel(self):
        self.call("misplaced", torch.ones(32, device="npu"))
        with self.assertRaisesRegex(RuntimeError, r"misplaced, block 0, instruction \d+: TASSIGN: .* 32 .* got 4"):
            torch.npu.synchronize()

    def test_the_rule_names_the_source_and_its_headers(self):
        (rule,) = (self.folder / "kernels.so.d").read_text().splitlines()
        target, source, *headers = rule.split()
        self.assertEqual((target, source), (f"{self.folder}/kernels.so.o:", f"{self.folder}/kernels.cpp"))
        self.assertEqual(headers.count(f"{self.folder}/counts.hpp"), 1)


class PassTest(unittest.TestCase):
    def test_operators_are_registered_by_one_pass(self):
        text = "TORCH_LIBRARY_IMPL(npu,\n  PrivateUse1, m) { m.impl(f); }\n  TORCH_LIBRARY(a, lib) { lib.def(g); }\n"
        name = "[[maybe_unused]] static void npu_not_registered_"
        expected = f"{name}0(torch::Library& m)\n {{ m.impl(f); }}\n{name}1(torch::Library& lib) {{ lib.def(g); }}\n"
        self.assertEqual(without_registrations(text), expected)
        self.assertEqual(without_registrations("// not TORCH_LIBRARY(a, m)"), "// not TORCH_LIBRARY(a, m)")

    def test_the_driver_is_not_its_own_compiler(self):
        for given, command in (("/opt/bin/bisheng", ["g++"]), ("", ["g++"]), ("ccache g++", ["ccache", "g++"])):
            with mock.patch.dict(os.environ, {"CXX": given}):
                self.assertEqual(host_compiler(), command)
        with mock.patch.dict(os.environ, {"CXX": "/opt/bin/bisheng"}):
            self.assertEqual(toolchain.find_compiler().command, ("g++",))


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def test_an_error_names_the_callers_file_and_line_and_ends_with_1(self):
        source = self.write("k.cpp", "void f(void* s) {\n  k<<<1, nullptr, s>>>(\n    1);\n  undeclared();\n}\n")
        done = bisheng("-xcce", "--npu-arch=dav-2201", "-c", source, cwd=self.folder, code=1)
        self.assertEqual(len(re.findall("k.cpp:4:3: error: .undeclared. was not declared", done.stderr)), 1)
        self.assertEqual(list(self.folder.glob("*.o")), [])
        for changed in ('void f(long x) { asm volatile("MOV %0, SYS_CNT\\n" : "+l"(x)); }', "TORCH_LIBRARY(a, m) {}"):
            source = self.write("k.cpp", f"{changed}\nvoid g() {{ undeclared(); }}\n")
            done = bisheng("-xcce", "--npu-arch=dav-2201", "-c", source, cwd=self.folder, code=1)
            self.assertEqual(re.findall(r"^(\S+): error: .undeclared.", done.stderr, re.M), ["k.cpp:2:12"])

    def test_a_launch_function_names_the_line_of_any_folder(self):
        folder = self.folder / 'q"u\\x'
        folder.mkdir()
        source = folder / "k.cpp"
        source.write_text('#include "kernel_operator.h"\nextern "C" __global__ AICORE void k(int n) {\n  gone(n);\n}\n')
        words = ["-xcce", "--cce-aicore-arch=dav-c220-vec", "--npu-launch-functions", "-c", source]
        said = bisheng(*words, cwd=self.folder, code=1).stderr
        self.assertIn(
            f"{source}:3:3: error: 'gone' was not declared", said.replace("\u2018", "'").replace("\u2019", "'")
        )

    def test_what_it_refuses_is_one_sentence(self):
        source = self.write("k.cpp", "void f(void* s) { k<<<1, nullptr, s>>>(;\n")
        for words, sentence in (
            (["-c", source], "k.cpp:1: expected a launch kernel<<<...>>>(...), got one that does not end\n"),
            (["-c", "gone.cpp"], "bisheng: expected a file gone.cpp, got: No such file or directory\n"),
            (["-c", source, source, "-o", "k.o"], "bisheng: expected one source for -c -o k.o, got 2\n"),
            (["--cce-unknown", source], "bisheng: expected an option of g++ or one of the chip's compiler that is "
             "known here, got --cce-unknown\n"),
        ):  # fmt: skip
            self.assertEqual(bisheng("-xcce", *words, cwd=self.folder, code=1).stderr, sentence)

    def test_intrinsics_need_no_header(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "bare.cpp")
            source.write_text("inline long Ticks() {\n  pipe_barrier(PIPE_ALL);\n  return get_sys_cnt();\n}\n")
            bisheng("-xcce", "--cce-aicore-arch=dav-c220-cube", "-fsyntax-only", source)
            refused = bisheng("-xc++", "-fsyntax-only", source, code=1).stderr  # code of the host has none
        self.assertIn("pipe_barrier", refused)

    def test_checks_and_assembles_launches_in_brackets(self):
        text = "__global__ AICORE void k(int) {}\nvoid f(void* s) {\n  k<<<1, nullptr, s>>>(1);\n}\n"
        source = self.write("k.cpp", f"#include <pto/pto-inst.hpp>\n{text}")
        bisheng("-xcce", "-fsyntax-only", "-c", source, cwd=self.folder)
        self.assertEqual([path.name for path in self.folder.iterdir()], [source])
        bisheng("-xcce", "-S", "-MMD", source, cwd=self.folder)
        self.assertIn("LaunchBody", (self.folder / "k.s").read_text())
        self.assertEqual((self.folder / "k.d").read_text().split()[:2], ["k.s:", source])
        self.write("k.cpp", "void f() { undeclared(); }")
        self.assertIn("k.cpp:1:12: error", bisheng("-xcce", "-fsyntax-only", source, cwd=self.folder, code=1).stderr)

    def test_leaves_rules_of_what_is_linked_at_once_where_the_compiler_does(self):
        self.write("host.cpp", "int x;\n")
        self.write("k.cpp", "int y;\n")
        for words, rules in (
            (["k.cpp", "-o", "k.so"], {"k.d": "k.so: k.cpp\n"}),
            (["-x", "c++", "k.cpp"], {"k.d": "k.o: k.cpp\n"}),
            (
                ["k.cpp", "-x", "c++", "host.cpp", "-o", "b.so"],
                {"b-k.d": "b-k.o: k.cpp\n", "b-host.d": "b-host.o: host.cpp\n"},
            ),
        ):
            bisheng("-shared", "-fPIC", "-MMD", "-xcce", "--cce-aicore-arch=dav-c220-vec", *words, cwd=self.folder)
            # Behind the source stand, for kernels, the headers of the intrinsics.
            found = {path.name: path.read_text().split()[:2] for path in self.folder.glob("*.d")}
            self.assertEqual(found, {name: rule.split() for name, rule in rules.items()})
            for name in found:
                (self.folder / name).unlink()

    def test_compiles_and_links_sources_of_the_host(self):
        main = self.write(
            "main.cpp", '#include <acl/acl.h>\nextern "C" int c();\nint main() { return aclInit(0) + c(); }'
        )
        self.write("part.c", "int c(void) { int class = 0; return class; }\n")
        bisheng("-xc++", "-include", "stdint.h", main, "-x", "none", "part.c", "-o", "main", cwd=self.folder)
        self.assertTrue((self.folder / "main").is_file())

    def test_answers_what_is_asked_of_compilers(self):
        self.assertIn(f"bisheng of op_extension {op_extension.__version__}", bisheng("--version").stdout)
        self.assertRegex(bisheng("-dumpmachine").stdout, r"^\w+-.*linux")
        text = bisheng("-xcce", "--cce-aicore-arch=dav-c310-cube", "-E", "-dM", "-x", "cce", "/dev/null").stdout
        for define in ("__NPU_ARCH__ 3510", "__CCE_AICORE__ 310", "__DAV_CUBE__ 1", "__DAV_C310_CUBE__ 1"):
            self.assertIn(f"#define {define}\n", text)


if __name__ == "__main__":
    unittest.main()
