// SPDX-License-Identifier: Apache-2.0
// Memory of the device, as C++ code of packages asks for it.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <cstddef>

#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace c10_npu::NPUCachingAllocator {

inline c10::Allocator* get() { return c10::GetAllocator(c10::DeviceType::PrivateUse1); }
/// Memory of the current device; raw_delete gives it back.
inline void* raw_alloc(size_t bytes) { return get()->raw_allocate(bytes); }
inline void raw_delete(void* pointer) { get()->raw_deallocate(pointer); }
/// The memory is not given out again before what is on stream when it is freed has run.
inline void recordStream(const c10::DataPtr& memory, NPUStream stream) {
  impl::Guard().recordDataPtrOnStream(memory, stream);
}
/// Failures raise, whatever check_error says.
inline void emptyCache(bool /*check_error*/ = true) {
  c10::getDeviceAllocator(c10::DeviceType::PrivateUse1)->emptyCache();
}

}  // namespace c10_npu::NPUCachingAllocator
