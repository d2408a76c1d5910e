// SPDX-License-Identifier: Apache-2.0
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/fill.h>
#include <c10/core/DefaultDtype.h>
#include <torch/library.h>

#include <limits>
#include <optional>

#include "aten/shadow.h"
#include "device/allocator.h"
#include "device/device.h"
#include "device/registration.h"

namespace npu_backend {
namespace {

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

at::Scalar LargestInteger(c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::Bool) return true;
  const size_t bits = 8 * c10::elementSize(dtype);
  const uint64_t all = std::numeric_limits<uint64_t>::max() >> (64 - bits);
  return c10::isSignedType(dtype) ? at::Scalar(static_cast<int64_t>(all >> 1)) : at::Scalar(all);
}

/// What torch.use_deterministic_algorithms promises: NaN or the largest integer instead of old
/// contents.
void FillWhenDeterministic(const at::Tensor& tensor) {
  const at::Context& context = at::globalContext();
  if (!context.deterministicAlgorithms() || !context.deterministicFillUninitializedMemory()) return;
  const bool has_nan = tensor.is_floating_point() || tensor.is_complex();
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  at::Tensor shadow = ShadowOf(tensor);
  at::fill_(shadow, has_nan ? at::Scalar(std::numeric_limits<double>::quiet_NaN())
                            : LargestInteger(tensor.scalar_type()));
}

c10::DeviceIndex CheckOptions(std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                              std::optional<bool> pin_memory) {
  const c10::Layout wanted = layout.value_or(c10::kStrided);
  TORCH_CHECK_NOT_IMPLEMENTED(wanted == c10::kStrided, "npu: expected layout torch.strided, got ",
                              wanted);
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
  const c10::DeviceIndex index = device ? IndexOf(*device) : CurrentDevice();
  TORCH_CHECK(index >= 0 && index < DeviceCount(), "npu: expected a device index in [0, ",
              static_cast<int>(DeviceCount()), "), got ", static_cast<int>(index));
  return index;
}

at::Tensor Empty(c10::IntArrayRef size, std::optional<c10::ScalarType> dtype,
                 std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                 std::optional<bool> pin_memory, std::optional<c10::MemoryFormat> memory_format) {
  const DeviceScope scope(CheckOptions(layout, device, pin_memory));
  at::Tensor tensor = at::detail::empty_generic(
      size, NpuAllocator(), kKeys, dtype.value_or(c10::get_default_dtype_as_scalartype()),
      memory_format);
  FillWhenDeterministic(tensor);
  return tensor;
}

at::Tensor EmptyStrided(c10::IntArrayRef size, c10::IntArrayRef stride,
                        std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
                        std::optional<c10::Device> device, std::optional<bool> pin_memory) {
  const DeviceScope scope(CheckOptions(layout, device, pin_memory));
  at::Tensor tensor = at::detail::empty_strided_generic(
      size, stride, NpuAllocator(), kKeys, dtype.value_or(c10::get_default_dtype_as_scalartype()));
  FillWhenDeterministic(tensor);
  return tensor;
}

void Define() {
  torch::Library& aten = Implement("aten", c10::DispatchKey::PrivateUse1);
  aten.impl("empty.memory_format", &Empty);
  aten.impl("empty_strided", &EmptyStrided);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
