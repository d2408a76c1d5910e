# SPDX-License-Identifier: Apache-2.0
"""ascendc.cmake: a project with kernels, configured for debugging, built, run, changed and built again."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from op_extension import include_path
from op_extension.compat import isolated, shipped

PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(kernels CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_BUILD_TYPE Debug CACHE STRING "" FORCE)
include({cmake}/ascendc.cmake)
ascendc_library(kernels STATIC kernels.cpp)
ascendc_include_directories(kernels PRIVATE headers)
ascendc_compile_definitions(kernels PRIVATE -DHAVE_WORKSPACE -DADD=30)
ascendc_compile_options(kernels PRIVATE --cce-pto-enable -O0)
add_executable(host host.cpp)
target_include_directories(host PRIVATE {includes})
target_link_libraries(host PRIVATE kernels)
"""
KERNELS = """
#if defined(__DAV_C220_VEC__)
#include "kernel_operator.h"
#include "more.h"
extern "C" __global__ AICORE void on_vector(GM_ADDR out, uint8_t add, int64_t more, bool wanted) {
#ifndef HAVE_WORKSPACE
#error "expected a definition of the library"
#endif
  if (wanted) reinterpret_cast<__gm__ int*>(out)[block_idx] += add + more + ADD + MORE;
}
// Empty for this kind of core, once it is optimized: a debug build would run it on three cores.
template <int kUnused>
AICORE inline void Nothing(GM_ADDR) {}
extern "C" __global__ AICORE void on_cube(GM_ADDR out) { Nothing<1>(out); }
#else
#include "kernel_operator.h"
extern "C" __global__ AICORE void on_cube(GM_ADDR out) { reinterpret_cast<__gm__ int*>(out)[block_idx] += 1; }
#endif
extern "C" __global__ AICORE void on_both(GM_ADDR out) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
#if defined(__DAV_C220_VEC__)
  reinterpret_cast<__gm__ int*>(out)[1 + get_subblockid()] += 1;
#else
  reinterpret_cast<__gm__ int*>(out)[0] += 1;
#endif
}
"""
HOST = """
#include <cstdio>
#include "acl/acl.h"
#include "aclrtlaunch_on_both.h"
#include "aclrtlaunch_on_cube.h"
#include "aclrtlaunch_on_vector.h"
int main() {
  int* out = nullptr;
  aclrtMalloc(reinterpret_cast<void**>(&out), 64, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemset(out, 64, 0, 64);
  uint32_t refused = ACLRT_LAUNCH_KERNEL(on_vector)(0, nullptr, out, 1, 2, true);
  uint32_t error = ACLRT_LAUNCH_KERNEL(on_vector)(2, nullptr, out, 200, 1000, true);
  error += aclrtlaunch_on_vector(3, nullptr, out, 200, 1000, false);
  error += aclrtlaunch_on_cube(3, nullptr, out + 4);
  error += aclrtlaunch_on_both(1, nullptr, out + 8);
  error += aclrtSynchronizeStream(nullptr);
  printf("%u %u:", refused, error);
  for (int i = 0; i < 11; ++i) printf(" %d", out[i]);
}
"""


class AscendcTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.home = self.folder / "ascend"
        driver = self.home / "bin" / "bisheng"
        driver.parent.mkdir(parents=True)
        driver.write_text(isolated.script("op_extension.compat.bisheng"))
        driver.chmod(0o755)

    def write(self, **files):
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    def cmake(self, *arguments, code=0):
        environment = {**os.environ, "ASCEND_HOME_PATH": str(self.home)}
        program = Path(sys.executable).with_name("cmake")
        command = [str(program) if program.is_file() else "cmake", *arguments]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode != 0, code != 0, done.stdout + done.stderr)
        return " ".join(done.stderr.split())

    def run_host(self):
        done = subprocess.run([self.folder / "b" / "host"], capture_output=True, text=True, check=True)
        return done.stdout, done.stderr

    def test_kernels_are_compiled_for_their_cores_launched_and_compiled_again_when_a_header_changes(self):
        include = Path(include_path())
        runtime = include if (include / "npu_runtime.h").is_file() else include.parent / "runtime"
        project = PROJECT.format(cmake=shipped.cmake_folder(), includes=f"{include} {include}/compat/host {runtime}")
        self.write(CMakeLists_txt=project, kernels_cpp=KERNELS, host_cpp=HOST, headers__more_h="#define MORE 4\n")
        self.cmake("-G", "Unix Makefiles", "-S", ".", "-B", "b")
        self.cmake("--build", "b")
        out, err = self.run_host()
        self.assertEqual(out, "1 0: 1234 1234 0 0 1 1 1 0 1 1 1")
        self.assertRegex(
            err, r"^aclrtlaunch_on_vector: expected a launch, got: .* expected a block_dim of 1 .* got 0\n$"
        )
        self.write(headers__more_h="#define MORE 5\n")
        self.cmake("--build", "b")
        self.assertEqual(self.run_host()[0], "1 0: 1235 1235 0 0 1 1 1 0 1 1 1")

    def test_what_it_cannot_build_is_one_sentence(self):
        library = "ascendc_library(kernels {type} kernels.cpp)"
        for soc, type_, kernel, sentence in (
            ("Ascend310P", "STATIC", "", "expected Ascend910B1 .* as SOC_VERSION, got Ascend310P"),
            ("Ascend910B1", "MODULE", "", r"ascendc_library\(kernels\): expected STATIC or SHARED, got MODULE"),
            ("Ascend910B1", "SHARED", "int main() {}", r"ascendc_library\(kernels\): .*kernels.cpp: expected a kernel"),
        ):
            text = re.sub(r"ascendc_library.*", library.format(type=type_), PROJECT)
            project = text.format(cmake=shipped.cmake_folder(), includes=".")
            self.write(CMakeLists_txt=project, kernels_cpp=kernel, host_cpp="")
            self.assertRegex(self.cmake(f"-DSOC_VERSION={soc}", "-S", ".", "-B", "b", code=1), sentence)

    def test_an_older_cmake_is_one_sentence(self):
        text = f'set(CMAKE_VERSION 3.19.8)\ninclude("{shipped.cmake_folder()}/ascendc.cmake")\n'
        self.write(old_cmake=text)
        sentence = "ascendc.cmake: expected CMake 3.20 or newer, got 3.19.8"
        self.assertIn(sentence, self.cmake("-P", "old.cmake", code=1))


if __name__ == "__main__":
    unittest.main()
