// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernel/tiling/conv.h"
#include "op/my_conv.h"
#include "op/planes.h"
#include "op/tensor.h"

namespace op {

/// A convolution of images whose channels are brought together in blocks of 32 bytes: the core
/// reads what the window sees from L1, where images lie whole. Where a block has room for them,
/// what the columns of the window see are channels of their own: a window of one column is left.
class BlockConvolution {
 public:
  BlockConvolution(const Tensor& source, const Tensor& weight, const Tensor& output,
                   const Window& window);

  /// True if the operands lie one element behind another and the core has room for them.
  bool Fits() const;

  /// Counts what it takes of workspace; computes output = bias + ... if there is a launcher.
  Status Run(const Tensor* bias, Workspace& workspace, Launcher* launcher) const;

 private:
  /// Where in the workspace things are: the weight and some images, in blocks and, where columns
  /// are channels, on the way there; the result of these images, channel by channel.
  struct Places {
    void *weight, *images, *wide, *turned_weight, *columns;
  };
  Status Compute(const Places& places, const void* bias, Launcher& launcher) const;
  Status BringWeight(const Places& places, Launcher& launcher) const;
  Status BringImages(const Places& places, int64_t image, int64_t count, Launcher& launcher) const;
  Status Multiply(const Places& places, const void* bias, int64_t count, Launcher& launcher) const;
  int64_t AtOnceOf() const;

  const Tensor& source_;
  const Tensor& weight_;
  const Tensor& output_;
  const Window& window_;
  int64_t block_;     // channels of a block
  int64_t rows_;      // channels that there are of it
  bool folds_;        // columns of the window are channels
  int64_t of_image_;  // elements of an image in blocks
  int64_t of_wide_;   // elements of its result
  ConvTiling tiling_ = {};
};

}  // namespace op
