// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <optional>
#include <string>

#include "device/allocator.h"
#include "device/block_pool.h"
#include "device/device.h"
#include "device/generator.h"
#include "device/registration.h"
#include "device/stream.h"

/// What the Python package needs and PyTorch has no interface for, as operators of namespace
/// npu_backend.
namespace npu_backend {
namespace {

void RecordStream(at::Tensor& self, c10::Stream stream) {
  BlockPool::Get().RecordStream(self.storage().data(), stream);
}

bool IsDense(const at::Tensor& tensor) {
  return (tensor.is_cpu() || tensor.is_privateuseone()) &&
         tensor.key_set().has_any(c10::DispatchKeySet(c10::DispatchKey::Dense));
}

/// Whether tensor.data can be set to from. As with CUDA it can from CPU, so that parameters stay
/// the same objects when their module moves.
bool CanShallowCopy(const at::Tensor& tensor, const at::Tensor& from) {
  return (IsDense(tensor) && IsDense(from)) ||
         tensor.unsafeGetTensorImpl()->has_compatible_shallow_copy_type(from.key_set());
}

std::optional<at::Generator> DefaultGeneratorOf(int64_t device) {
  return DefaultGenerator(CheckedIndex(device));
}

void DrainDevice(int64_t device) { Drain(CheckedIndex(device)); }

std::string SocName() {
  const char* name = nullptr;
  Check(npuGetSocName(&name));
  return name;
}

std::tuple<int64_t, int64_t> CoreCount() {
  int cube = 0;
  int vector = 0;
  Check(npuGetCoreCount(&cube, &vector));
  return {cube, vector};
}

/// Milliseconds between two events, given as addresses.
double ElapsedTime(int64_t start, int64_t end) {
  float milliseconds = 0;
  Check(npuEventElapsedTime(&milliseconds, reinterpret_cast<npuEvent_t>(start),
                            reinterpret_cast<npuEvent_t>(end)));
  return milliseconds;
}

void SetMemoryLimit(int64_t device, int64_t bytes) {
  BlockPool::Get().SetLimit(CheckedIndex(device), static_cast<size_t>(bytes));
}

void TrimDevice(int64_t device) { BlockPool::Get().Trim(CheckedIndex(device)); }

void Define() {
  torch::Library& aten = Implement("aten", c10::DispatchKey::PrivateUse1);
  aten.impl("record_stream", &RecordStream);
  aten.impl("_has_compatible_shallow_copy_type", &CanShallowCopy);

  torch::Library& own = Extend("npu_backend");
  own.def("default_generator(int device) -> Generator?", &DefaultGeneratorOf);
  own.def("drain(int device) -> ()", &DrainDevice);
  own.def("soc_name() -> str", &SocName);
  own.def("core_count() -> (int cube, int vector)", &CoreCount);
  own.def("elapsed_time(int start, int end) -> float", &ElapsedTime);
  own.def("set_memory_limit(int device, int bytes) -> ()", &SetMemoryLimit);
  own.def("trim(int device) -> ()", &TrimDevice);
  own.def("is_used() -> bool", +[]() -> bool { return IsUsed(); });
  own.def("is_forked() -> bool", +[]() -> bool { return IsForked(); });
  own.def("check_process() -> ()", +[]() -> void { ThrowIfForked(); });
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {"npu_backend::drain"}, &Define);

}  // namespace
}  // namespace npu_backend
