// SPDX-License-Identifier: Apache-2.0
// What a launch in brackets, kernel<<<blocks, l2, stream>>>(arguments), is rewritten to.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

#include "npu/core_layout.hpp"
#include "npu/stream.hpp"
#include "npu_runtime.h"

namespace npu {

/// Enqueues blocks runs of body, which calls a kernel of this compile pass, on stream (nullptr: the
/// default stream). A launch in brackets has no result: why it was refused goes to stderr, too.
template <class Body>
npuError_t LaunchBody(const char* name, uint32_t blocks, void* stream, Body body) {
  static const npuKernelPass kPass = {
      [](const void* args) { (**static_cast<Body* const*>(args))(); }, sizeof(Body*), kCoreLayout};
#if defined(__DAV_CUBE__) && !defined(__DAV_VEC__)
  static const npuKernel kKernel = {name, nullptr, &kPass};
#else
  static const npuKernel kKernel = {name, &kPass, nullptr};
#endif
  auto owned = std::make_unique<Body>(std::move(body));
  Body* pointer = owned.get();
  npuLaunchConfig config = {};
  config.kernel = &kKernel;
  config.block_dim = blocks;
  config.args = &pointer;
  config.args_bytes = sizeof(pointer);
  npuError_t error = ResolveStream(stream, &config.stream);
  if (error == NPU_SUCCESS) {
    config.release = [](void* owner) { delete static_cast<Body*>(owner); };
    config.owner = owned.release();
    error = npuLaunchKernelWithConfig(&config);
  }
  if (error != NPU_SUCCESS) {
    std::fprintf(stderr, "%s<<<>>>: expected a launch, got: %s\n", name, npuGetLastErrorMessage());
  }
  return error;
}

}  // namespace npu
