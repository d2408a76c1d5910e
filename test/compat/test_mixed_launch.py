# SPDX-License-Identifier: Apache-2.0
"""A launch in brackets of a kernel for both kinds of core: its source is compiled once for each."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from op_extension import include_path
from op_extension.launch_brackets import rewrite

PROGRAM = """
#include <acl/acl.h>
#include <runtime/rt.h>
#include <pto/pto-inst.hpp>
#include <cstdio>
using namespace pto;

// What a kernel finds out of its core must not be taken from the other pass.
#ifdef __DAV_CUBE__
inline int Core() { return 100; }
#else
inline int Core() { return 200 + static_cast<int>(get_subblockid()); }
#endif

template <int kAdd>
__global__ AICORE void both(__gm__ uint64_t* ffts, __gm__ int* out) {
  set_ffts_base_addr((uint64_t)ffts);
  const int vector = Core() == 100 ? 0 : 1 + static_cast<int>(get_subblockid());
  __gm__ int* mine = out + 3 * block_idx;
  if (vector == 0) {
    mine[0] = Core() + kAdd;
    ffts_cross_core_sync(PIPE_FIX, getFFTSMsg(2, 3));
  } else {
    wait_flag_dev(3);
    mine[vector] = mine[0] * 1000 + Core();
  }
}

template <int kAdd>
void Launch(uint64_t ffts, int* out, void* stream) {
  both<kAdd><<<2, nullptr, stream>>>((uint64_t*)ffts, out);
}

#ifdef __DAV_CUBE__
int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream;
  aclrtCreateStream(&stream);
  uint64_t ffts = 0;
  uint32_t bytes = 0;
  if (rtGetC2cCtrlAddr(&ffts, &bytes) != RT_ERROR_NONE || ffts == 0) return 1;
  int* device = nullptr;
  int host[6] = {};
  aclrtMalloc((void**)&device, sizeof(host), ACL_MEM_MALLOC_HUGE_FIRST);
  Launch<1>(ffts, device, stream);
  Launch<2>(ffts, device, stream);
  aclrtSynchronizeStream(stream);
  aclrtMemcpy(host, sizeof(host), device, sizeof(host), ACL_MEMCPY_DEVICE_TO_HOST);
  for (int value : host) printf("%d ", value);
}
#else
template void Launch<1>(uint64_t, int*, void*);
template void Launch<2>(uint64_t, int*, void*);
#endif
"""


def run(*command: str) -> str:
    """Output of a command that must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class MixedLaunchTest(unittest.TestCase):
    """npu/launch.hpp with NPU_VECTOR_PASS_ONLY."""

    def test_runs_the_pass_of_each_core(self) -> None:
        include = Path(include_path())
        runtime = include if (include / "npu_runtime.h").is_file() else include.parent / "runtime"
        library = Path(__file__).resolve().parents[2] / "npu_backend" / "lib"
        paths = [include, include / "compat" / "device", include / "compat" / "host", runtime]
        with tempfile.TemporaryDirectory() as folder:
            source, cube, vector, program = (Path(folder, name) for name in ("k.cpp", "c.o", "v.o", "k"))
            source.write_text(rewrite(PROGRAM, "k.cpp"), encoding="utf-8")
            compiler = ["g++", "-std=c++17", "-O1", "-D__CCE_AICORE__=220", "-D__NPU_ARCH__=2201", "-c", str(source)]
            compiler += [f"-I{path}" for path in paths]
            run(*compiler, "-D__DAV_CUBE__", "-o", str(cube))
            # Hidden symbols become local ones: functions of one name stay apart, those of the runtime do not.
            run(
                *compiler,
                "-D__DAV_VEC__",
                "-DNPU_VECTOR_PASS_ONLY",
                "-fvisibility=hidden",
                "-fno-gnu-unique",
                "-o",
                str(vector) + "0",
            )
            run("ld", "-r", "--force-group-allocation", str(vector) + "0", "-o", str(vector))
            run("objcopy", "--localize-hidden", str(vector))
            link = [f"-L{library}", "-lnpu_runtime", f"-Wl,-rpath,{library}"]
            run("g++", str(cube), str(vector), "-o", str(program), *link)
            numbers = [int(text) for text in run(str(program)).split()]
        self.assertEqual(numbers, [102, 102200, 102201] * 2)


if __name__ == "__main__":
    unittest.main()
