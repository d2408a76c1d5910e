// SPDX-License-Identifier: Apache-2.0
#include "device/tensor_interface.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <exception>
#include <string>

#include "device/launch.h"
#include "device/stream.h"

namespace npu_backend {
namespace {

thread_local std::string message;

/// Calls function; keeps the sentence of what it throws.
template <class Function>
int Guarded(Function&& function) noexcept {
  try {
    function();
    return 0;
  } catch (const c10::Error& error) {
    message = error.what_without_backtrace();
  } catch (const std::exception& error) {
    message = error.what();
  }
  return -1;
}

at::Tensor TensorAt(void* address) {
  using Impl = c10::intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  return at::Tensor(Impl::reclaim_copy(static_cast<at::TensorImpl*>(address)));
}

npuTypeKind KindOf(at::ScalarType type) {
  if (type == at::kBool) return NPU_TYPE_BOOL;
  if (type == at::kBFloat16) return NPU_TYPE_BFLOAT16;
  if (type == at::kHalf || type == at::kFloat || type == at::kDouble) return NPU_TYPE_FLOAT;
  if (!c10::isIntegralType(type, /*includeBool=*/false)) return NPU_TYPE_OTHER;
  return c10::isSignedType(type) ? NPU_TYPE_INT : NPU_TYPE_UINT;
}

int32_t DeviceOf(const at::TensorImpl& tensor) {
  const c10::Device device = tensor.device();
  if (device.is_cpu()) return NPU_TENSOR_ON_CPU;
  return device.is_privateuseone() ? device.index() : NPU_TENSOR_ELSEWHERE;
}

int Describe(void* address, npuTensorFacts* facts) {
  return Guarded([&] {
    const auto& tensor = *static_cast<at::TensorImpl*>(address);
    TORCH_CHECK(tensor.layout() == at::kStrided, "one of layout ", tensor.layout());
    const at::Storage& storage = tensor.storage();
    TORCH_CHECK(tensor.numel() == 0 || storage.data() != nullptr || tensor.device().is_meta(),
                "one whose data nobody has");
    const at::ScalarType type = c10::typeMetaToScalarType(tensor.dtype());
    facts->dtype = c10::toString(type);
    facts->kind = KindOf(type);
    facts->element_bytes = static_cast<uint32_t>(tensor.itemsize());
    facts->device = DeviceOf(tensor);
    facts->is_contiguous = tensor.is_contiguous();
    facts->shows_its_memory = !tensor.is_conj() && !tensor.is_neg();
    facts->data =
        facts->device == NPU_TENSOR_ELSEWHERE ? nullptr : const_cast<void*>(tensor.data());
  });
}

int LaunchOnTensors(const npuLaunchConfig* config, int32_t device, void* const* addresses,
                    size_t count) {
  return Guarded([&] {
    c10::SmallVector<at::Tensor, 8> tensors;
    c10::SmallVector<npuMemoryRange, 8> ranges;
    for (size_t i = 0; i < count; ++i) {
      tensors.push_back(TensorAt(addresses[i]));
      ranges.push_back(StorageRange(tensors.back()));
    }
    npuLaunchConfig own = *config;
    own.ranges = ranges.data();
    own.range_count = ranges.size();
    if (device == NPU_TENSOR_ON_CPU) return LaunchOnHostMemory(own);
    if (own.stream == nullptr) {
      own.stream = CurrentNativeStream(static_cast<c10::DeviceIndex>(device));
    }
    LaunchHolding(own, tensors);
  });
}

const npuTensorInterface interface = {&Describe, &LaunchOnTensors, [] { return message.c_str(); }};

}  // namespace
}  // namespace npu_backend

extern "C" const npuTensorInterface* npu_backend_tensor_interface() {
  return &npu_backend::interface;
}
