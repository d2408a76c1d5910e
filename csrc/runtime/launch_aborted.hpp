// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace npu::runtime {

/// Unwinds the cores of a launch that has stopped. Not a std::exception: kernels that catch those
/// let it pass.
struct LaunchAborted {};

}  // namespace npu::runtime
