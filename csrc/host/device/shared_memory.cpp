// SPDX-License-Identifier: Apache-2.0
#include "device/shared_memory.h"

#include <ATen/MapAllocator.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "device/allocator.h"
#include "device/device.h"
#include "device/python_drop.h"
#include "device/registration.h"
#include "device/twin.h"

namespace npu_backend {
namespace {

using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

/// What is known of shared memory that storages of npu lie over.
struct Use {
  WeakStorage storage;  // of npu; tensors of one share it on arrival
  int twins;
};
using Uses =
    std::unordered_map<const c10::StorageImpl*, Use>;  // by the CPU storage with the memory

Uses& AllUses() {
  static Uses& uses = *new Uses;
  return uses;
}

StoragePtr ImplOf(const c10::Storage& storage) {
  return StoragePtr::reclaim_copy(storage.unsafeGetStorageImpl());
}

/// Context of a twin over shared memory: owns the CPU storage by which PyTorch shares that.
class SharedMemory {
 public:
  explicit SharedMemory(StoragePtr memory) : memory_(std::move(memory)) { Check(AddTwin()); }

  ~SharedMemory() {
    RemoveTwin();
    DropSeen(std::move(memory_));
  }

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  const StoragePtr& memory() const { return memory_; }

 private:
  npuError_t AddTwin() {
    const std::lock_guard lock(SharedMemoryMutex());
    auto use = AllUses().find(memory_.get());
    if (use == AllUses().end()) {
      // So transfers by address are checked, as in other memory of the device.
      const npuError_t status = npuMemoryAdopt(memory_->mutable_data(), memory_->nbytes());
      if (status != NPU_SUCCESS) return status;
      use = AllUses().emplace(memory_.get(), Use{WeakStorage(StoragePtr()), 0}).first;
    }
    ++use->second.twins;
    return NPU_SUCCESS;
  }

  void RemoveTwin() {
    const std::lock_guard lock(SharedMemoryMutex());
    const auto use = AllUses().find(memory_.get());
    if (--use->second.twins > 0) return;
    AllUses().erase(use);
    npuMemoryDisown(memory_->mutable_data());
  }

  StoragePtr memory_;
};

void Release(void* context) { delete static_cast<SharedMemory*>(context); }

/// A twin, and not memory itself, since PyTorch finds the file of memory by its DataPtr.
StoragePtr TwinOver(StoragePtr memory) {
  void* data = memory->mutable_data();
  const size_t bytes = memory->nbytes();
  auto context = std::make_unique<SharedMemory>(std::move(memory));
  c10::DataPtr owner(data, context.release(), &Release, c10::Device(c10::DeviceType::CPU));
  return c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                               std::move(owner), TwinAllocator(),
                                               /*resizable=*/false);
}

void Remember(const c10::StorageImpl* memory, const StoragePtr& storage) {
  const std::lock_guard lock(SharedMemoryMutex());
  AllUses().at(memory).storage = WeakStorage(storage);
}

WeakStorage WeakStorageOver(const c10::StorageImpl* memory) {
  const std::lock_guard lock(SharedMemoryMutex());
  const auto use = AllUses().find(memory);
  return use == AllUses().end() ? WeakStorage(StoragePtr()) : use->second.storage;
}

/// The CPU storage whose memory storage, of npu, lies over; none when that is not shared, or in the
/// other of PyTorch's two ways: by a file descriptor or by a name.
std::optional<c10::Storage> Find(const c10::Storage& storage, bool by_descriptor) {
  if (!OwnsTwin(*storage.unsafeGetStorageImpl())) return std::nullopt;
  const StoragePtr twin = TwinOf(storage.unsafeGetStorageImpl());
  const c10::DataPtr& data = twin->data_ptr();
  if (data.get_deleter() != &Release) return std::nullopt;
  const StoragePtr& memory = static_cast<SharedMemory*>(data.get_context())->memory();
  const bool has_descriptor = at::MapAllocator::fromDataPtr(memory->data_ptr()) != nullptr;
  if (has_descriptor != by_descriptor) return std::nullopt;
  return c10::Storage(memory);
}

/// Moves storage, of npu, into memory, a CPU storage of its size that is shared.
void MoveInto(const c10::Storage& storage, const c10::Storage& memory) {
  c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
  TORCH_CHECK(impl->nbytes() == memory.nbytes(), "npu: expected shared memory of ", impl->nbytes(),
              " bytes, got ", memory.nbytes());
  SynchronizeDevice(impl->device().index());
  DropDeferred();
  StoragePtr twin = TwinOver(ImplOf(memory));
  std::memcpy(twin->mutable_data(), impl->data(), impl->nbytes());
  impl->set_data_ptr_noswap(DataOverTwin(std::move(twin), impl->device()));
  impl->set_resizable(false);
  Remember(memory.unsafeGetStorageImpl(), ImplOf(storage));
}

/// A storage of device over memory, a CPU storage: the one that there is, or a new one.
c10::Storage Adopt(const c10::Storage& memory, int64_t index) {
  ThrowIfForked();
  DropDeferred();
  const c10::Device device(c10::DeviceType::PrivateUse1, CheckedIndex(index));
  StoragePtr storage = WeakStorageOver(memory.unsafeGetStorageImpl()).lock();
  if (storage && storage->device() == device) return c10::Storage(std::move(storage));
  storage = AdoptTwin(TwinOver(ImplOf(memory)), device);
  storage->set_resizable(false);
  Remember(memory.unsafeGetStorageImpl(), storage);
  return c10::Storage(std::move(storage));
}

void Define() {
  torch::Library& own = Extend("npu_backend");
  own.def("find_shared_memory(Storage storage, bool by_descriptor) -> Storage?", &Find);
  own.def("move_into_shared_memory(Storage storage, Storage memory) -> ()", &MoveInto);
  own.def("adopt_shared_memory(Storage memory, int device) -> Storage", &Adopt);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace

std::mutex& SharedMemoryMutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

}  // namespace npu_backend
