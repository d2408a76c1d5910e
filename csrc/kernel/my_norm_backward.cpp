// SPDX-License-Identifier: Apache-2.0
// The gradient of x in a norm. With g = gradient * weight:
//   z = (g - mean(g) - x^ * mean(g * x^)) * scale
// over each row; without centering mean(g) is left out.
#include "norm.hpp"

namespace {

using namespace pto;
using Tiling = RowTiling<3>;

template <class T, int kBlocks>
AICORE void Backward(__gm__ T* z, __gm__ T* gradient, __gm__ T* x, __gm__ T* weight,
                     const Tiling& tiling, const NormOptions& options) {
  enum Slot { kGradient = norm::kFree, kNormal, kWork, kMeanOfGradient, kMeanOfProduct };
  using RowsT = norm::Rows<T, kBlocks, 2, 1>;
  using Full = typename RowsT::Full;
  using Axis = typename RowsT::Axis;
  RowsT rows(tiling, z, {gradient, x, weight});
  const auto weighted = [&] {
    if (!rows.has(2)) return rows.x(0);
    Full tile = rows.Work(kGradient);
    TCOLEXPANDMUL(tile, rows.x(0), rows.x(2));
    return tile;
  };
  rows.ForEachTile([&] {
    norm::Statistics<RowsT> statistics{rows, 1, tiling.shape[tiling.dims - 1], options};
    statistics.Compute();
    auto mean_of_gradient = rows.StatAt(kMeanOfGradient);
    auto mean_of_product = rows.StatAt(kMeanOfProduct);
    if (options.centered != 0) statistics.Mean(mean_of_gradient, weighted);
    statistics.Mean(mean_of_product, [&] {
      Full normal = rows.Work(kNormal), product = rows.Work(norm::kSquare), g = weighted();
      statistics.Normalize(normal);
      TMUL(product, g, normal);
      return product;
    });
    rows.ForEachPiece([&] {
      Full normal = rows.Work(kNormal), work = rows.Work(kWork), g = weighted();
      if (!rows.is_whole()) statistics.Normalize(normal);
      rows.Store(work, [&](auto& tile) {
        Axis::Mul(normal, normal, mean_of_product);
        TSUB(tile, g, normal);
        if (options.centered != 0) Axis::Sub(tile, tile, mean_of_gradient);
        Axis::Mul(tile, tile, statistics.scale);
      });
    });
  });
}

template <class T>
AICORE void Run(GM_ADDR z, GM_ADDR gradient, GM_ADDR x, GM_ADDR weight, const Tiling& tiling,
                const NormOptions& options) {
  rows::WithBlocks<T, rows::AlongRows>(tiling, [&](auto blocks) {
    Backward<T, blocks.value>((__gm__ T*)z, (__gm__ T*)gradient, (__gm__ T*)x, (__gm__ T*)weight,
                              tiling, options);
  });
}

}  // namespace

extern "C" __global__ AICORE void my_norm_backward_float(GM_ADDR z, GM_ADDR gradient, GM_ADDR x,
                                                         GM_ADDR weight, Tiling tiling,
                                                         NormOptions options) {
  Run<float>(z, gradient, x, weight, tiling, options);
}

extern "C" __global__ AICORE void my_norm_backward_half(GM_ADDR z, GM_ADDR gradient, GM_ADDR x,
                                                        GM_ADDR weight, Tiling tiling,
                                                        NormOptions options) {
  Run<half>(z, gradient, x, weight, tiling, options);
}

extern "C" __global__ AICORE void my_norm_backward_bfloat16(GM_ADDR z, GM_ADDR gradient, GM_ADDR x,
                                                            GM_ADDR weight, Tiling tiling,
                                                            NormOptions options) {
  Run<bfloat16_t>(z, gradient, x, weight, tiling, options);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_norm_backward_double(GM_ADDR z, GM_ADDR gradient, GM_ADDR x,
                                                          GM_ADDR weight, Tiling tiling,
                                                          NormOptions options) {
  Run<double>(z, gradient, x, weight, tiling, options);
}
