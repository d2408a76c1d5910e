// SPDX-License-Identifier: Apache-2.0
// What the taps of a window see of images, laid out as matrices; also any copy of strided planes.
#include "unfold.hpp"

namespace {

using namespace unfold;

/// Where the elements that a tap sees lie, in one direction: count of them.
struct Seen {
  int64_t src, dst;  // the first
  int64_t src_step, dst_step;
  int64_t count;
};

AICORE int64_t CeilDivide(int64_t n, int64_t unit) {
  return n >= 0 ? (n + unit - 1) / unit : -(-n / unit);
}

/// Direction d, 0 vertical; the grid from first to last.
AICORE Seen Find(const UnfoldTiling& tiling, int d, int64_t tap, int64_t first, int64_t last) {
  const int64_t step = tiling.extra_step[d] + 1, shift = tap - tiling.padding[d];
  const int64_t extent = d == 0 ? tiling.height : tiling.width;
  const bool spreads = tiling.spreads != 0;
  const int64_t image_first = spreads ? first : 0, image_last = spreads ? last : extent;
  int64_t low = CeilDivide(image_first - shift, step), high = CeilDivide(image_last - shift, step);
  const int64_t least = spreads ? 0 : first, most = spreads ? extent : last;
  low = low < least ? least : low;
  high = high > most ? most : high;
  if (high <= low) return {0, 0, 1, 1, 0};
  const int64_t in_image = low * step + shift;
  if (spreads) return {low, in_image - first, 1, step, high - low};
  return {in_image, low - first, step, 1, high - low};
}

/// Grids of at most so many elements are filled in one piece instead of along their borders.
constexpr int64_t kSmallGrid = 256;

template <class T>
class Unfolder {
 public:
  AICORE Unfolder(__gm__ T* dst, __gm__ T* src, const UnfoldTiling& tiling)
      : dst_(dst), src_(src), tiling_(tiling), mover_(FillOf(tiling)) {}

  AICORE void Run() {
    const int64_t parts = tiling_.extra_parts + 1;
    const int64_t count = (tiling_.extra_taps[0] + 1) * (tiling_.extra_taps[1] + 1) * parts;
    for (int64_t at = count * get_block_idx() / get_block_num();
         at < count * (get_block_idx() + 1) / get_block_num(); ++at) {
      const int64_t part = at % parts;
      first_channel_ = tiling_.channels * part / parts;
      channels_ = tiling_.channels * (part + 1) / parts - first_channel_;
      See(at / parts);
    }
    mover_.Finish();
  }

 private:
  AICORE static T FillOf(const UnfoldTiling& tiling) {
    T fill;
    std::memcpy(&fill, &tiling.fill, sizeof(fill));
    return fill;
  }

  AICORE void See(int64_t tap) {
    const int64_t taps = tiling_.extra_taps[1] + 1;
    const Seen y =
        Find(tiling_, 0, tap / taps, tiling_.first_row, tiling_.first_row + tiling_.rows);
    const Seen x = Find(tiling_, 1, tap % taps, 0, tiling_.cols);
    grid_ = dst_ + first_channel_ * tiling_.dst_channel + tap * tiling_.dst_tap;
    const bool empty = y.count == 0 || x.count == 0;
    const bool spread = (y.dst_step > 1 && y.count > 1) || (x.dst_step > 1 && x.count > 1);
    const bool small = tiling_.rows * tiling_.cols <= kSmallGrid;
    if (empty || spread || (small && (y.count < tiling_.rows || x.count < tiling_.cols))) {
      Fill(0, tiling_.rows, 0, tiling_.cols);
      pipe_barrier(PIPE_MTE3);  // the elements are stored over it
    } else {
      const int64_t y_end = y.dst + y.count, x_end = x.dst + x.count;
      Fill(0, y.dst, 0, tiling_.cols);
      Fill(y_end, tiling_.rows, 0, tiling_.cols);
      Fill(y.dst, y_end, 0, x.dst);
      Fill(y.dst, y_end, x_end, tiling_.cols);
    }
    if (!empty) Copy(y, x);
  }

  AICORE void Fill(int64_t top, int64_t bottom, int64_t left, int64_t right) {
    if (top >= bottom || left >= right) return;
    mover_.Fill({grid_ + top * tiling_.dst_row + left,
                 {0, tiling_.dst_image, tiling_.dst_channel, tiling_.dst_row, 1}},
                {1, tiling_.images, channels_, bottom - top, right - left});
  }

  AICORE void Copy(const Seen& y, const Seen& x) {
    __gm__ T* src = src_ + first_channel_ * tiling_.src_channel + y.src * tiling_.src_row +
                    x.src * tiling_.src_col;
    __gm__ T* dst = grid_ + y.dst * tiling_.dst_row + x.dst;
    const int64_t src_row = y.src_step * tiling_.src_row, dst_row = y.dst_step * tiling_.dst_row;
    const int64_t src_col = x.src_step * tiling_.src_col;
    if (x.count == 1 || (src_col == 1 && x.dst_step == 1)) {
      mover_.Copy({dst, {0, tiling_.dst_image, tiling_.dst_channel, dst_row, 1}},
                  {src, {0, tiling_.src_image, tiling_.src_channel, src_row, 1}},
                  {1, tiling_.images, channels_, y.count, x.count});
    } else {  // columns that are apart: rows of one element
      mover_.Copy({dst, {tiling_.dst_image, tiling_.dst_channel, dst_row, x.dst_step, 1}},
                  {src, {tiling_.src_image, tiling_.src_channel, src_row, src_col, 1}},
                  {tiling_.images, channels_, y.count, x.count, 1});
    }
  }

  __gm__ T* dst_;
  __gm__ T* src_;
  const UnfoldTiling& tiling_;
  Mover<T> mover_;
  __gm__ T* grid_ = nullptr;  // of the tap and the first channel
  int64_t first_channel_ = 0, channels_ = 0;
};

}  // namespace

extern "C" __global__ AICORE void unfold_float(GM_ADDR dst, GM_ADDR src, UnfoldTiling tiling) {
  Unfolder<float>((__gm__ float*)dst, (__gm__ float*)src, tiling).Run();
}

/// Any elements of 16 bits.
extern "C" __global__ AICORE void unfold_half(GM_ADDR dst, GM_ADDR src, UnfoldTiling tiling) {
  Unfolder<half>((__gm__ half*)dst, (__gm__ half*)src, tiling).Run();
}

/// Emulator only: no vector core fills with float64.
extern "C" __global__ AICORE void unfold_double(GM_ADDR dst, GM_ADDR src, UnfoldTiling tiling) {
  Unfolder<double>((__gm__ double*)dst, (__gm__ double*)src, tiling).Run();
}
