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
  return streams[static_cast<uint8_t>(CheckedIndex(device))];
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

/// Whether id counts streams; others are addresses.
bool IsOwn(c10::StreamId id) { return id >= kDefaultStream && id <= kPoolStreams; }

c10::Stream MakeStream(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::DeviceType::PrivateUse1, device), id);
}

}  // namespace

c10::Stream CurrentStream(c10::DeviceIndex device) {
  return MakeStream(device, current_streams[static_cast<uint8_t>(device)]);
}

void SetCurrentStream(c10::Stream stream) {
  CheckStream(stream);
  current_streams[static_cast<uint8_t>(stream.device_index())] = stream.id();
}

void CheckStream(c10::Stream stream) {
  StreamsOf(stream.device_index());
  if (!IsOwn(stream.id())) NativeStream(stream);
}

npuStream_t NativeStream(c10::Stream stream) {
  if (stream.id() == kDefaultStream) return DefaultNativeStream(stream.device_index());
  if (IsOwn(stream.id())) {
    DeviceStreams& streams = StreamsOf(stream.device_index());
    CreateStreams(streams, stream.device_index());
    return streams.by_id[stream.id()];
  }
  const auto native = reinterpret_cast<npuStream_t>(stream.id());
  int device = 0;
  const npuError_t error = npuStreamGetDevice(native, &device);
  TORCH_CHECK(error == NPU_SUCCESS, "npu stream: expected the stream_id 0 to ", kPoolStreams,
              " or the address of a stream that lives, got ", stream.id());
  TORCH_CHECK(device == stream.device_index(), "npu stream: expected a stream of device ", device,
              ", got one that is said to be of device ", static_cast<int>(stream.device_index()));
  return native;
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
