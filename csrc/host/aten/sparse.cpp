// SPDX-License-Identifier: Apache-2.0
#include "aten/sparse.h"

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <c10/core/TensorImpl.h>

#include <optional>

#include "device/device.h"

namespace npu_backend {
namespace {

using at::SparseCsrTensorImpl;
using at::SparseTensorImpl;
using c10::DispatchKey;
using c10::DispatchKeySet;

template <class Impl>
Impl* As(const at::Tensor& tensor) {
  return static_cast<Impl*>(tensor.unsafeGetTensorImpl());
}

at::Tensor NewSparse(const at::Tensor& like, c10::Device device) {
  // The constructors make empty parts, on the current device.
  std::optional<DeviceScope> scope;
  if (!device.is_cpu()) scope.emplace(device.index());
  if (like.is_sparse()) {
    const DispatchKey key =
        device.is_cpu() ? DispatchKey::SparseCPU : DispatchKey::SparsePrivateUse1;
    return at::detail::make_tensor<SparseTensorImpl>(DispatchKeySet(key), like.dtype());
  }
  const DispatchKey key =
      device.is_cpu() ? DispatchKey::SparseCsrCPU : DispatchKey::SparseCsrPrivateUse1;
  return at::detail::make_tensor<SparseCsrTensorImpl>(DispatchKeySet(key), device, like.layout(),
                                                      like.dtype());
}

void AssignCoo(SparseTensorImpl& to, const SparseTensorImpl& from, PartMap map) {
  const at::Tensor indices = map(from.indices());
  const at::Tensor values = map(from.values());
  const bool same_parts = indices.is_same(to.indices()) && values.is_same(to.values());
  if (to.sizes() != from.sizes() || to.sparse_dim() != from.sparse_dim()) {
    to.raw_resize_(from.sparse_dim(), from.dense_dim(), from.sizes());
  }
  if (!same_parts) to.set_indices_and_values_unsafe(indices, values);
  if (to.coalesced() != from.coalesced()) to.set_coalesced(from.coalesced());
}

void AssignCompressed(SparseCsrTensorImpl& to, const SparseCsrTensorImpl& from, PartMap map) {
  const at::Tensor compressed = map(from.compressed_indices());
  const at::Tensor plain = map(from.plain_indices());
  const at::Tensor values = map(from.values());
  if (compressed.is_same(to.compressed_indices()) && plain.is_same(to.plain_indices()) &&
      values.is_same(to.values()) && to.sizes() == from.sizes()) {
    return;
  }
  to.set_member_tensors(compressed, plain, values, from.sizes());
}

}  // namespace

bool IsSparse(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  return !impl.has_storage() && (impl.is_sparse() || impl.is_sparse_compressed());
}

at::Tensor MapSparse(const at::Tensor& tensor, c10::Device device, PartMap map) {
  at::Tensor result = NewSparse(tensor, device);
  AssignSparse(result, tensor, map);
  return result;
}

void AssignSparse(const at::Tensor& to, const at::Tensor& from, PartMap map) {
  if (from.is_sparse()) {
    AssignCoo(*As<SparseTensorImpl>(to), *As<SparseTensorImpl>(from), map);
  } else {
    AssignCompressed(*As<SparseCsrTensorImpl>(to), *As<SparseCsrTensorImpl>(from), map);
  }
}

}  // namespace npu_backend
