// SPDX-License-Identifier: Apache-2.0
#include "device/stream.h"

#include <array>
#include <atomic>
#include <mutex>

namespace npu_backend {
namespace {

constexpr int kPoolStreams = 32;   // as in PyTorch's CUDA backend
constexpr int kMostDevices = 128;  // a device index of PyTorch is 8 bits
constexpr c10::StreamId kDefaultStream = 0;

/// Stream ids: 0 is the default stream, 1 to 32 the pool, others the address of a stream of the
/// runtime.
struct DeviceStreams {
  std::once_flag created;
  npuStream_t by_id[kPoolStreams + 1] = {};
  std::atomic<uint32_t> next = 0;
};

DeviceStreams& StreamsOf(c10::DeviceIndex device) {
  static auto& streams = *new std::array<DeviceStreams, kMostDevices>;
  return streams[static_cast<uint8_t>(device)];
}

thread_local std::array<c10::StreamId, kMostDevices> current_streams = {};

void CreateStreams(DeviceStreams& streams, c10::DeviceIndex device) {
  std::call_once(streams.created, [&] {
    const DeviceScope scope(device);
    for (int id = 1; id <= kPoolStreams; ++id) Check(npuStreamCreate(&streams.by_id[id]));
  });
}

npuStream_t DefaultNativeStream(c10::DeviceIndex device) {
  npuStream_t& cached = StreamsOf(device).by_id[kDefaultStream];
  npuStream_t stream = std::atomic_ref(cached).load(std::memory_order_relaxed);
  if (C10_UNLIKELY(!stream)) {
    Check(npuStreamGetDefault(device, &stream));
    std::atomic_ref(cached).store(stream, std::memory_order_relaxed);
  }
  return stream;
}

c10::Stream MakeStream(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::DeviceType::PrivateUse1, device), id);
}

}  // namespace

c10::Stream CurrentStream(c10::DeviceIndex device) {
  return MakeStream(device, current_streams[static_cast<uint8_t>(device)]);
}

void SetCurrentStream(c10::Stream stream) {
  current_streams[static_cast<uint8_t>(stream.device_index())] = stream.id();
}

npuStream_t NativeStream(c10::Stream stream) {
  if (stream.id() == kDefaultStream) return DefaultNativeStream(stream.device_index());
  if (stream.id() > 0 && stream.id() <= kPoolStreams) {
    DeviceStreams& streams = StreamsOf(stream.device_index());
    CreateStreams(streams, stream.device_index());
    return streams.by_id[stream.id()];
  }
  return reinterpret_cast<npuStream_t>(stream.id());
}

npuStream_t CurrentNativeStream(c10::DeviceIndex device) {
  return NativeStream(CurrentStream(device));
}

c10::Stream StreamFromPool(c10::DeviceIndex device) {
  ThrowIfForked();
  DeviceStreams& streams = StreamsOf(device);
  CreateStreams(streams, device);
  return MakeStream(device, 1 + streams.next.fetch_add(1) % kPoolStreams);
}

void Drain(c10::DeviceIndex device) {
  ThrowIfForked();
  Check(npuStreamSynchronize(CurrentNativeStream(device)));
}

}  // namespace npu_backend
