// SPDX-License-Identifier: Apache-2.0
#include "op/my_conv.h"

#include <algorithm>

#include "op/gemm.h"
#include "op/my_conv_blocks.h"
#include "op/planes.h"
#include "op/unfold.h"

namespace op {
namespace {

/// output = bias + factor times what the taps of a window see of source. It covers the convolution
/// and, where the source is spread over the output, the gradient of its input.
struct Correlation {
  const Tensor& source;
  const Tensor& weight;
  const Tensor& output;
  const Window& window;
  bool spreads;
  const Tensor* bias = nullptr;

  /// Counts what it takes of workspace; computes if there is a launcher.
  Status Run(Workspace& workspace, Launcher* launcher) const {
    const bool shifts = window.step[0] == 1 && window.step[1] == 1;
    Lying factor = shifts ? TapsOutside() : TapsInside();
    Status status = Packed(factor, 1, workspace, launcher);
    Gemm gemm = {};
    gemm.dtype = output.dtype;
    gemm.a = factor.data;
    gemm.tiling.m = output.shape[kC];
    gemm.tiling.k = weight.shape[kH] * weight.shape[kW] * source.shape[kC];
    gemm.tiling.steps = 1;
    gemm.tiling.a.line = factor.strides[0];
    if (status.ok()) status = AddBias(gemm, workspace, launcher);
    if (!status.ok()) return status;
    return shifts ? ShiftAndMultiply(gemm, workspace, launcher)
                  : UnfoldAndMultiply(gemm, workspace, launcher);
  }

 private:
  /// The weight as (channels of the output, channels of the source, taps).
  Lying TapsInside() const {
    return spreads ? Lying(weight, {kC, kN, kH, kW}) : Lying(weight, {kN, kC, kH, kW});
  }
  /// The weight as (channels of the output, taps, channels of the source).
  Lying TapsOutside() const {
    return spreads ? Lying(weight, {kC, kH, kW, kN}) : Lying(weight, {kN, kH, kW, kC});
  }

  Status AddBias(Gemm& gemm, Workspace& workspace, Launcher* launcher) const {
    if (bias == nullptr) return {};
    void* ones = workspace.Take(kGemmOnes);
    gemm.bias = bias->data;
    gemm.tiling.bias = bias->strides[0];
    gemm.ones = ones;
    if (launcher == nullptr) return {};
    UnfoldTiling tiling = {};
    tiling.images = tiling.channels = tiling.rows = 1;
    tiling.cols = kGemmOnes;
    tiling.fill = BitsOfOne(output.dtype);
    return Unfold(output.dtype, ones, nullptr, tiling, *launcher);
  }

  /// The window moves by one: each tap sees the source, with its padding around it, moved by so
  /// many elements. The rows of the product are as long as those of the padded source; what they
  /// have behind the rows of the output is left out.
  Status ShiftAndMultiply(Gemm& gemm, Workspace& workspace, Launcher* launcher) const {
    const int64_t taps[2] = {weight.shape[kH], weight.shape[kW]};
    const int64_t rows = output.shape[kH], cols = output.shape[kW], images = output.shape[kN];
    const int64_t padded_rows = rows + taps[0] - 1, padded_cols = cols + taps[1] - 1;
    int64_t padding[2];
    for (int d = 0; d < 2; ++d) {
      padding[d] = spreads ? taps[d] - 1 - window.padding[d] : window.padding[d];
    }
    const bool pads = !IsContiguousFrom(source, kH) || padding[0] != 0 || padding[1] != 0 ||
                      padded_rows != source.shape[kH] || padded_cols != source.shape[kW];
    const bool cuts = padded_cols != cols;
    const int64_t of_source = source.shape[kC] * padded_rows * padded_cols;
    const int64_t of_output = output.shape[kC] * rows * padded_cols;
    const int64_t of_image = (pads ? of_source : 0) + (cuts ? of_output : 0);
    const int64_t at_once = of_image == 0 ? images : AtOnce(of_image, images);
    void* padded = workspace.Take(pads ? at_once * of_source : 0);
    void* wide = workspace.Take(cuts ? at_once * of_output : 0);
    if (launcher == nullptr || output.shape[kC] == 0) return {};
    gemm.tiling.n = (rows - 1) * padded_cols + cols;
    gemm.tiling.c_row = rows * padded_cols;
    gemm.tiling.c_batch = of_output;
    GemmMatrix& seen = gemm.tiling.b;
    seen.line = pads ? padded_rows * padded_cols : source.strides[kC];
    seen.batch = pads ? of_source : source.strides[kN];
    seen.group = source.shape[kC];
    seen.row_of_groups = taps[1];
    seen.group_step[0] = spreads ? -padded_cols : padded_cols;
    seen.group_step[1] = spreads ? -1 : 1;
    const int64_t first = spreads ? (taps[0] - 1) * padded_cols + taps[1] - 1 : 0;
    for (int64_t image = 0; image < images; image += at_once) {
      gemm.tiling.batch = std::min(at_once, images - image);
      Status status;
      void* from = At(source, image * source.strides[kN]);
      if (pads) {
        UnfoldTiling around = PlanesOf(source, padded_rows, padded_cols);
        around.images = gemm.tiling.batch;
        around.padding[0] = padding[0];
        around.padding[1] = padding[1];
        status = Unfold(output.dtype, padded, from, around, *launcher);
        from = padded;
      }
      void* to = At(output, image * output.strides[kN]);
      gemm.b = At(output, from, first);
      gemm.c = cuts ? wide : to;
      if (status.ok()) status = gemm.Launch("npu::my_conv", *launcher);
      if (status.ok() && cuts) {
        UnfoldTiling cut = PlanesOf(output, rows, cols);
        cut.images = gemm.tiling.batch;
        cut.src_row = padded_cols;
        cut.src_channel = gemm.tiling.c_row;
        cut.src_image = of_output;
        status = Unfold(output.dtype, to, wide, cut, *launcher);
      }
      if (!status.ok()) return status;
    }
    return {};
  }

