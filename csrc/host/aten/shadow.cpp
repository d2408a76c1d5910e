// SPDX-License-Identifier: Apache-2.0
#include "aten/shadow.h"

#include <ATen/NestedTensorImpl.h>
#include <ATen/quantized/QTensorImpl.h>
#include <c10/core/TensorImpl.h>

#include <utility>

namespace npu_backend {
namespace {

using at::native::NestedTensorImpl;
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

/// Sizes, strides and offsets of nested tensors are CPU tensors on all devices, and never change.
at::Tensor NestedOver(c10::Storage storage, DispatchKeySet keys, c10::TensorImpl& like) {
  const auto& nested = static_cast<NestedTensorImpl&>(like);
  return at::detail::make_tensor<NestedTensorImpl>(
      std::move(storage), keys, like.dtype(), nested.get_nested_sizes(),
      nested.get_nested_strides(), nested.get_storage_offsets());
}

/// A tensor that differs from `like` in nothing but storage and keys.
at::Tensor Over(StoragePtr storage, DispatchKeySet keys, c10::TensorImpl& like) {
  if (C10_UNLIKELY(like.is_nested())) {
    return NestedOver(c10::Storage(std::move(storage)), keys, like);
  }
  c10::intrusive_ptr<c10::TensorImpl> impl;
  if (C10_UNLIKELY(keys.has_any(DispatchKeySet(c10::DispatchKey::Quantized)))) {
    impl =
        c10::make_intrusive<at::QTensorImpl>(c10::Storage(std::move(storage)), keys, like.dtype(),
                                             static_cast<at::QTensorImpl&>(like).quantizer());
  } else {
    impl =
        c10::make_intrusive<c10::TensorImpl>(c10::Storage(std::move(storage)), keys, like.dtype());
  }
  CopyGeometry(like, *impl);
  if (like.is_wrapped_number()) impl->set_wrapped_number(true);
  return at::Tensor(std::move(impl));
}

}  // namespace

at::Tensor ShadowOver(const at::Tensor& tensor, StoragePtr twin) {
  c10::TensorImpl& from = *tensor.unsafeGetTensorImpl();
  return Over(
      std::move(twin),
      WithBackend(from.key_set(), BackendComponent::PrivateUse1Bit, BackendComponent::CPUBit),
      from);
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
  return Over(
      std::move(storage),
      WithBackend(impl->key_set(), BackendComponent::CPUBit, BackendComponent::PrivateUse1Bit),
      *impl);
}

void FollowShadow(const at::Tensor& tensor, const at::Tensor& shadow) {
  c10::TensorImpl& to = *tensor.unsafeGetTensorImpl();
  const c10::TensorImpl& from = *shadow.unsafeGetTensorImpl();
  if (to.is_conj() != from.is_conj()) to._set_conj(from.is_conj());
  if (to.is_neg() != from.is_neg()) to._set_neg(from.is_neg());
  if (to.is_nested()) return;
  if (to.sizes() == from.sizes() && to.strides() == from.strides() &&
      to.storage_offset() == from.storage_offset()) {
    return;
  }
  CopyGeometry(from, to);
}

}  // namespace npu_backend
