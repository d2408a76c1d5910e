// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace npu::runtime {

/// What the checker's finding with that index is: kernel, both calls with their lines, bytes, and
/// the code to add.
std::string FindingSentence(size_t index);

}  // namespace npu::runtime
