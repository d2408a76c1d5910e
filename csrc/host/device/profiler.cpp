// SPDX-License-Identifier: Apache-2.0
#include <c10/util/ApproximateClock.h>
#include <torch/csrc/profiler/stubs/base.h>

#include <functional>

#include "device/device.h"
#include "device/install.h"
#include "device/stream.h"

namespace npu_backend {
namespace {

using torch::profiler::impl::ProfilerVoidEventStub;

npuEvent_t Native(const ProfilerVoidEventStub& event) {
  return static_cast<npuEvent_t>(event.get());
}

void Destroy(void* event) { npuEventDestroy(static_cast<npuEvent_t>(event)); }

/// Times of operators on the device, for a profiler that is given the device: an event before and
/// one behind each operator.
class Events final : public torch::profiler::impl::ProfilerStubs {
 public:
  void record(c10::DeviceIndex* device, ProfilerVoidEventStub* event,
              int64_t* cpu_ns) const override {
    const c10::DeviceIndex current = CurrentDevice();
    if (device) *device = current;
    npuEvent_t created = nullptr;
    Check(npuEventCreate(&created));
    *event = ProfilerVoidEventStub(created, &Destroy);
    if (cpu_ns) *cpu_ns = c10::getTime();
    Check(npuEventRecord(created, CurrentNativeStream(current)));
  }

  /// In microseconds.
  float elapsed(const ProfilerVoidEventStub* start,
                const ProfilerVoidEventStub* end) const override {
    Check(npuEventSynchronize(Native(*start)));
    Check(npuEventSynchronize(Native(*end)));
    float milliseconds = 0;
    Check(npuEventElapsedTime(&milliseconds, Native(*start), Native(*end)));
    return milliseconds * 1000;
  }

  bool enabled() const override { return true; }
  void onEachDevice(std::function<void(int)> call) const override {
    for (c10::DeviceIndex device = 0; device < DeviceCount(); ++device) {
      const DeviceScope scope(device);
      call(device);
    }
  }
  void synchronize() const override { SynchronizeDevice(CurrentDevice()); }

  // Nobody else listens.
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}
};

}  // namespace

void InstallProfiler() {
  static Events& events = *new Events;
  torch::profiler::impl::registerPrivateUse1Methods(&events);
}

}  // namespace npu_backend
