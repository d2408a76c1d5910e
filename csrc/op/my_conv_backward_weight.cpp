// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "op/gemm.h"
#include "op/my_conv.h"
#include "op/planes.h"
#include "op/unfold.h"

namespace op {
namespace {

/// A window of one element sees the images as they lie.
bool IsPoint(const Tensor& weight, const Window& window) {
  return weight.shape[kH] == 1 && weight.shape[kW] == 1 && window.step[0] == 1 &&
         window.step[1] == 1 && window.padding[0] == 0 && window.padding[1] == 0;
}

/// Counts what the gradient of weight takes of workspace; computes it if there is a launcher.
Status WeightGradient(const Tensor& gradient, const Tensor& input, const Window& window,
                      const Tensor& weight, Workspace& workspace, Launcher* launcher) {
  const bool is_point = IsPoint(weight, window);
  Lying from(input), factor(gradient);
  Status status = Packed(factor, kH, workspace, launcher);
  if (status.ok() && (is_point ? !IsContiguousFrom(from, kH) : !HasRows(from)))
    status = Packed(from, kN, workspace, launcher);
  if (!status.ok()) return status;
  const int64_t taps = weight.shape[kH] * weight.shape[kW];
  Gemm gemm = {};
  gemm.dtype = weight.dtype;
  gemm.a = factor.data;
  gemm.tiling.m = weight.shape[kN];
  gemm.tiling.k = gradient.shape[kH] * gradient.shape[kW];
  gemm.tiling.steps = gradient.shape[kN];
  gemm.tiling.batch = 1;
  gemm.tiling.a.line = factor.strides[kC];
  gemm.tiling.a.step = factor.strides[kN];
  gemm.tiling.b.turned = 1;
  gemm.tiling.c_row = weight.shape[kC] * taps;
  const int64_t channels = weight.shape[kC];
  const int64_t of_channel = std::max<int64_t>(gemm.tiling.steps * taps * gemm.tiling.k, 1);
  const int64_t at_once = is_point ? channels : AtOnce(of_channel, channels);
  void* unfolded = is_point ? from.data : workspace.Take(at_once * of_channel);
  if (launcher == nullptr) return {};
  for (int64_t channel = 0; channel < channels; channel += at_once) {
    gemm.tiling.n = std::min(at_once, channels - channel) * taps;
    if (is_point) {
      gemm.tiling.b.line = from.strides[kC];
      gemm.tiling.b.step = from.strides[kN];
    } else {
      UnfoldTiling seen = Seen(from, weight, window, gradient.shape[kH], gradient.shape[kW], false);
      seen.channels = gemm.tiling.n / taps;
      seen.dst_image = seen.channels * seen.dst_channel;
      status =
          Unfold(weight.dtype, unfolded, At(from, channel * from.strides[kC]), seen, *launcher);
      gemm.tiling.b.line = gemm.tiling.k;
      gemm.tiling.b.step = seen.dst_image;
    }
    gemm.b = unfolded;
    gemm.c = At(weight, channel * taps);
    if (status.ok()) status = gemm.Launch("npu::my_conv_backward_weight", *launcher);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

int64_t MyConvBackwardWeightWorkspace(const Tensor& gradient, const Tensor& input,
                                      const Tensor& weight, const Window& window) {
  Workspace workspace(weight, nullptr);
  (void)WeightGradient(gradient, input, window, weight, workspace, nullptr);
  return workspace.taken();
}

Status MyConvBackwardWeight(const Tensor& gradient, const Tensor& input, const Window& window,
                            const Tensor& weight, void* workspace, Launcher& launcher) {
  Workspace places(weight, workspace);
  return WeightGradient(gradient, input, window, weight, places, &launcher);
}

}  // namespace op
