# SPDX-License-Identifier: Apache-2.0
"""Launches in brackets become calls, and everything else stays where it was."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from op_extension import include_path
from op_extension.launch_brackets import LaunchSyntaxError, rewrite

PROGRAM = """
#include <acl/acl.h>
#include <pto/pto-inst.hpp>
#include <cstdio>
template <typename T, int kCount>
__global__ AICORE void fill(__gm__ T* out, T value) {
  using namespace pto;
  Tile<TileType::Vec, T, 1, kCount> tile;
  GlobalTensor<T, Shape<1, 1, 1, 1, kCount>, Stride<1, 1, 1, kCount, 1>> global(out + block_idx * kCount);
  TASSIGN(tile, 0);
  TEXPANDS(tile, value);
  TSTORE(global, tile);
}
#define LAUNCH(n, stream) fill<float, \\
                               n><<<2, nullptr, stream>>>(device, 3.0f)
int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream;
  aclrtCreateStream(&stream);
  float *device = nullptr, host[32] = {};
  aclrtMalloc((void**)&device, sizeof(host), ACL_MEM_MALLOC_HUGE_FIRST);
  LAUNCH(16, stream);
  aclrtSynchronizeStream(stream);
  aclrtMemcpy(host, sizeof(host), device, sizeof(host), ACL_MEMCPY_DEVICE_TO_HOST);
  aclrtFree(device);
  aclrtDestroyStream(stream);
  printf("%g %g %d", host[0], host[31], __LINE__);
}
"""

REFUSED = """
#include <acl/acl.h>
#include <pto/pto-inst.hpp>
#include <cstdio>
__global__ AICORE void k(int) {}
int main() {
  k<<<0, nullptr, nullptr>>>(1);
  printf("%d", aclrtSynchronizeStream(nullptr));
}
"""

ACL_CALLS = """
#include <acl/acl.h>
#include <cstdio>
void show(aclError error) { printf("%d %s\\n", error, aclGetRecentErrMsg()); }
int main() {
  char bytes[8] = {};
  show(aclrtMemcpy(bytes, 4, bytes, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  show(aclrtMemcpyAsync(bytes, 4, bytes, 8, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  show(aclrtMemset(bytes, 4, 0, 8));
  show(aclrtMemcpy(nullptr, 4, bytes, 4, ACL_MEMCPY_HOST_TO_DEVICE));
  show(aclrtGetDeviceCount(nullptr));
  show(aclrtMallocHost(nullptr, 8));
  aclrtEvent event = nullptr;
  aclrtCreateEvent(&event);
  printf("recorded %d", aclrtRecordEvent(event, nullptr));
  printf(", waited %d", aclrtStreamWaitEvent(nullptr, event));
  printf(", synchronized %d\\n", aclrtSynchronizeStream(nullptr));
}
"""


def run_program(text: str) -> subprocess.CompletedProcess[str]:
    """Rewrites, compiles and runs a program of one file."""
    include = Path(include_path())
    runtime = include if (include / "npu_runtime.h").is_file() else include.parent / "runtime"
    library = Path(__file__).resolve().parents[2] / "npu_backend" / "lib"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "program.cpp")
        source.write_text(rewrite(text, "program.cpp"), encoding="utf-8")
        paths = [include, include / "compat" / "device", include / "compat" / "host", runtime]
        command = ["g++", "-std=c++17", "-O1", "-D__CCE_AICORE__=220", "-D__NPU_ARCH__=2201", "-D__DAV_VEC__"]
        command += [f"-I{path}" for path in paths]
        command += [str(source), "-o", str(Path(folder, "program"))]
        command += [f"-L{library}", "-lnpu_runtime", f"-Wl,-rpath,{library}"]
        subprocess.run(command, check=True)
        return subprocess.run([str(Path(folder, "program"))], check=True, capture_output=True, text=True)


class LaunchBracketsTest(unittest.TestCase):
    """rewrite()."""

    def test_text_without_launches_stays(self) -> None:
        text = 'int a = 1 << 2;  // k<<<1>>>(x)\nconst char* s = "<<<";\n'
        self.assertEqual(rewrite(text), text)

    def test_keeps_names_arguments_and_lines(self) -> None:
        text = "int before;\nns::kernel<A<int>, 3>\n    <<<blocks(1, 2), nullptr, s>>>(f(x), y[0]);\nint after;\n"
        lines = rewrite(text, "k.cpp").splitlines()
        self.assertEqual(lines[1], '#line 1 "k.cpp"')
        self.assertEqual(
            lines[3],
            '::npu::LaunchBody("ns::kernel", blocks(1, 2), s, [=] { ns::kernel<A<int>, 3>(f(x), y[0]); })',
        )
        self.assertEqual(lines[5], "int after;")

    def test_names_a_kernel_that_a_macro_pastes_together(self) -> None:
        text = "#define RUN(NAME, T) \\\n  run_##NAME<<<1, nullptr, s>>>(x)\n"
        self.assertIn('LaunchBody("run_" #NAME, 1, s, [=] { run_##NAME(x); })', rewrite(text))
        self.assertIn('LaunchBody("k", 1, s, [=] { k(x); })', rewrite(text + "void f() { k<<<1, nullptr, s>>>(x); }"))

    def test_names_a_kernel_whose_name_is_the_call_of_a_macro(self) -> None:
        self.assertIn(
            '::npu::LaunchBody("JOIN(run, CASE)", 1, s, [=] { JOIN(run, CASE)<half, 3>((half*)(x)); })',
            rewrite("if (b) JOIN(run, CASE)<half, 3>\n<<<1, nullptr, s>>>((half*)(x));"),
        )

    def test_reads_the_registers_that_the_chips_assembly_names(self) -> None:
        text = 'asm volatile("MOV %0, {}\\n" : "+l"(x));'
        self.assertEqual(rewrite(text.format("SYS_CNT")), "x = get_sys_cnt();")
        self.assertEqual(rewrite(text.format("PC").replace("asm volatile", "__asm__ __volatile__")), "x = 0;")
        for other in (text.format("SPR"), 'asm("nop");'):
            self.assertEqual(rewrite(other), other)

    def test_finds_launches_behind_quotes_in_characters_and_raw_strings(self) -> None:
        for before in (
            """char c = '"';""",
            """f('\\'', L'"');""",
            'f(R"(a " b)");',
            'f(u8R"x(")")x");',
            "int n = 1'000;",
        ):
            with self.subTest(before):
                self.assertIn('LaunchBody("k", 1, s, [=] { k(x); });', rewrite(f"{before} k<<<1, nullptr, s>>>(x);"))
        for text in ("""f('"', "<<<", '"');""", 'f(R"("<<<)");'):
            self.assertEqual(rewrite(text), text)

    def test_comments_are_not_read(self) -> None:
        expected = '::npu::LaunchBody("k", n, s, [=] { k(x); })'
        for text in (
            "k<<<n /* blocks, many */, nullptr, s>>>(x)",
            "k<<<n, // blocks, all\nnullptr, s>>>(x)",
            "k<<<n, nullptr, s // stream\n>>>(x)",
            "k // of, one\n<<<n, nullptr, s>>>(x)",
        ):
            with self.subTest(text):
                self.assertIn(expected, rewrite(text).splitlines())

    def test_brackets_of_templates_end_no_launch(self) -> None:
        for kernel, blocks in (("k", "g<A<B<int>>>()"), ("k<(a > b)>", "1"), ("k<T<int>, n[1 > 0]>", "1")):
            with self.subTest(f"{kernel} {blocks}"):
                call = f'LaunchBody("k", {blocks}, s, [=] {{ {kernel}(x); }})'
                self.assertIn("{ ::npu::" + call, rewrite(f"{{ {kernel}<<<{blocks}, nullptr, s>>>(x); }}"))

    def test_takes_the_name_alone(self) -> None:
        self.assertIn('case A:::npu::LaunchBody("k", 1, s,', rewrite("case A:k<<<1, nullptr, s>>>(x);"))
        self.assertIn('LaunchBody("f[i]", 1, s, [=] { f[i](x); })', rewrite("f[i]<<<1, nullptr, s>>>(x);"))

    def test_a_line_of_a_macro_goes_on_behind_a_comment(self) -> None:
        text = "#define L(n) k<n> /* a \\\n b */ <<<1, nullptr, \\\n s>>>(x)\nint after;"
        lines = rewrite(text).splitlines()
        self.assertEqual(lines[2], '#define L(n) ::npu::LaunchBody("k", 1, s, [=] { k<n>(x); })\\')
        self.assertEqual(lines[5:], ["int after;"])

    def test_a_name_of_a_file_may_have_quotes(self) -> None:
        self.assertEqual(rewrite("k<<<1, nullptr, s>>>(x)", 'q"u.cpp').splitlines()[1], '#line 1 "q\\"u.cpp"')

    def test_names_the_line_of_a_launch_that_does_not_end(self) -> None:
        with self.assertRaisesRegex(LaunchSyntaxError, r"k.cpp:2: expected a launch kernel<<<...>>>\(...\)"):
            rewrite("int a;\nk<<<1, nullptr, s>>>(x;\n", "k.cpp")

    def test_a_rewritten_program_computes_and_names_its_own_lines(self) -> None:
        run = run_program(PROGRAM)
        line = PROGRAM.splitlines().index('  printf("%g %g %d", host[0], host[31], __LINE__);') + 1
        self.assertEqual((run.stdout, run.stderr), (f"3 3 {line}", ""))

    def test_a_refused_launch_is_named(self) -> None:
        run = run_program(REFUSED)
        self.assertEqual(run.stdout, "0")
        self.assertRegex(
            run.stderr,
            r"\Ak<<<>>>: expected a launch, got: npuLaunch\w+: expected a block_dim of 1 to 65535, got 0\n\Z",
        )

    def test_refused_calls_of_the_vendors_interface_have_sentences(self) -> None:
        self.assertEqual(
            run_program(ACL_CALLS).stdout.splitlines(),
            [
                "100000 aclrtMemcpy: expected at most the 4 bytes of the destination, got 8",
                "100000 aclrtMemcpyAsync: expected at most the 4 bytes of the destination, got 8",
                "100000 aclrtMemset: expected at most the 4 bytes of the destination, got 8",
                "100000 aclrtMemcpy: expected memory for 4 bytes, got NULL",
                "100000 aclrtGetDeviceCount: expected a pointer for the count, got NULL",
                "100000 aclrtMallocHost: expected a pointer for the address, got NULL",
                "recorded 0, waited 0, synchronized 0",
            ],
        )


if __name__ == "__main__":
    unittest.main()
