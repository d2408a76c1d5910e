// SPDX-License-Identifier: Apache-2.0
#include "op/kernel_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "kernel/tiling.h"
#include "npu/isa_levels.hpp"

namespace op {
namespace {

/// Folder of the library that this code is in.
std::string OwnFolder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&OwnFolder), &info) == 0 || info.dli_fname == nullptr)
    return ".";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

struct Library {
  void* handle = nullptr;
  std::string error;
};

Library Open() {
  const std::string folder = OwnFolder();
  const char* asked = std::getenv("NPU_ISA_LEVEL");
  if (asked && *asked == '\0') asked = nullptr;  // as where kernels are compiled
  for (const npu::IsaLevel& level : npu::kIsaLevels) {
    if ((asked && std::string(asked) != level.name) || !level.is_here()) continue;
    const std::string path = folder + "/libop_kernels_" + level.name + ".so";
    if (access(path.c_str(), R_OK) != 0) continue;
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle) return {handle, ""};
    return {nullptr, std::string("op_extension: expected to load ") + path + ", got: " + dlerror()};
  }
  return {nullptr, "op_extension: expected a kernel library (libop_kernels_<level>.so) in " +
                       folder + " for " +
                       (asked ? std::string("NPU_ISA_LEVEL=") + asked : "a level of this machine") +
                       ", got none"};
}

}  // namespace

npuKernel_t FindKernel(const std::string& name, std::string* error) {
  static const Library library = Open();
  static std::mutex mutex;
  static std::unordered_map<std::string, npuKernel_t> known;
  if (!library.handle) {
    *error = library.error;
    return nullptr;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  npuKernel_t& kernel = known[name];
  if (!kernel)
    kernel = static_cast<npuKernel_t>(dlsym(library.handle, ("npu_kernel_" + name).c_str()));
  if (!kernel)
    *error = "op_extension: expected a kernel named " + name + " in the kernel library, got none";
  return kernel;
}

namespace {

uint32_t BlocksFor(int64_t elements, DType dtype) {
  const auto per_block = static_cast<int64_t>(kBytesPerBlock / ElementSize(dtype));
  return static_cast<uint32_t>(
      std::clamp<int64_t>((elements + per_block - 1) / per_block, 1, Cores().vector));
}

}  // namespace

const CoreCounts& Cores() {
  static const CoreCounts counts = [] {
    CoreCounts found;
    npuGetCoreCount(&found.cube, &found.vector);  // where it fails it leaves them as they are
    return found;
  }();
  return counts;
}

Status CheckDims(const char* where, const char* what, int dims) {
  if (dims <= kMaxDims) return {};
  return Status::Invalid(std::string(where) + ": expected " + what + " of at most " +
                         std::to_string(kMaxDims) + " dimensions once neighbours are merged, got " +
                         std::to_string(dims));
}

Status LaunchFor(const std::string& name, DType dtype, int64_t elements, const void* args,
                 size_t args_bytes, Launcher& launcher) {
  std::string error;
  const npuKernel_t kernel = FindKernel(name + "_" + KernelSuffix(dtype), &error);
  if (!kernel) return Status::Invalid(error);
  const uint32_t flags = dtype == DType::kFloat64 ? NPU_LAUNCH_FLOAT64 : 0;
  return Status::Of(launcher.Launch(kernel, BlocksFor(elements, dtype), flags, args, args_bytes));
}

}  // namespace op
