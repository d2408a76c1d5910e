// SPDX-License-Identifier: Apache-2.0
#include "op/convolution.h"

#include <ATen/ops/empty.h>

namespace npu_host {

namespace {

/// values, or one value for both. name: the argument, for errors.
void SetPair(const char* where, const char* name, c10::IntArrayRef values, int64_t least,
             int64_t (&pair)[2]) {
  TORCH_CHECK(values.size() == 1 || values.size() == 2, where, ": expected ", name,
              " of 1 or 2 numbers, got ", values.size());
  for (int d = 0; d < 2; ++d) {
    pair[d] = values[values.size() == 1 ? 0 : d];
    TORCH_CHECK(pair[d] >= least && pair[d] <= INT32_MAX, where, ": expected ", name, " from ",
                least, " to ", INT32_MAX, ", got ", pair[d]);
  }
}

}  // namespace

SymPair PairOf(const char* where, c10::SymIntArrayRef size) {
  TORCH_CHECK(size.size() == 2, where, ": expected size of 2 numbers, got ", size.size());
  return {{size[0], size[1]}};
}

ConvWindow::ConvWindow(const char* where, c10::IntArrayRef stride, c10::IntArrayRef padding)
    : where_(where) {
  SetPair(where, "stride", stride, 1, window_.step);
  SetPair(where, "padding", padding, 0, window_.padding);
}

SymPair ConvWindow::OutputSize(const SymPair& input, const SymPair& kernel) const {
  SymPair size;
  for (int d = 0; d < 2; ++d) {
    const c10::SymInt padded = input[d] + 2 * window_.padding[d];
    const char* extent = d == 0 ? "height" : "width";
    TORCH_CHECK(kernel[d] > 0 && kernel[d] <= padded, where_, ": expected a kernel ", extent,
                " from 1 to ", padded, " (the ", extent, " of input with padding), got ",
                kernel[d]);
    size.values[d] = (padded - kernel[d]) / window_.step[d] + 1;
  }
  return size;
}

at::Tensor ConvWorkspace(int64_t elements, const at::Tensor& like) {
  return at::empty({elements}, like.options().memory_format(std::nullopt));
}

}  // namespace npu_host
