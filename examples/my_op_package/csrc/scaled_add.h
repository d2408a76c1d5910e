// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// A tile kernel: z[k] = x[k] + alpha * y[k] for k in [0, count). Product and sum are rounded.
extern "C" void scaled_add(float* z, float* x, float* y, float alpha, int64_t count);
