// SPDX-License-Identifier: Apache-2.0
#include "device/resize.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/set_native.h>
#include <torch/library.h>

#include <algorithm>
#include <optional>

#include "device/allocator.h"
#include "device/registration.h"

namespace npu_backend {
namespace {

/// Gives storage the bytes that a tensor of size needs. To be called before the tensor gets that
/// size: a storage that cannot be resized raises.
void EnsureBytes(const c10::Storage& storage, c10::IntArrayRef size, size_t bytes) {
  // A tensor without elements may have any storage.
  const bool is_empty = std::find(size.begin(), size.end(), 0) != size.end();
  if (is_empty || bytes <= storage.nbytes()) return;
  ResizeStorage(storage.unsafeGetStorageImpl(), bytes);
}

const at::Tensor& Resize(const at::Tensor& self, c10::IntArrayRef size,
                         std::optional<c10::MemoryFormat> memory_format) {
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  at::detail::check_size_nonnegative(size);
  if (impl->sizes() != size) {
    EnsureBytes(
        self.storage(), size,
        at::detail::computeStorageNbytesContiguous(size, impl->itemsize(), impl->storage_offset()));
    impl->set_sizes_contiguous(size);
  }
  if (memory_format) {
    TORCH_CHECK(*memory_format != c10::MemoryFormat::Preserve, "Unsupported memory format ",
                *memory_format);
    impl->empty_tensor_restride(*memory_format);
  }
  return self;  // NOLINT(bugprone-return-const-ref-from-parameter): the signature is torch's
}

at::Tensor& SetStorage(at::Tensor& self, c10::Storage source, int64_t offset, c10::IntArrayRef size,
                       c10::IntArrayRef stride) {
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  TORCH_CHECK(stride.empty() || size.size() == stride.size(), "unequal size length (", size.size(),
              ") and stride length (", stride.size(), ")");
  TORCH_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  TORCH_CHECK(self.storage().device() == source.device(),
              "Attempted to set the storage of a tensor on device \"", self.storage().device(),
              "\" to a storage on different device \"", source.device(),
              "\".  This is no longer allowed; the devices must match.");
  const bool contiguous = stride.empty() && !size.empty();
  EnsureBytes(source, size,
              contiguous
                  ? at::detail::computeStorageNbytesContiguous(size, impl->itemsize(), offset)
                  : at::detail::computeStorageNbytes(size, stride, impl->itemsize(), offset));
  if (!self.storage().is_alias_of(source)) impl->set_storage_keep_dtype(std::move(source));
  impl->set_storage_offset(offset);
  if (contiguous) {
    impl->set_sizes_contiguous(size);
  } else {
    impl->set_sizes_and_strides(size, stride);
  }
  return self;
}

at::Tensor& SetEmpty(at::Tensor& self) {
  auto storage = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), 0,
                                                       AllocateOn(self.device(), 0), NpuAllocator(),
                                                       /*resizable=*/true);
  return SetStorage(self, c10::Storage(std::move(storage)), 0, {0}, {});
}

void Define() {
  torch::Library& aten = Implement("aten", c10::DispatchKey::PrivateUse1);
  aten.impl("resize_", &Resize);
  aten.impl("set_", &SetEmpty);
  aten.impl("set_.source_Storage",
            static_cast<at::Tensor& (*)(at::Tensor&, at::Storage)>(&at::native::set_));
  aten.impl("set_.source_Tensor", &at::native::set_tensor_);
  aten.impl("set_.source_Storage_storage_offset", &SetStorage);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
