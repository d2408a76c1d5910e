// SPDX-License-Identifier: Apache-2.0
// The C ABI: memory that processes share, and what is known of the others.
#include "runtime/device.hpp"
#include "runtime/peers.hpp"
#include "runtime/process.hpp"

using npu::runtime::Peers;
using npu::runtime::Registry;
using npu::runtime::Using;

npuError_t npuPeerWatchAdd(npuPeerWatch watch, void* owner) {
  return Using(__func__,
               [&](const char* function) { return Peers::Get().Add(function, watch, owner); });
}

npuError_t npuPeerWatchRemove(void* owner) {
  return Using(__func__,
               [&](const char* function) { return Peers::Get().Remove(function, owner); });
}

npuError_t npuMemoryAdopt(void* begin, size_t bytes) {
  return Using(__func__, [&](const char* function) {
    return Registry::Get().memory().Adopt(function, begin, bytes);
  });
}

npuError_t npuMemoryDisown(void* begin) {
  return Using(__func__, [&](const char* function) {
    return Registry::Get().memory().Disown(function, begin);
  });
}
