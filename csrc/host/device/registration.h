// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/DispatchKey.h>

#include <initializer_list>
#include <string>

namespace torch {
class Library;
}

#define NPU_BACKEND_API __attribute__((visibility("default")))

/// What a library tells PyTorch. The macros TORCH_LIBRARY abort the process when a name is taken,
/// and cannot ask first. So each file adds a function to a list while the library loads, and one
/// initialiser of the library asks whether all names are free, then runs all functions or none.
namespace npu_backend {

/// One entry of the list. Give it static storage duration and NPU_REGISTRATION, for example
///   const Registration registration NPU_REGISTRATION("op_extension", {"npu::my_add"}, &Define);
class NPU_BACKEND_API Registration {
 public:
  /// owner: the library, as it calls itself in RegisterPending. operators: the names that define()
  /// defines.
  Registration(const char* owner, std::initializer_list<const char*> operators, void (*define)());
};

/// Makes entries come to the list before the ordinary initialisers of a library, such as that with
/// RegisterPending.
#define NPU_REGISTRATION __attribute__((init_priority(1000)))

/// Runs the entries of owner that were added since its last call, or none of them. Returns "" or
/// one sentence: who holds the name, or what failed. Never throws.
NPU_BACKEND_API std::string RegisterPending(const char* owner) noexcept;

/// For the functions define(): where to put operators of a namespace, and kernels for a dispatch
/// key.
NPU_BACKEND_API torch::Library& Extend(const char* name_space);
NPU_BACKEND_API torch::Library& Implement(const char* name_space, c10::DispatchKey key);

/// The owner whose entries make the device.
inline constexpr const char* kDeviceOwner = "npu_backend";

/// "" when the device npu works in this process, else why it does not.
NPU_BACKEND_API const std::string& DeviceError() noexcept;

}  // namespace npu_backend
