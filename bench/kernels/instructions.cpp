// SPDX-License-Identifier: Apache-2.0
// Instructions over and over on tiles of 8 KiB that stay on the chip, and plain loops beside them.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr int kTileBytes = 8192;

template <class T>
using Row = Tile<TileType::Vec, T, 1, kTileBytes / sizeof(T)>;

template <class T>
struct Operands {
  Row<T> x, y, z;

  explicit Operands(float value) {
    TASSIGN(x, 0);
    TASSIGN(y, kTileBytes);
    TASSIGN(z, 2 * kTileBytes);
    TEXPANDS(x, static_cast<T>(value));
    TEXPANDS(y, static_cast<T>(value));
  }
};

/// The compiler must take it that somebody looked at memory.
void Touch() { asm volatile("" ::: "memory"); }

}  // namespace

template <class T>
AICORE void add_tiles(int64_t times) {
  Operands<T> tiles(1.0f);
  for (int64_t i = 0; i < times; ++i) TADD(tiles.z, tiles.x, tiles.y);
}

template <class T>
AICORE void exp_tiles(int64_t times) {
  Operands<T> tiles(0.5f);
  for (int64_t i = 0; i < times; ++i) TEXP(tiles.z, tiles.x);
}

/// Sums of 32 rows of 256 bytes.
template <class T>
AICORE void sum_rows(int64_t times) {
  constexpr int kRows = 32, kCols = kTileBytes / sizeof(T) / kRows;
  Tile<TileType::Vec, T, kRows, kCols> x, scratch;
  Tile<TileType::Vec, T, kRows, 1, BLayout::ColMajor> sums;
  TASSIGN(x, 0);
  TASSIGN(scratch, kTileBytes);
  TASSIGN(sums, 2 * kTileBytes);
  TEXPANDS(x, static_cast<T>(1.0f));
  for (int64_t i = 0; i < times; ++i) TROWSUM(sums, x, scratch);
}

/// What a loop without instructions takes for the same sums as add_tiles<float>.
AICORE void plain_add(int64_t times) {
  Operands<float> tiles(1.0f);
  const float *x = tiles.x.data(), *y = tiles.y.data();
  float* z = tiles.z.data();
  for (int64_t i = 0; i < times; ++i) {
    for (int at = 0; at < Row<float>::Cols; ++at) z[at] = x[at] + y[at];
    Touch();
  }
}
