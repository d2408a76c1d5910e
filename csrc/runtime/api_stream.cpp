// SPDX-License-Identifier: Apache-2.0
// The C ABI: streams and launches.
#include <string>

#include "runtime/device.hpp"
#include "runtime/environment.hpp"
#include "runtime/global_memory.hpp"
#include "runtime/peers.hpp"
#include "runtime/process.hpp"
#include "runtime/waiting.hpp"

namespace npu::runtime {
namespace {

/// Calls release(owner) at the end of its scope unless the launch has taken over.
class Release {
 public:
  explicit Release(const npuLaunchConfig* config) : config_(config) {}
  ~Release() {
    if (config_ != nullptr && config_->release != nullptr) config_->release(config_->owner);
  }
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
  void Dismiss() { config_ = nullptr; }

 private:
  const npuLaunchConfig* config_;
};

npuError_t LaunchKernel(const char* function, const npuLaunchConfig* config) {
  Release release(config);
  return Using(function, [&] {
    if (config == nullptr) return Invalid(function, "a configuration", "NULL");
    npuError_t error = CheckStream(function, config->stream);
    if (error == NPU_SUCCESS) error = CheckLaunch(function, *config);
    if (error != NPU_SUCCESS) return error;
    const uint64_t sequence = config->stream->Enqueue(Task::Kind::kLaunch, [&](Task& task) {
      task.launch.args.Assign(config->args, config->args_bytes);
      task.launch.ranges.Assign(config->ranges, config->range_count);
      task.launch.kernel = config->kernel;
      task.launch.block_dim = config->block_dim;
      task.launch.flags = config->flags;
      task.function = config->release;
      task.argument = config->owner;
    });
    release.Dismiss();
    if (Peers::Get().Any()) config->stream->HandOver();
    if (!GetEnvironment().launch_blocking) return NPU_SUCCESS;
    return WaitOn(function, config->stream, sequence);
  });
}

}  // namespace
}  // namespace npu::runtime

using namespace npu::runtime;  // NOLINT(google-build-using-namespace): this file is the runtime's
                               // face

npuError_t npuStreamCreate(npuStream_t* stream) {
  return Using(__func__, [&](const char* function) {
    if (stream == nullptr) return Invalid(function, "a pointer for the stream", "NULL");
    *stream = Registry::Get().CreateStream(CurrentDevice());
    return NPU_SUCCESS;
  });
}

npuError_t npuStreamDestroy(npuStream_t stream) {
  return Using(__func__, [&](const char* function) {
    npuError_t error = CheckStream(function, stream);
    if (error != NPU_SUCCESS) return error;
    if (Registry::Get().IsDefault(stream)) {
      return Invalid(function, "a stream from npuStreamCreate", "a default stream");
    }
    error = CheckMayWait(function);
    if (error != NPU_SUCCESS) return error;
    error = WaitOn(function, stream, stream->Newest());
    // Another thread may have destroyed it meanwhile.
    return Registry::Get().DestroyStream(stream) ? error : InvalidDestroyed(function);
  });
}

npuError_t npuStreamGetDefault(int device, npuStream_t* stream) {
  return Using(__func__, [&](const char* function) {
    const int count = GetEnvironment().device_count;
    if (stream == nullptr) return Invalid(function, "a pointer for the stream", "NULL");
    if (device < 0 || device >= count) {
      return Invalid(function, "a device from 0 to " + std::to_string(count - 1), device);
    }
    *stream = Registry::Get().DefaultStream(device);
    return NPU_SUCCESS;
  });
}

npuError_t npuStreamGetDevice(npuStream_t stream, int* device) {
  return Using(__func__, [&](const char* function) {
    if (stream != nullptr && !Registry::Get().Knows(stream)) {
      return Invalid(function, "a stream of this runtime", "an address where none is");
    }
    const npuError_t error = CheckStream(function, stream);
    if (error != NPU_SUCCESS) return error;
    if (device == nullptr) return Invalid(function, "a pointer for the device", "NULL");
    *device = stream->device();
    return NPU_SUCCESS;
  });
}

npuError_t npuStreamSynchronize(npuStream_t stream) {
  return Using(__func__, [&](const char* function) {
    const npuError_t error = CheckStream(function, stream);
    if (error != NPU_SUCCESS) return error;
    if (stream->Idle()) return NPU_SUCCESS;
    return WaitOn(function, stream, stream->Newest());
  });
}

npuError_t npuDeviceSynchronize(void) {
  return Using(__func__, [](const char* function) {
    npuError_t first = NPU_SUCCESS;
    std::string message;
    for (npuStream_t stream : Registry::Get().BusyStreams(CurrentDevice())) {
      const npuError_t error = CheckMayWait(function);
      if (error != NPU_SUCCESS) return error;
      const bool interrupted = stream->WaitFor(stream->Newest());
      if (first == NPU_SUCCESS) {
        Status status = stream->TakeError();  // of the other streams: at their next wait
        first = status.code;
        message = std::move(status.message);
      }
      if (interrupted) break;
    }
    return first == NPU_SUCCESS ? first : Fail(first, std::move(message));
  });
}

npuError_t npuDeviceQuery(void) {
  return Using(__func__, [](const char*) {
    return Registry::Get().BusyStreams(CurrentDevice()).empty() ? NPU_SUCCESS : NPU_ERROR_NOT_READY;
  });
}

npuError_t npuStreamQuery(npuStream_t stream) {
  return Using(__func__, [&](const char* function) {
    const npuError_t error = CheckStream(function, stream);
    if (error != NPU_SUCCESS || !stream->Pending()) return error;
    stream->HandOver();
    return NPU_ERROR_NOT_READY;  // an answer: what has failed before is still the last failure
  });
}

npuError_t npuLaunchKernel(npuKernel_t kernel, uint32_t block_dim, const void* args,
                           size_t args_bytes, npuStream_t stream) {
  npuLaunchConfig config = {};
  config.kernel = kernel;
  config.block_dim = block_dim;
  config.args = args;
  config.args_bytes = args_bytes;
  config.stream = stream;
  return LaunchKernel(__func__, &config);
}

npuError_t npuLaunchKernelWithConfig(const npuLaunchConfig* config) {
  return LaunchKernel(__func__, config);
}

npuError_t npuLaunchHostFunction(npuStream_t stream, void (*function)(void* argument),
                                 void* argument) {
  return Using(__func__, [&](const char* caller) {
    const npuError_t error = CheckStream(caller, stream);
    if (error != NPU_SUCCESS) return error;
    if (function == nullptr) return Invalid(caller, "a function", "NULL");
    stream->Enqueue(Task::Kind::kHostFunction, [&](Task& task) {
      task.function = function;
      task.argument = argument;
    });
    if (Peers::Get().Any()) stream->HandOver();
    return NPU_SUCCESS;
  });
}

npuError_t npuGetLaunchCount(const char* name, uint64_t* launches) {
  return Asking(__func__, [&](const char* function) {
    if (name == nullptr || launches == nullptr) {
      return Invalid(function, "a name and a pointer for the count", "NULL");
    }
    *launches = LaunchCounter::Get(name);
    return NPU_SUCCESS;
  });
}

npuError_t npuGetUnknownTransferCount(uint64_t* transfers) {
  return Asking(__func__, [&](const char* function) {
    if (transfers == nullptr) {
      return Invalid(function, "a pointer for the count", "NULL");
    }
    *transfers = UnknownTransfers();
    return NPU_SUCCESS;
  });
}
