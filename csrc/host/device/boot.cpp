// SPDX-License-Identifier: Apache-2.0
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/DeviceType.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <exception>
#include <string>

#include "device/install.h"
#include "device/python.h"
#include "device/registration.h"
#include "device/strict_dtypes.h"
#include "npu_runtime.h"

namespace npu_backend {
namespace {

std::string& Sentence() {
  static std::string& sentence = *new std::string;
  return sentence;
}

/// "" when no other backend and no other copy of this library holds PyTorch's one slot for private
/// devices.
std::string FindOwner() {
  if (c10::is_privateuse1_backend_registered() && c10::get_privateuse1_backend() != "npu") {
    return "npu_backend: expected PyTorch's slot for a private device to be free, got one named '" +
           c10::get_privateuse1_backend() + "'; use one such backend per process";
  }
  if (at::isPrivateUse1HooksRegistered() ||
      c10::impl::hasDeviceGuardImpl(c10::DeviceType::PrivateUse1)) {
    return "npu_backend: expected PyTorch's slot for the device npu to be free, got one that is "
           "taken by torch_npu or by another copy of this library; load one of them per process";
  }
  return "";
}

std::string Boot() {
  std::string owner = FindOwner();
  if (!owner.empty()) return owner;
  if (std::string refused = ReadStrictDtypes(); !refused.empty()) return refused;
  c10::register_privateuse1_backend("npu");
  std::string failure = RegisterPending(kDeviceOwner);
  if (!failure.empty()) return failure;
  InstallAllocators();
  InstallGuard();
  InstallHooks();
  InstallForkHandlers();
  InstallProfiler();
  npuSetInterruptCallback(&InterruptRequested);
  AddPythonModule();
  return "";
}

/// Runs while the library loads, when an exception would end the process.
bool BootWithoutException() noexcept {
  try {
    Sentence() = Boot();
  } catch (const std::exception& error) {
    Sentence() = std::string("npu_backend: ") + error.what();
  }
  if (!Sentence().empty()) Warn(Sentence().c_str());
  return Sentence().empty();
}

[[maybe_unused]] const bool booted = BootWithoutException();

}  // namespace

const std::string& DeviceError() noexcept { return Sentence(); }

}  // namespace npu_backend

/// For the Python package: "", or why this copy of the library registered nothing.
extern "C" NPU_BACKEND_API const char* npu_backend_device_error() {
  return npu_backend::DeviceError().c_str();
}

/// The Python package finds this text in the file before it loads it, for a library that was
/// compiled against another PyTorch may not load.
extern "C" NPU_BACKEND_API const char npu_backend_built_for[];
extern "C" const char npu_backend_built_for[] = "npu_backend built for torch " NPU_TORCH_VERSION;
