# SPDX-License-Identifier: Apache-2.0
"""EXEC_KERNEL_CMD and EXEC_KERNEL_ASYNC of npu/exec_kernel.hpp, and the headers of torch_npu that operators include."""

import shlex
import sys
import tempfile
import unittest
from pathlib import Path

import torch
from torch.testing import assert_close

import op_extension

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.test_launch_kernel import FILLS, compiled

OPERATORS = """
#include "npu/exec_kernel.hpp"
#include <ATen/ops/empty.h>
#include <third_party/acl/inc/acl/acl.h>
#include <torch_npu/csrc/core/npu/DeviceUtils.h>
#include <torch_npu/csrc/core/npu/NPUCachingAllocator.h>
#include <torch_npu/csrc/core/npu/NPUEvent.h>
#include <torch_npu/csrc/core/npu/NPUFunctions.h>
#include <torch_npu/csrc/core/npu/NPUGuard.h>
#include <torch_npu/csrc/framework/utils/OpAdapter.h>

using at_npu::native::OpCommand;

void Current(const at::Tensor& z, double value) { EXEC_KERNEL_CMD(fill, 1, z, value, 3, Place{0}); }
void OnPointer(const at::Tensor& z, double value) {
  EXEC_KERNEL_CMD(fill, 1, z.mutable_data_ptr<float>(), value, 3, Place{0});
}
void On(const at::Tensor& z, c10::Stream stream, double value) {
  EXEC_KERNEL_ASYNC(fill, 1, stream, z, value, 3, Place{0});
}
void OnPointerAsync(const at::Tensor& z, double value) {
  aclrtStream stream = c10_npu::getCurrentNPUStream(z.device().index()).stream(false);
  EXEC_KERNEL_ASYNC(fill, 1, stream, z.mutable_data_ptr<float>(), value, 3, Place{0});
}

/// Streams and devices as torch_npu's names see them; each step is right or raises.
bool Streams(int64_t index) {
  const auto device = static_cast<c10::DeviceIndex>(index);
  const auto before = c10_npu::current_device();
  {
    const c10_npu::NPUGuard guard(device);
    const auto pooled = c10_npu::getNPUStreamFromPool();
    const c10_npu::NPUStreamGuard stream_guard(pooled);
    const auto current = c10_npu::getCurrentNPUStream();
    TORCH_CHECK(current == pooled && current.device_index() == device);
    TORCH_CHECK(current.stream(false) == pooled.stream() && current != c10_npu::getDefaultNPUStream());
    aclrtStream made = nullptr;
    NPU_CHECK_ERROR(aclrtCreateStream(&made));
    const auto external = c10_npu::getStreamFromExternal(made, device);
    TORCH_CHECK(external.stream() == made && external.query());
    c10_npu::NPUEvent start, end;
    start.record();
    end.record(external);
    start.block(external);
    end.synchronize();
    TORCH_CHECK(end.query() && end.isCreated() && end.device_index() == device);
    const at::Tensor workspace = at_npu::native::OpPreparation::unsafe_empty_workspace(64);
    TORCH_CHECK(torch_npu::utils::is_npu(workspace) && workspace.device().index() == device);
    c10_npu::NPUCachingAllocator::recordStream(workspace.storage().data_ptr(), pooled);
    c10_npu::npuSynchronizeDevice();
    NPU_CHECK_ERROR(aclrtDestroyStream(made));
  }
  return c10_npu::current_device() == before && c10_npu::device_count() > index;
}
/// A function that ends without a result, as those of the vendor's examples do.
void Run(const at::Tensor& z, bool sync) {
  OpCommand::RunOpApi("run", [&] { return Current(z, 4.0), 12345; }, sync);
}
void Refused() {
  OpCommand::RunOpApiV2("refused", [] { return static_cast<int>(npuLaunchKernel(nullptr, 1, nullptr, 0, nullptr)); });
}
/// The memory of PyTorch, too, asks for what may still be pending.
void RefusedThenAsked(const at::Tensor& z) {
  OpCommand::RunOpApi("asked", [&] {
    Current(z, 5.0);
    auto* const stream = static_cast<npuStream_t>(c10_npu::getCurrentNPUStream().stream());
    npuLaunchKernel(nullptr, 1, nullptr, 0, stream);
    return static_cast<int>(npuStreamQuery(stream));
  });
}
void Elsewhere(const at::Tensor& z) { torch_npu::utils::torch_check_npu(z); }
void Failed() { NPU_CHECK_ERROR(aclrtSetDevice(100)); }

TORCH_LIBRARY(exec_kernel_test, m) {
  m.def("current(Tensor z, float value) -> ()", Current);
  m.def("on_pointer(Tensor z, float value) -> ()", OnPointer);
  m.def("on(Tensor z, Stream stream, float value) -> ()", On);
  m.def("on_pointer_async(Tensor z, float value) -> ()", OnPointerAsync);
  m.def("streams(int device) -> bool", Streams);
  m.def("run(Tensor z, bool sync) -> ()", Run);
  m.def("refused() -> ()", Refused);
  m.def("refused_then_asked(Tensor z) -> ()", RefusedThenAsked);
  m.def("elsewhere(Tensor z) -> ()", Elsewhere);
  m.def("failed() -> ()", Failed);
}
"""


