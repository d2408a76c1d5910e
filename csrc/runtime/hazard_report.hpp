// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace npu::runtime {

/// Writes all findings as JSON to folder/<pid>-<number>.json, as a whole or not at all. Calls are
/// given by library and offset. A sentence on standard error when the file cannot be written.
void WriteHazardReport(const std::string& folder, uint32_t number);

}  // namespace npu::runtime
