// SPDX-License-Identifier: Apache-2.0
// The C ABI: devices and memory.
#include <string>

#include "observe/instruction_counter.hpp"
#include "runtime/device.hpp"
#include "runtime/environment.hpp"
#include "runtime/interrupt.hpp"
#include "runtime/process.hpp"

using npu::InstructionCounter;
using npu::runtime::Asking;
using npu::runtime::CurrentDevice;
using npu::runtime::GetEnvironment;
using npu::runtime::Invalid;
using npu::runtime::Registry;
using npu::runtime::Using;

const char* npuGetLastErrorMessage(void) { return npu::runtime::LastErrorMessage(); }

npuError_t npuSetLastErrorMessage(const char* message) {
  return npu::runtime::Bounded(__func__, [&](const char* function) {
    if (message == nullptr) return Invalid(function, "a message", "NULL");
    npu::runtime::Fail(NPU_ERROR_INVALID_VALUE, message);
    return NPU_SUCCESS;
  });
}

npuError_t npuProcessCheck(void) {
  return Asking(__func__, [] { return NPU_SUCCESS; });
}

npuError_t npuProcessIsUser(int* is_user) {
  return npu::runtime::Bounded(__func__, [&](const char* function) {
    if (is_user == nullptr) return Invalid(function, "a pointer for the answer", "NULL");
    *is_user = npu::runtime::process_state.load() == npu::runtime::ProcessState::kFresh ? 0 : 1;
    return NPU_SUCCESS;
  });
}

npuError_t npuGetDeviceCount(int* count) {
  return Asking(__func__, [&](const char* function) {
    if (count == nullptr) return Invalid(function, "a pointer for the count", "NULL");
    *count = GetEnvironment().device_count;
    return NPU_SUCCESS;
  });
}

npuError_t npuSetDevice(int device) {
  return Using(__func__, [&](const char* function) {
    const int count = GetEnvironment().device_count;
    if (device < 0 || device >= count) {
      return Invalid(function, "a device from 0 to " + std::to_string(count - 1), device);
    }
    CurrentDevice() = device;
    return NPU_SUCCESS;
  });
}

npuError_t npuGetDevice(int* device) {
  return Asking(__func__, [&](const char* function) {
    if (device == nullptr) return Invalid(function, "a pointer for the device", "NULL");
    *device = CurrentDevice();
    return NPU_SUCCESS;
  });
}

npuError_t npuGetSocName(const char** name) {
  return Asking(__func__, [&](const char* function) {
    if (name == nullptr) return Invalid(function, "a pointer for the name", "NULL");
    *name = GetEnvironment().arch->soc;
    return NPU_SUCCESS;
  });
}

npuError_t npuGetCrossCoreAddress(uint64_t* address, uint32_t* bytes) {
  return Asking(__func__, [&](const char* function) {
    if (address == nullptr || bytes == nullptr) {
      return Invalid(function, "pointers for address and bytes", "NULL");
    }
    alignas(512) static char flags[512];
    *address = reinterpret_cast<uintptr_t>(flags);
    *bytes = sizeof(flags);
    return NPU_SUCCESS;
  });
}

npuError_t npuGetCoreCount(int* cube_cores, int* vector_cores) {
  return Asking(__func__, [&](const char* function) {
    if (cube_cores == nullptr || vector_cores == nullptr) {
      return Invalid(function, "pointers for both counts", "NULL");
    }
    *cube_cores = GetEnvironment().arch->cube_cores;
    *vector_cores = GetEnvironment().arch->vector_cores;
    return NPU_SUCCESS;
  });
}

npuError_t npuMalloc(void** pointer, size_t bytes) {
  return Using(__func__, [&](const char* function) {
    if (pointer == nullptr) return Invalid(function, "a pointer for the address", "NULL");
    return Registry::Get().memory().Allocate(CurrentDevice(), bytes, pointer);
  });
}

npuError_t npuFree(void* pointer) {
  return Using(__func__, [&] { return Registry::Get().memory().Free(pointer); });
}

npuError_t npuMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return Using(__func__, [&](const char* function) {
    if (free_bytes == nullptr || total_bytes == nullptr) {
      return Invalid(function, "pointers for both sizes", "NULL");
    }
    Registry::Get().memory().Info(CurrentDevice(), free_bytes, total_bytes);
    return NPU_SUCCESS;
  });
}

npuError_t npuSetInterruptCallback(int (*callback)(void)) {
  return Asking(__func__, [&] {
    npu::runtime::SetInterruptCallback(callback);
    return NPU_SUCCESS;
  });
}

npuError_t npuInstructionCountStart(void) {
  return Asking(__func__, [] {
    InstructionCounter::Start();
    return NPU_SUCCESS;
  });
}

npuError_t npuInstructionCountStop(void) {
  return Asking(__func__, [] {
    InstructionCounter::Stop();
    return NPU_SUCCESS;
  });
}

npuError_t npuInstructionCountGet(const char* name, uint64_t* executions, uint64_t* elements) {
  return Asking(__func__, [&](const char* function) {
    if (name == nullptr || executions == nullptr || elements == nullptr) {
      return Invalid(function, "a name and pointers for both counts", "NULL");
    }
    const InstructionCounter::Count count = InstructionCounter::Get(name);
    *executions = count.executions;
    *elements = count.elements;
    return NPU_SUCCESS;
  });
}
