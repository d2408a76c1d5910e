// SPDX-License-Identifier: Apache-2.0
// What the host side tells the kernels of cross entropy. Plain data, passed by value.
#pragma once

#include <cstdint>

/// The classes of rows: int64 labels, stride elements apart. Rows with the label ignored count for
/// nothing.
struct Labels {
  int64_t rows;
  int64_t stride;
  int64_t classes;
  int64_t ignored;
};

/// What becomes of the losses of rows.
enum class LossReduction : int64_t { kNone, kSum, kMean };
