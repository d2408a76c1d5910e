// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace npu_backend {

/// Bytes that launches hold which have not run yet; a tensor that several of them name counts several times.
size_t QueuedBytes() noexcept;

}  // namespace npu_backend
