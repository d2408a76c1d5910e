// SPDX-License-Identifier: Apache-2.0
// What a convolution and its gradients share: sizes, and calls of one another.
#pragma once

#include <ATen/core/Tensor.h>

#include "op/my_conv.h"

namespace npu_host {

/// A number each for the vertical and the horizontal direction.
struct SymPair {
  c10::SymInt values[2];

  const c10::SymInt& operator[](int d) const { return values[d]; }
};

/// Stride and padding of a convolution, checked.
class ConvWindow {
 public:
  ConvWindow(const char* where, c10::IntArrayRef stride, c10::IntArrayRef padding);

  /// Size of the output from those of input and kernel. Raises where the kernel does not fit.
  SymPair OutputSize(const SymPair& input, const SymPair& kernel) const;

  const op::Window& numbers() const { return window_; }

 private:
  const char* where_;
  op::Window window_;
};

/// Raises unless there are two sizes.
SymPair PairOf(const char* where, c10::SymIntArrayRef size);

/// The last two sizes of x.
inline SymPair PlaneOf(const at::Tensor& x) { return {{x.sym_size(2), x.sym_size(3)}}; }

/// Elements of workspace on the device of like.
at::Tensor ConvWorkspace(int64_t elements, const at::Tensor& like);

// Through the dispatcher; differentiable.
at::Tensor MyConv(const at::Tensor& input, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias, c10::IntArrayRef stride,
                  c10::IntArrayRef padding);
at::Tensor MyConvBackwardInput(const at::Tensor& gradient, const at::Tensor& weight,
                               c10::SymIntArrayRef size, c10::IntArrayRef stride,
                               c10::IntArrayRef padding);
at::Tensor MyConvBackwardWeight(const at::Tensor& gradient, const at::Tensor& input,
                                c10::SymIntArrayRef size, c10::IntArrayRef stride,
                                c10::IntArrayRef padding);

}  // namespace npu_host
