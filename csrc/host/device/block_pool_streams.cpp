// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/block_pool.h"
#include "device/device.h"
#include "device/stream.h"

namespace npu_backend {
namespace {

/// Events behind the work that is now on streams, as far as any is pending.
std::vector<npuEvent_t> RecordEvents(const std::vector<c10::Stream>& streams) {
  std::vector<npuEvent_t> events;
  for (const c10::Stream& stream : streams) {
    npuStream_t native = nullptr;
    try {
      native = NativeStream(stream);
    } catch (const c10::Error&) {
      continue;  // destroyed since, and so done
    }
    npuEvent_t event = nullptr;
    if (npuStreamQuery(native) == NPU_SUCCESS || npuEventCreate(&event) != NPU_SUCCESS) continue;
    if (npuEventRecord(event, native) == NPU_SUCCESS) {
      events.push_back(event);
    } else {
      npuEventDestroy(event);
    }
  }
  return events;
}

void DropHappened(std::vector<npuEvent_t>& events) {
  std::erase_if(events, [](npuEvent_t event) {
    if (npuEventQuery(event) == NPU_ERROR_NOT_READY) return false;
    npuEventDestroy(event);
    return true;
  });
}

}  // namespace

void BlockPool::RecordStream(const void* pointer, c10::Stream stream) {
  CheckStream(stream);
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(pointer);
  if (found == blocks_.end()) return;
  std::vector<c10::Stream>& streams = found->second->streams;
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
}

void BlockPool::CollectAwaited(c10::DeviceIndex index) {
  if (C10_LIKELY(!awaits_.load(std::memory_order_relaxed))) return;
  std::vector<Awaited> awaited;
  {
    const std::lock_guard lock(mutex_);
    Device& device = At(index);
    if (device.awaited.empty()) return;
    awaited.swap(device.awaited);
  }
  for (Awaited& entry : awaited) {
    if (!entry.block->streams.empty()) {
      entry.events = RecordEvents(entry.block->streams);
      entry.block->streams.clear();
    }
    DropHappened(entry.events);
  }
  const std::lock_guard lock(mutex_);
  Device& device = At(index);
  for (Awaited& entry : awaited) {
    if (entry.events.empty()) {
      GiveBack(device, entry.block);
    } else {
      device.awaited.push_back(std::move(entry));
    }
  }
  awaits_.store(std::any_of(devices_.begin(), devices_.end(),
                            [](const auto& device) { return !device->awaited.empty(); }),
                std::memory_order_relaxed);
}

}  // namespace npu_backend
