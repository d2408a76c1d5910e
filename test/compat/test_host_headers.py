# SPDX-License-Identifier: Apache-2.0
"""acl/acl.h, runtime/rt.h and tiling/platform/platform_ascendc.h: host code of the chip without PyTorch."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from op_extension import include_paths, library_dirs

PROGRAM = """
#include <acl/acl.h>
#include <acl/error_codes/rt_error_codes.h>
#include <runtime/rt.h>
#include <tiling/platform/platform_ascendc.h>
#include <cstdio>
extern "C" int32_t rtSetDevice(int32_t);  // as programs do that do without the header
using platform_ascendc::CoreMemType;
using platform_ascendc::PlatformAscendCManager;

void Cores() {
  int64_t cube = 0, vector = 0;
  uint32_t cores = 0;
  uint64_t ub = 0;
  aclrtGetDeviceInfo(1, ACL_DEV_ATTR_AICORE_CORE_NUM, &cube);
  aclrtGetDeviceInfo(1, ACL_DEV_ATTR_VECTOR_CORE_NUM, &vector);
  rtGetAiCoreCount(&cores);
  const auto* platform = PlatformAscendCManager::GetInstance();
  platform->GetCoreMemSize(CoreMemType::UB, ub);
  printf("%ld %ld %u; %u %u %u; %lu %u; ", cube, vector, cores, platform->GetCoreNumAic(),
         platform->GetCoreNumAiv(), platform->GetCoreNum(), ub, platform->GetLibApiWorkSpaceSize());
  printf("%u; ", PlatformAscendCManager::GetInstance("ascend950pr")->GetCoreNumAic());
}

void StreamsAndContexts() {
  aclrtContext context = nullptr, current = nullptr;
  aclrtCreateContext(&context, 1);
  aclrtSetDevice(0);
  aclrtSetCurrentContext(context);
  aclrtGetCurrentContext(&current);
  int32_t device = 0;
  aclrtGetDevice(&device);
  rtStream_t stream = nullptr;
  rtStreamCreate(&stream, RT_STREAM_PRIORITY_DEFAULT);
  aclrtEvent event = nullptr;
  aclrtCreateEventWithFlag(&event, ACL_EVENT_TIME_LINE);
  int calls = 0;
  aclrtLaunchCallback([](void* count) { ++*static_cast<int*>(count); }, &calls, ACL_CALLBACK_BLOCK, stream);
  aclrtRecordEvent(event, stream);
  aclrtSynchronizeStreamWithTimeout(stream, 1000);
  aclrtStreamStatus stream_status = ACL_STREAM_STATUS_NOT_READY;
  aclrtEventRecordedStatus event_status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  aclrtStreamQuery(stream, &stream_status);
  aclrtQueryEventStatus(event, &event_status);
  printf("%d %d %d; %d %d %d; ", context == current, device, context != nullptr, calls,
         stream_status == ACL_STREAM_STATUS_COMPLETE, event_status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
  aclrtDestroyEvent(event);
  rtStreamDestroy(stream);
}

void Errors() {
  int64_t value = 0;
  int error = aclrtGetDeviceInfo(9, ACL_DEV_ATTR_CUBE_CORE_NUM, &value);
  printf("%d %s; ", error, aclGetRecentErrMsg());
  error = aclrtGetRunMode(nullptr);
  printf("%d %s; ", error, aclGetRecentErrMsg());
  error = PlatformAscendCManager::GetInstance("Ascend310") == nullptr;
  printf("%d %s", error, aclGetRecentErrMsg());
}

int main() {
  Cores();
  StreamsAndContexts();
  Errors();
}
"""


class HostHeadersTest(unittest.TestCase):
    def test_tell_of_cores_streams_contexts_and_errors(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder, "host.cpp"), Path(folder, "host")
            source.write_text(PROGRAM, encoding="utf-8")
            command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program)]
            command += [f"-I{path}" for path in include_paths()]
            command += [f"-L{path}" for path in library_dirs()]
            command += ["-lnpu_runtime", *(f"-Wl,-rpath,{path}" for path in library_dirs())]
            subprocess.run(command, check=True)
            environment = {**os.environ, "NPU_SOC": "Ascend910B4", "NPU_DEVICE_COUNT": "2"}
            done = subprocess.run([program], env=environment, check=True, capture_output=True, text=True)
        self.assertEqual(
            done.stdout.split("; "),
            [
                "20 40 20",
                "20 40 40",
                f"{192 * 1024} {16 * 1024 * 1024}",
                "32",
                "1 1 1",
                "1 1 1",
                "100000 aclrtGetDeviceInfo: expected a device below 2, got 9",
                "100000 aclrtGetRunMode: expected a pointer for the mode, got NULL",
                "1 PlatformAscendCManager::GetInstance: expected Ascend910B1, Ascend910B2, Ascend910B3, Ascend910B4, "
                "Ascend950PR, got Ascend310",
            ],
        )


if __name__ == "__main__":
    unittest.main()
