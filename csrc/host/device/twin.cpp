// SPDX-License-Identifier: Apache-2.0
#include "device/twin.h"

#include <utility>

#include "device/allocator.h"
#include "device/orphans.h"

namespace npu_backend {
namespace {

void ReleaseTwin(void* context) {
  const auto twin = StoragePtr::reclaim(static_cast<c10::StorageImpl*>(context));
  // Others that hold it are launches: see Owner in launch.cpp.
  if (twin.use_count() > 1) AddOrphanedBytes(static_cast<int64_t>(twin->nbytes()));
}

}  // namespace

c10::DataPtr DataOverTwin(StoragePtr twin, c10::Device device) {
  void* data = twin->_mutable_data_ptr_no_checks().get();
  return {data, twin.release(), &ReleaseTwin, device};
}

bool OwnsTwin(const c10::StorageImpl& storage) {
  return storage.data_ptr().get_deleter() == &ReleaseTwin;
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
