// SPDX-License-Identifier: Apache-2.0
// z = x: what a split and the way back from it consist of.
#include "elementwise.hpp"

namespace {

struct Copy {
  static constexpr bool kComputesHalf = true;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& z, TileT& x) const {
    TMOV(z, x);
  }
};

using Tiling = ElementwiseTiling<1>;

}  // namespace

extern "C" __global__ AICORE void my_split_float(GM_ADDR z, GM_ADDR x, Tiling tiling) {
  elementwise::Run<float>(Copy{}, z, {x}, tiling);
}

extern "C" __global__ AICORE void my_split_half(GM_ADDR z, GM_ADDR x, Tiling tiling) {
  elementwise::Run<half>(Copy{}, z, {x}, tiling);
}

extern "C" __global__ AICORE void my_split_bfloat16(GM_ADDR z, GM_ADDR x, Tiling tiling) {
  elementwise::Run<bfloat16_t>(Copy{}, z, {x}, tiling);
}

extern "C" __global__ AICORE void my_split_int32(GM_ADDR z, GM_ADDR x, Tiling tiling) {
  elementwise::Run<int32_t>(Copy{}, z, {x}, tiling);
}

/// Emulator only: no vector core moves float64.
extern "C" __global__ AICORE void my_split_double(GM_ADDR z, GM_ADDR x, Tiling tiling) {
  elementwise::Run<double>(Copy{}, z, {x}, tiling);
}
