// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Storage.h>
#include <c10/core/StorageImpl.h>

/// Zero-copy sharing (design D6): the memory of each npu storage belongs to a twin, a storage that
/// PyTorch takes for CPU memory. The context of the npu storage's DataPtr is a reference to the
/// twin. A twin, and not a CPU tensor over the npu storage, because a TensorImpl takes its device
/// from its storage.
namespace npu_backend {

using StoragePtr = c10::intrusive_ptr<c10::StorageImpl>;

/// DataPtr for device over the memory of twin, which it keeps alive.
c10::DataPtr DataOverTwin(StoragePtr twin, c10::Device device);

/// The twin of an npu storage. For memory that did not come from our allocator a new one that owns
/// nothing and must not outlive storage.
StoragePtr TwinOf(c10::StorageImpl* storage);

/// Whether the memory of storage came from our allocator, so that its twin owns it.
bool OwnsTwin(const c10::StorageImpl& storage);

/// New npu storage over the memory of twin.
StoragePtr AdoptTwin(StoragePtr twin, c10::Device device);

/// Follows a CPU kernel that gave twin, shared with storage, other memory or another size.
void FollowTwin(c10::StorageImpl* storage, const StoragePtr& twin);

}  // namespace npu_backend
