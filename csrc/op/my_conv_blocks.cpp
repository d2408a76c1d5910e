// SPDX-License-Identifier: Apache-2.0
#include "op/my_conv_blocks.h"

#include <algorithm>
#include <string>

#include "kernel/tiling/transpose.h"
#include "op/kernel_library.h"
#include "op/unfold.h"

namespace op {
namespace {

constexpr int64_t kRowsOfTile = 128;  // places of the window that are worked on together

struct TransposeArgs {
  void* dst;
  const void* src;
  TransposeTiling tiling;
};

Status Transpose(const char* kernel, DType dtype, void* dst, const void* src,
                 const TransposeTiling& tiling, Launcher& launcher) {
  const TransposeArgs args{dst, src, tiling};
  const DType moved = dtype == DType::kBfloat16 ? DType::kFloat16 : dtype;  // bits are moved
  const int64_t elements = tiling.batch * tiling.rows * tiling.cols;
  return LaunchFor(kernel, moved, elements, &args, sizeof(args), launcher);
}

struct ConvArgs {
  void* output;
  const void* images;
  const void* weight;
  const void* bias;
  ConvTiling tiling;
};

}  // namespace

BlockConvolution::BlockConvolution(const Tensor& source, const Tensor& weight, const Tensor& output,
                                   const Window& window)
    : source_(source),
      weight_(weight),
      output_(output),
      window_(window),
      block_(32 / static_cast<int64_t>(ElementSize(output.dtype))) {
  const int64_t channels = source.shape[kC], columns = weight.shape[kW];
  folds_ = columns > 1 && channels <= block_ && channels * columns <= block_;
  rows_ = folds_ ? channels * columns : std::min(channels, block_);
  tiling_.images = source.shape[kN];
  tiling_.channels = (channels + block_ - 1) / block_ * block_;
  tiling_.height = source.shape[kH];
  tiling_.width = folds_ ? output.shape[kW] : source.shape[kW];
  tiling_.outputs = output.shape[kC];
  tiling_.places = output.shape[kH] * output.shape[kW];
  for (int d = 0; d < 2; ++d) {
    const bool folded = folds_ && d == 1;
    tiling_.taps[d] = folded ? 1 : weight.shape[kH + d];
    tiling_.step[d] = folded ? 1 : window.step[d];
    tiling_.padding[d] = folded ? 0 : window.padding[d];
  }
  tiling_.k = tiling_.channels * tiling_.taps[0] * tiling_.taps[1];
  of_image_ = tiling_.channels * tiling_.height * tiling_.width;
  of_wide_ = tiling_.outputs * tiling_.places;
}

bool BlockConvolution::Fits() const {
  const int64_t channels = source_.shape[kC];
  const auto bytes = static_cast<int64_t>(ElementSize(output_.dtype));
  const int64_t lines = (tiling_.outputs + 15) / 16 * 16;
  const auto within = [](const int64_t (&pair)[2], int64_t most) {
    return pair[0] <= most && pair[1] <= most;
  };
  return output_.dtype != DType::kFloat64 && of_image_ > 0 && tiling_.images > 0 &&
         (channels % block_ == 0 || channels < block_) && tiling_.outputs > 0 &&
         tiling_.outputs <= kConvOutputs && tiling_.k * lines * bytes <= kConvWeightBytes &&
         of_image_ * bytes <= kConvImageBytes && tiling_.places <= UINT16_MAX &&
         within(tiling_.taps, 255) && within(tiling_.step, 63) && within(tiling_.padding, 255) &&
         IsContiguousFrom(source_, kN) && IsContiguousFrom(weight_, kN);
}

/// Images that the workspace is for.
int64_t BlockConvolution::AtOnceOf() const {
  const int64_t columns = folds_ ? rows_ * tiling_.height * tiling_.width : 0;
  return AtOnce(of_image_ + columns + of_wide_, tiling_.images);
}

Status BlockConvolution::Run(const Tensor* bias, Workspace& workspace, Launcher* launcher) const {
  const int64_t at_once = AtOnceOf();
  Places places = {};
  places.weight = workspace.Take(tiling_.outputs * tiling_.k);
  places.images = workspace.Take(at_once * of_image_);
  places.wide = workspace.Take(at_once * of_wide_);
  if (folds_) {
    places.turned_weight = workspace.Take(Elements(weight_));
    places.columns = workspace.Take(at_once * rows_ * tiling_.height * tiling_.width);
  }
  void* packed_bias = workspace.Take(tiling_.outputs);
  if (launcher == nullptr) return {};
  Status status;
  const void* start = bias == nullptr ? nullptr : bias->data;
  if (bias != nullptr && tiling_.outputs > 1 && bias->strides[0] != 1) {
    Tensor to = *bias;
    to.data = packed_bias;
    status = Pack(*bias, to, *launcher);
    start = packed_bias;
  }
  return status.ok() ? Compute(places, start, *launcher) : status;
}

/// Some images at a time.
Status BlockConvolution::Compute(const Places& places, const void* bias, Launcher& launcher) const {
  const int64_t at_once = AtOnceOf();
  Status status = BringWeight(places, launcher);
  for (int64_t image = 0; status.ok() && image < tiling_.images; image += at_once) {
    const int64_t count = std::min(at_once, tiling_.images - image);
    status = BringImages(places, image, count, launcher);
    if (status.ok()) status = Multiply(places, bias, count, launcher);
    if (!status.ok()) break;
    status = Transpose("transpose", output_.dtype, At(output_, image * of_wide_), places.wide,
                       {count, tiling_.places, tiling_.outputs}, launcher);
  }
  return status;
}

Status BlockConvolution::BringWeight(const Places& places, Launcher& launcher) const {
  const void* from = weight_.data;
  if (folds_) {
    const Lying by_columns(weight_, {kN, kC, kW, kH});
    Lying to = by_columns;
    to.MakeContiguous();
    to.data = places.turned_weight;
    const Status status = Pack(by_columns, to, launcher);
    if (!status.ok()) return status;
    from = to.data;
  }
  return Transpose(
      "transpose_to_blocks", output_.dtype, places.weight, from,
      {tiling_.outputs * tiling_.channels / block_, rows_, tiling_.taps[0] * tiling_.taps[1]},
      launcher);
}

Status BlockConvolution::BringImages(const Places& places, int64_t image, int64_t count,
                                     Launcher& launcher) const {
  const void* from = At(source_, image * source_.strides[kN]);
  if (folds_) {
    UnfoldTiling seen = PlanesOf(source_, tiling_.height, tiling_.width);
    seen.images = count;
    seen.dst_tap = seen.dst_channel;
    seen.dst_channel *= weight_.shape[kW];
    seen.dst_image *= weight_.shape[kW];
    seen.extra_taps[1] = weight_.shape[kW] - 1;
    seen.extra_step[1] = window_.step[1] - 1;
    seen.padding[1] = window_.padding[1];
    const Status status = Unfold(output_.dtype, places.columns, from, seen, launcher);
    if (!status.ok()) return status;
    from = places.columns;
  }
  return Transpose("transpose_to_blocks", output_.dtype, places.images, from,
                   {count * tiling_.channels / block_, rows_, tiling_.height * tiling_.width},
                   launcher);
}

Status BlockConvolution::Multiply(const Places& places, const void* bias, int64_t count,
                                  Launcher& launcher) const {
  std::string error;
  const npuKernel_t kernel =
      FindKernel(std::string("my_conv_") + KernelSuffix(output_.dtype), &error);
  if (!kernel) return Status::Invalid("npu::my_conv: " + error);
  ConvArgs args{places.wide, places.images, places.weight, bias, tiling_};
  args.tiling.images = count;
  args.tiling.at_once = 1;
  if (tiling_.places % 16 == 0) {
    const int64_t bytes = of_image_ * static_cast<int64_t>(ElementSize(output_.dtype));
    args.tiling.at_once =
        std::clamp<int64_t>(kRowsOfTile / tiling_.places, 1, kConvImageBytes / bytes);
  }
  // Each block takes the weight to its core: not worth it for a few tiles.
  constexpr int64_t kTiles = 8;
  const int64_t groups = (count + args.tiling.at_once - 1) / args.tiling.at_once;
  const int64_t tiles = count * tiling_.places / kRowsOfTile;
  const int64_t most = std::min<int64_t>(groups, Cores().cube);
  const auto blocks = static_cast<uint32_t>(std::clamp<int64_t>(tiles / kTiles, 1, most));
  return Status::Of(launcher.Launch(kernel, blocks, 0, &args, sizeof(args)));
}

}  // namespace op
