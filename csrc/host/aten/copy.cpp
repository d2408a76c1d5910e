// SPDX-License-Identifier: Apache-2.0
#include <ATen/NestedTensorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/_to_copy.h>
#include <ATen/ops/resize.h>
#include <torch/library.h>

#include "aten/shadow.h"
#include "device/allocator.h"
#include "device/device.h"
#include "device/fallback_log.h"
#include "device/queued_copy.h"
#include "device/registration.h"
#include "device/stream.h"

namespace npu_backend {
namespace {

at::Tensor HostView(const at::Tensor& tensor) {
  if (!tensor.is_privateuseone()) return tensor;
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.has_storage(),
                              "npu copy: expected strided tensors on npu, got layout ",
                              tensor.layout());
  Drain(tensor.device().index());
  return ShadowOf(tensor);
}

/// Between npu and CPU either way, and between devices npu.
at::Tensor& CopyInto(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  if (non_blocking && QueueCopy(self, source)) return self;
  static const c10::OperatorName name("aten::copy_", "");
  if (self.is_privateuseone() && source.is_privateuseone()) LogFallback(name);
  const at::Tensor& on_npu = self.is_privateuseone() ? self : source;
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const HostAllocationsOn allocations(on_npu.device().index());
  at::Tensor from = HostView(source);
  HostView(self).copy_(from, non_blocking);
  return self;
}

at::Tensor CopyFrom(const at::Tensor& self, const at::Tensor& destination, bool non_blocking) {
  at::Tensor result = destination;
  return CopyInto(result, self, non_blocking);
}

at::Tensor CopyFromAndResize(const at::Tensor& self, const at::Tensor& destination) {
  destination.resize_(self.sizes());
  return CopyFrom(self, destination, false);
}

/// A nested tensor on another device or of another dtype: its memory moves as a whole.
at::Tensor ToCopyNested(const at::Tensor& self, std::optional<c10::ScalarType> dtype,
                        std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                        std::optional<bool> pin_memory, bool non_blocking,
                        std::optional<c10::MemoryFormat>) {
  const auto& nested = *at::native::get_nested_tensor_impl(self);
  const at::Tensor memory = at::_to_copy(nested.get_unsafe_storage_as_tensor(), dtype, layout,
                                         device, pin_memory, non_blocking, std::nullopt);
  return at::detail::make_tensor<at::native::NestedTensorImpl>(
      memory, nested.get_nested_sizes(), nested.get_nested_strides(), nested.get_storage_offsets());
}

/// The fallbacks for these bits would make a copy first, which copies, and so on.
void FallThrough(c10::DispatchKey key) {
  torch::Library& aten = Implement("aten", key);
  aten.impl("_copy_from", torch::CppFunction::makeFallthrough());
  aten.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

void Define() {
  for (const auto key : {c10::DispatchKey::PrivateUse1, c10::DispatchKey::QuantizedPrivateUse1,
                         c10::DispatchKey::NestedTensorPrivateUse1}) {
    torch::Library& aten = Implement("aten", key);
    aten.impl("copy_", &CopyInto);
    aten.impl("_copy_from", &CopyFrom);
    aten.impl("_copy_from_and_resize", &CopyFromAndResize);
  }
  Implement("aten", c10::DispatchKey::NestedTensorPrivateUse1).impl("_to_copy", &ToCopyNested);
  FallThrough(c10::DispatchKey::Conjugate);
  FallThrough(c10::DispatchKey::Negative);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
