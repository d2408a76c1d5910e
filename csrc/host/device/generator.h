// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>

namespace npu_backend {

/// A generator of device npu. It wraps a CPU generator, which the CPU kernels draw from, so that
/// with equal seeds the numbers on npu are those on CPU, and draws on CPU do not disturb it.
at::Generator NewGenerator(c10::DeviceIndex device);

/// The default generator of device.
const at::Generator& DefaultGenerator(c10::DeviceIndex device);

/// The CPU generator inside of an npu generator.
at::Generator InnerGenerator(const at::Generator& generator);

}  // namespace npu_backend