  /// Some images, or some rows of one, at a time.
  Status UnfoldAndMultiply(Gemm& gemm, Workspace& workspace, Launcher* launcher) const {
    Lying from(source);
    Status status = HasRows(from) ? Status{} : Packed(from, kN, workspace, launcher);
    if (!status.ok()) return status;
    gemm.tiling.c_row = output.shape[kH] * output.shape[kW];
    gemm.tiling.c_batch = output.shape[kC] * gemm.tiling.c_row;
    const int64_t grid_rows = output.shape[kH], cols = output.shape[kW], images = output.shape[kN];
    const int64_t of_row = std::max<int64_t>(gemm.tiling.k * cols, 1);
    const int64_t rows = AtOnce(of_row, grid_rows);
    const int64_t at_once = rows < grid_rows ? 1 : AtOnce(of_row * rows, images);
    void* unfolded = workspace.Take(at_once * of_row * rows);
    if (launcher == nullptr) return {};
    for (int64_t image = 0; image < images; image += at_once) {
      for (int64_t row = 0; row < grid_rows; row += rows) {
        const int64_t height = std::min(rows, grid_rows - row);
        UnfoldTiling seen = Seen(from, weight, window, height, cols, spreads);
        seen.images = gemm.tiling.batch = std::min(at_once, images - image);
        seen.first_row = row;
        status =
            Unfold(output.dtype, unfolded, At(from, image * from.strides[kN]), seen, *launcher);
        gemm.tiling.n = gemm.tiling.b.line = height * cols;
        gemm.tiling.b.batch = seen.dst_image;
        gemm.b = unfolded;
        gemm.c = At(output, image * gemm.tiling.c_batch + row * cols);
        if (status.ok()) status = gemm.Launch("npu::my_conv", *launcher);
        if (!status.ok()) return status;
      }
    }
    return {};
  }
};

}  // namespace

int64_t MyConvWorkspace(const Tensor& input, const Tensor& weight, const Tensor& output,
                        const Window& window) {
  Workspace workspace(output, nullptr);
  const BlockConvolution blocks(input, weight, output, window);
  if (blocks.Fits()) {
    (void)blocks.Run(nullptr, workspace, nullptr);
    return workspace.taken();
  }
  const int64_t zero = 0;
  const Tensor bias = {nullptr, output.dtype, 1, output.shape + kC, &zero};
  const Correlation correlation{input, weight, output, window, false, &bias};
  (void)correlation.Run(workspace, nullptr);
  return workspace.taken();
}

int64_t MyConvBackwardInputWorkspace(const Tensor& gradient, const Tensor& weight,
                                     const Tensor& input, const Window& window) {
  Workspace workspace(input, nullptr);
  const Correlation correlation{gradient, weight, input, window, true};
  (void)correlation.Run(workspace, nullptr);
  return workspace.taken();
}

Status MyConv(const Tensor& input, const Tensor& weight, const Tensor* bias, const Window& window,
              const Tensor& output, void* workspace, Launcher& launcher) {
  Workspace places(output, workspace);
  const BlockConvolution blocks(input, weight, output, window);
  if (blocks.Fits()) return blocks.Run(bias, places, &launcher);
  const Correlation correlation{input, weight, output, window, false, bias};
  return correlation.Run(places, &launcher);
}

Status MyConvBackwardInput(const Tensor& gradient, const Tensor& weight, const Window& window,
                           const Tensor& input, void* workspace, Launcher& launcher) {
  Workspace places(input, workspace);
  const Correlation correlation{gradient, weight, input, window, true};
  return correlation.Run(places, &launcher);
}

}  // namespace op
