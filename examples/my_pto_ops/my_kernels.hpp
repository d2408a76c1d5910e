// SPDX-License-Identifier: Apache-2.0
// The tile kernels of my_ops.cpp. Each block takes its share of the elements, tile after tile; the
// last tile is shorter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <pto/pto-inst.hpp>

namespace my_pto_ops {

constexpr int kTile = 16 * 256;                     // elements of a tile
constexpr unsigned kBytes = kTile * sizeof(float);  // bytes of a tile

using TileT = pto::Tile<pto::TileType::Vec, float, 1, kTile, pto::BLayout::RowMajor, 1, -1>;
template <class T>
using RowOf =
    pto::GlobalTensor<T, pto::Shape<1, 1, 1, 1, pto::DYNAMIC>, pto::Stride<1, 1, 1, kTile, 1>>;
using Row = RowOf<float>;
using ConstRow = RowOf<const float>;

/// Calls body(first, count) for each tile of this block's share of length elements.
template <class Body>
AICORE inline void ForEachTile(uint32_t length, Body body) {
  const uint32_t blocks = static_cast<uint32_t>(get_block_num());
  const uint32_t share = (length + blocks - 1) / blocks;
  const uint32_t start = std::min(static_cast<uint32_t>(get_block_idx()) * share, length);
  const uint32_t end = std::min(start + share, length);
  for (uint32_t i = start; i < end; i += kTile) body(i, std::min<uint32_t>(end - i, kTile));
}

/// to[k] = compute(tile of a, tile of b)[k]. The tiles of one step are free for the next when its
/// result is stored.
template <class Compute>
AICORE inline void Binary(__gm__ float* to, __gm__ const float* a, __gm__ const float* b,
                          uint32_t length, Compute compute) {
  ForEachTile(length, [&](uint32_t i, uint32_t count) {
    TileT tile_a(count), tile_b(count), tile_to(count);
    TASSIGN(tile_a, 0 * kBytes);
    TASSIGN(tile_b, 1 * kBytes);
    TASSIGN(tile_to, 2 * kBytes);
    ConstRow row_a(a + i, {count}), row_b(b + i, {count});
    Row row_to(to + i, {count});
    TLOAD(tile_a, row_a);
    TLOAD(tile_b, row_b);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  // a and b are loaded
    compute(tile_to, tile_a, tile_b);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);  // the result is computed
    TSTORE(row_to, tile_to);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);  // the tiles are free
  });
}

/// The same with one operand; to may be from.
template <class Compute>
AICORE inline void Unary(__gm__ float* to, __gm__ const float* from, uint32_t length,
                         Compute compute) {
  ForEachTile(length, [&](uint32_t i, uint32_t count) {
    TileT tile(count);
    TASSIGN(tile, 0);
    ConstRow row(from + i, {count});
    Row row_to(to + i, {count});
    TLOAD(tile, row);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  // from is loaded
    compute(tile);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);  // the result is computed
    TSTORE(row_to, tile);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);  // the tile is free
  });
}

__global__ AICORE inline void MyAddKernel(__gm__ float* out, __gm__ const float* x,
                                          __gm__ const float* y, uint32_t length) {
  Binary(out, x, y, length, [](TileT& to, TileT& a, TileT& b) { TADD(to, a, b); });
}

__global__ AICORE inline void MyAddInplaceKernel(__gm__ float* x, __gm__ const float* y,
                                                 uint32_t length) {
  Binary(x, x, y, length, [](TileT& to, TileT& a, TileT& b) { TADD(to, a, b); });
}

__global__ AICORE inline void FusedAddReluKernel(__gm__ float* out, __gm__ const float* x,
                                                 __gm__ const float* y, uint32_t length) {
  Binary(out, x, y, length, [](TileT& to, TileT& a, TileT& b) {
    TADD(to, a, b);
    pipe_barrier(PIPE_V);
    TRELU(to, to);
  });
}

__global__ AICORE inline void MyMulKernel(__gm__ float* out, __gm__ const float* x, float alpha,
                                          uint32_t length) {
  Unary(out, x, length, [alpha](TileT& tile) { TMULS(tile, tile, alpha); });
}

__global__ AICORE inline void MyReluKernel(__gm__ float* x, uint32_t length) {
  Unary(x, x, length, [](TileT& tile) { TRELU(tile, tile); });
}

/// Rows of columns elements, which lie pitch elements apart in x, one behind the other in out.
__global__ AICORE inline void MySplitKernel(__gm__ float* out, __gm__ const float* x, uint32_t rows,
                                            uint32_t columns, uint32_t pitch) {
  for (uint32_t row = get_block_idx(); row < rows; row += get_block_num()) {
    for (uint32_t i = 0; i < columns; i += kTile) {
      const uint32_t count = std::min<uint32_t>(columns - i, kTile);
      TileT tile(count);
      TASSIGN(tile, 0);
      ConstRow from(x + uint64_t{row} * pitch + i, {count});
      Row to(out + uint64_t{row} * columns + i, {count});
      TLOAD(tile, from);
      set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
      wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);  // the part is loaded
      TSTORE(to, tile);
      set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
      wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);  // the tile is free
    }
  }
}

/// out[i, :] = bias[i] + the sum over d of a[i, d] * b[d, :], in the order of d. a: rows x depth,
/// b: depth x columns; without bias from 0. Vector cores multiply a row by a number each.
__global__ AICORE inline void MyProductKernel(__gm__ float* out, __gm__ const float* a,
                                              __gm__ const float* b, __gm__ const float* bias,
                                              uint32_t rows, uint32_t depth, uint32_t columns) {
  for (uint32_t i = get_block_idx(); i < rows; i += get_block_num()) {
    for (uint32_t j = 0; j < columns; j += kTile) {
      const uint32_t count = std::min<uint32_t>(columns - j, kTile);
      TileT sum(count), row(count);
      TASSIGN(sum, 0 * kBytes);
      TASSIGN(row, 1 * kBytes);
      TEXPANDS(sum, bias == nullptr ? 0.0f : bias[i]);
      for (uint32_t d = 0; d < depth; ++d) {
        ConstRow from(b + uint64_t{d} * columns + j, {count});
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);  // the row before is added
        TLOAD(row, from);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  // this one is loaded
        TAXPY(sum, row, a[uint64_t{i} * depth + d]);
      }
      Row to(out + uint64_t{i} * columns + j, {count});
      set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
      wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);  // the sum is complete
      TSTORE(to, sum);
      set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
      wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // the tile is free
    }
  }
}

}  // namespace my_pto_ops
