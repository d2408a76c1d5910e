// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/StorageImpl.h>

#include <cstddef>

namespace npu_backend {

/// Gives storage memory of bytes on its device and keeps what fits of the contents.
void ResizeStorage(c10::StorageImpl* storage, size_t bytes);

}  // namespace npu_backend
