// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "npu/core.hpp"
#include "runtime/npu_runtime.h"
#include "runtime/stream.hpp"

// The handles of the C ABI.
struct npuStream final : npu::runtime::Stream {
  using Stream::Stream;
};

struct npuEvent {
  std::mutex mutex;
  std::shared_ptr<npu::runtime::Recording> recording;  // the newest
  bool alive = true;
};

namespace npu::runtime {

/// Device memory: blocks of the host's, counted per device.
class DeviceMemory {
 public:
  npuError_t Allocate(int device, size_t bytes, void** pointer);
  npuError_t Free(void* pointer);
  void Info(int device, size_t* free_bytes, size_t* total_bytes);
  /// Memory of somebody else, which Find then knows.
  npuError_t Adopt(const char* function, void* begin, size_t bytes);
  npuError_t Disown(const char* function, void* begin);
  /// The block that address lies in, or the gap between blocks.
  GlobalMemory Find(const void* address) { return Look(address, false); }
  /// The same with the end of what was asked for as that of a block.
  GlobalMemory FindRequested(const void* address) { return Look(address, true); }

 private:
  struct Block {
    int device;  // kAdopted: memory of somebody else
    size_t bytes;
    bool mapped;       // by mmap
    size_t requested;  // bytes
  };
  GlobalMemory Look(const void* address, bool requested);
  static constexpr int kAdopted = -1;

  std::mutex mutex_;
  std::map<void*, Block, std::less<>> blocks_;  // by address
  std::vector<size_t> used_;                    // bytes, by device
};

/// All streams and events. Handles of destroyed ones are kept for the next create.
class Registry {
 public:
  static Registry& Get();

  npuStream_t DefaultStream(int device) { return default_streams_[static_cast<size_t>(device)]; }
  bool IsDefault(npuStream_t stream);
  npuStream_t CreateStream(int device);
  /// False when it is destroyed already.
  bool DestroyStream(npuStream_t stream);
  /// Whether stream is a handle of a stream, alive or not. Does not look into what it points to.
  bool Knows(npuStream_t stream);
  /// Streams of device that live now and have work pending or an error to tell.
  std::vector<npuStream_t> BusyStreams(int device);

  npuEvent_t CreateEvent();
  void DestroyEvent(npuEvent_t event);

  DeviceMemory& memory() { return memory_; }

 private:
  Registry();

  std::mutex mutex_;
  std::vector<npuStream_t> default_streams_;
  std::vector<npuStream_t> streams_;  // created ones, alive or not
  std::vector<npuStream_t> free_streams_;
  size_t event_count_ = 0;  // all that were ever made
  std::vector<npuEvent_t> free_events_;
  DeviceMemory memory_;
};

/// Current device of the calling thread.
int& CurrentDevice();

}  // namespace npu::runtime
