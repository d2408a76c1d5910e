// SPDX-License-Identifier: Apache-2.0
// What the host side tells the kernels that transpose. Plain data, passed by value.
#pragma once

#include <cstdint>

/// batch matrices of rows x cols, contiguous and behind each other; so are their transposes.
struct TransposeTiling {
  int64_t batch, rows, cols;
};