def launches() -> int:
    """Launches of fill that have run to their end."""
    return op_extension.check.launch_count("fill")


class ExecKernelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        library = Path(folder.name, "exec_kernel_test.so")
        names = ["-lpto", "-lc10", "-ltorch_cpu"]
        done = compiled(Path(folder.name), FILLS + OPERATORS, "-shared", "-o", str(library), *names)
        assert done.returncode == 0, f"{shlex.join(done.args)}\n{done.stderr}"
        torch.ops.load_library(library)
        cls.ops = torch.ops.exec_kernel_test

    def test_runs_on_the_current_stream_at_the_offset_of_the_tensor(self) -> None:
        for device in ("npu", "cpu"):
            z = torch.zeros(8, device=device)
            self.ops.current(z[4:], 2.5)
            assert_close(z.cpu(), torch.tensor([0.0] * 4 + [2.5] * 3 + [0.0]))
        z = torch.zeros(4, device="npu")
        torch.npu.synchronize()
        before, stream = launches(), torch.npu.Stream()
        with torch.npu.stream(stream):
            self.ops.current(z, 1.5)
        stream.synchronize()
        self.assertEqual(launches(), before + 1)

    def test_has_run_when_a_call_with_a_pointer_returns(self) -> None:
        z = torch.zeros(4, device="npu")
        torch.npu.synchronize()
        before = launches()
        self.ops.on_pointer(z, 3.0)
        self.assertEqual(launches(), before + 1)
        self.assertEqual(z.tolist(), [3.0] * 3 + [0.0])

    def test_async_runs_on_the_stream_that_is_named(self) -> None:
        z = torch.zeros(4, device="npu")
        stream = torch.npu.Stream()
        torch.npu.synchronize()
        before = launches()
        self.ops.on(z, stream, 1.5)
        stream.synchronize()
        self.assertEqual(launches(), before + 1)
        self.ops.on_pointer_async(z, 2.0)
        torch.npu.current_stream().synchronize()
        self.assertEqual(launches(), before + 2)
        self.assertEqual(z.tolist(), [2.0] * 3 + [0.0])

    def test_async_owns_the_memory_of_tensors(self) -> None:
        stream = torch.npu.Stream()
        z = torch.zeros(4, device="npu")
        torch.npu.synchronize()
        self.ops.on(z, stream, 7.0)
        del z
        others = [torch.zeros(4, device="npu") for _ in range(8)]  # would reuse freed memory
        torch.npu.synchronize()
        self.assertEqual(sum(other.sum().item() for other in others), 0)

    def test_names_a_stream_of_another_device(self) -> None:
        z = torch.zeros(4, device="npu:0")
        with self.assertRaisesRegex(ValueError, "fill: expected a stream of npu:0 .as the tensors., got one of npu:1"):
            self.ops.on(z, torch.npu.Stream(device="npu:1"), 1.0)
        with self.assertRaisesRegex(RuntimeError, "NPUStream: expected a stream of npu, got one of cpu"):
            self.ops.on(z, torch.Stream(device="cpu"), 1.0)

    def test_streams_devices_events_and_memory(self) -> None:
        for device in (0, 1):
            self.assertTrue(self.ops.streams(device))

    def test_run_op_api_looks_at_launches_and_not_at_results(self) -> None:
        z = torch.zeros(4, device="npu")
        self.ops.run(z, True)
        self.assertEqual(z.tolist(), [4.0] * 3 + [0.0])
        with self.assertRaisesRegex(RuntimeError, "refused: expected a launch, got: npuLaunchKernel: expected"):
            self.ops.refused()
        with self.assertRaisesRegex(RuntimeError, "asked: expected a launch, got: npuLaunchKernel: expected"):
            self.ops.refused_then_asked(z)
        self.assertEqual(z.tolist(), [5.0] * 3 + [0.0])
        with self.assertRaisesRegex(RuntimeError, "torch_check_npu: expected one on npu, got one on cpu"):
            self.ops.elsewhere(z.cpu())
        self.ops.run(z, False)

    def test_errors_of_calls_are_exceptions(self) -> None:
        with self.assertRaisesRegex(RuntimeError, r"aclrtSetDevice\(100\): expected ACL_SUCCESS, got 1 \(npuSetDevice"):
            self.ops.failed()


if __name__ == "__main__":
    unittest.main()
