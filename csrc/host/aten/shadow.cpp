// SPDX-License-Identifier: Apache-2.0
#include "aten/shadow.h"

#include <c10/core/TensorImpl.h>

#include <utility>

namespace npu_backend {
namespace {

using c10::BackendComponent;
using c10::DispatchKeySet;

/// keys with the backend `from` replaced; TensorImpl adds what autograd and autocast want for `to`.
DispatchKeySet WithBackend(DispatchKeySet keys, BackendComponent from, BackendComponent to) {
  const DispatchKeySet neutral = keys - c10::getAutocastRelatedKeySetFromBackend(from);
  return neutral.remove_backend(from) | DispatchKeySet(to);
}

void CopyGeometry(const c10::TensorImpl& from, c10::TensorImpl& to) {
  to.set_sizes_and_strides(from.sizes(), from.strides(), from.storage_offset());
}

}  // namespace

at::Tensor ShadowOver(const at::Tensor& tensor, StoragePtr twin) {
  c10::TensorImpl& from = *tensor.unsafeGetTensorImpl();
  auto shadow = c10::make_intrusive<c10::TensorImpl>(
      c10::Storage(std::move(twin)),
      WithBackend(from.key_set(), BackendComponent::PrivateUse1Bit, BackendComponent::CPUBit),
      from.dtype());
  CopyGeometry(from, *shadow);
  if (from.is_wrapped_number()) shadow->set_wrapped_number(true);
  return at::Tensor(std::move(shadow));
}

at::Tensor ShadowOf(const at::Tensor& tensor) {
  return ShadowOver(tensor, TwinOf(tensor.storage().unsafeGetStorageImpl()));
}

at::Tensor Relabel(at::Tensor tensor, StoragePtr storage, c10::Device device) {
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (tensor.use_count() == 1 && impl->allow_tensor_metadata_change()) {
    impl->set_storage_keep_dtype(c10::Storage(std::move(storage)));
    impl->_change_backend_component_keys(device);
    return tensor;
  }
  auto result = c10::make_intrusive<c10::TensorImpl>(
      c10::Storage(std::move(storage)),
      WithBackend(impl->key_set(), BackendComponent::CPUBit, BackendComponent::PrivateUse1Bit),
      impl->dtype());
  CopyGeometry(*impl, *result);
  if (impl->is_wrapped_number()) result->set_wrapped_number(true);
  return at::Tensor(std::move(result));
}

void FollowShadow(const at::Tensor& tensor, const at::Tensor& shadow) {
  c10::TensorImpl& to = *tensor.unsafeGetTensorImpl();
  const c10::TensorImpl& from = *shadow.unsafeGetTensorImpl();
  if (to.sizes() == from.sizes() && to.strides() == from.strides() &&
      to.storage_offset() == from.storage_offset()) {
    return;
  }
  CopyGeometry(from, to);
}

}  // namespace npu_backend
