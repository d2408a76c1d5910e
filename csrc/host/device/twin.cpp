// SPDX-License-Identifier: Apache-2.0
#include "device/twin.h"

#include <utility>

#include "device/allocator.h"

namespace npu_backend {
namespace {

void ReleaseTwin(void* context) { StoragePtr::reclaim(static_cast<c10::StorageImpl*>(context)); }

}  // namespace

c10::DataPtr DataOverTwin(StoragePtr twin, c10::Device device) {
  void* data = twin->_mutable_data_ptr_no_checks().get();
  return {data, twin.release(), &ReleaseTwin, device};
}

StoragePtr TwinOf(c10::StorageImpl* storage) {
  const c10::DataPtr& data = storage->_mutable_data_ptr_no_checks();
  if (data.get_deleter() == &ReleaseTwin) {
    auto* twin = static_cast<c10::StorageImpl*>(data.get_context());
    if (C10_UNLIKELY(twin->nbytes() != storage->nbytes())) twin->set_nbytes(storage->nbytes());
    return StoragePtr::reclaim_copy(twin);
  }
  return c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), storage->nbytes(),
      c10::DataPtr(data.get(), c10::Device(c10::DeviceType::CPU)), TwinAllocator(),
      /*resizable=*/false);
}

StoragePtr AdoptTwin(StoragePtr twin, c10::Device device) {
  const size_t bytes = twin->nbytes();
  return c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                               DataOverTwin(std::move(twin), device),
                                               NpuAllocator(), /*resizable=*/true);
}

void FollowTwin(c10::StorageImpl* storage, const StoragePtr& twin) {
  if (storage->_mutable_data_ptr_no_checks().get() != twin->_mutable_data_ptr_no_checks().get()) {
    storage->set_data_ptr_noswap(DataOverTwin(twin, storage->device()));
  }
  if (storage->nbytes() != twin->nbytes()) storage->set_nbytes(twin->nbytes());
}

}  // namespace npu_backend
