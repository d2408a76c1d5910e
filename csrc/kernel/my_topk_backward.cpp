// SPDX-License-Identifier: Apache-2.0
// The way back from the k best of rows: zeros, and at their places the gradients of values; and on
// from there, the elements at these places.
#include "pto/pto-inst.hpp"
#include "tiling/topk.h"

namespace {

using namespace pto;

constexpr int kLength = 2048;  // elements that are moved at once
constexpr unsigned kZeros = 0, kElements = 16 * 1024, kPlaces = 32 * 1024, kNumbers = 64 * 1024;

template <class T>
using Line = Tile<TileType::Vec, T, 1, kLength, BLayout::RowMajor, 1, -1>;
template <class T>
using Global = GlobalTensor<T, Shape<1, 1, 1, 1, -1>, Stride<1, 1, 1, -1, 1>>;

template <class TileT>
AICORE TileT At(unsigned address, int64_t left) {
  TileT tile(static_cast<int>(left < kLength ? left : kLength));
  TASSIGN(tile, address);
  return tile;
}

template <class T>
AICORE Global<T> GlobalAt(__gm__ T* data, int64_t count) {
  return Global<T>(data, {static_cast<int>(count)}, {static_cast<int>(count)});
}

/// Calls move(elements, places, number of the first) for the elements of row r of k, their places
/// in uint32, loaded on PIPE_MTE2 and ready for PIPE_S, which move uses. load: elements as well.
template <class T, class Move>
AICORE void ForEachPiece(__gm__ T* elements, __gm__ int64_t* places, int64_t k, bool load,
                         const Move& move) {
  for (int64_t at = 0; at < k; at += kLength) {
    auto tile = At<Line<T>>(kElements, k - at);
    auto wide = At<Line<int64_t>>(kPlaces, k - at);
    auto numbers = At<Line<int32_t>>(kNumbers, k - at);
    const int64_t count = tile.GetValidCol();
    auto global_places = GlobalAt(places + at, count);
    wait_flag(PIPE_S, PIPE_MTE2, EVENT_ID0);  // the last elements were moved
    TLOAD(wide, global_places);
    if (load) {
      auto global = GlobalAt(elements + at, count);
      TLOAD(tile, global);
    }
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  // places are loaded
    TCVT(numbers, wide, RoundMode::CAST_NONE);
    set_flag(PIPE_V, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID0);  // places are there
    move(tile, numbers, at);
    set_flag(PIPE_S, PIPE_MTE2, EVENT_ID0);
  }
}

/// body(row) for this block's share of rows.
template <class Body>
AICORE void ForEachRow(const PlacesTiling& tiling, const Body& body) {
  set_flag(PIPE_S, PIPE_MTE2, EVENT_ID0);  // buffers start free
  const int64_t end = tiling.rows * (get_block_idx() + 1) / get_block_num();
  for (int64_t row = tiling.rows * get_block_idx() / get_block_num(); row < end; ++row) body(row);
  wait_flag(PIPE_S, PIPE_MTE2, EVENT_ID0);  // leave no flag set
}

template <class T>
AICORE void Scatter(GM_ADDR z, GM_ADDR gradient, GM_ADDR places, const PlacesTiling& tiling) {
  auto zeros = At<Line<T>>(kZeros, kLength);
  TEXPANDS(zeros, static_cast<T>(0));
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);  // zeros are there
  ForEachRow(tiling, [&](int64_t row) {
    __gm__ T* to = (__gm__ T*)z + row * tiling.length;
    for (int64_t at = 0; at < tiling.length; at += kLength) {
      auto part = At<Line<T>>(kZeros, tiling.length - at);
      auto global = GlobalAt(to + at, part.GetValidCol());
      TSTORE(global, part);
    }
    set_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);  // the row is zero
    ForEachPiece((__gm__ T*)gradient + row * tiling.k, (__gm__ int64_t*)places + row * tiling.k,
                 tiling.k, true, [&](auto& elements, auto& numbers, int64_t) {
                   auto global = GlobalAt(to, tiling.length);
                   MSCATTER<Coalesce::Elem>(global, elements, numbers);
                 });
  });
}

template <class T>
AICORE void Gather(GM_ADDR z, GM_ADDR x, GM_ADDR places, const PlacesTiling& tiling) {
  set_flag(PIPE_MTE3, PIPE_S, EVENT_ID1);  // the place of results starts free
  ForEachRow(tiling, [&](int64_t row) {
    __gm__ T* to = (__gm__ T*)z + row * tiling.k;
    ForEachPiece((__gm__ T*)nullptr, (__gm__ int64_t*)places + row * tiling.k, tiling.k, false,
                 [&](auto& elements, auto& numbers, int64_t at) {
                   auto from = GlobalAt((__gm__ T*)x + row * tiling.length, tiling.length);
                   auto global = GlobalAt(to + at, elements.GetValidCol());
                   wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID1);  // the last results were stored
                   MGATHER<Coalesce::Elem>(elements, from, numbers);
                   set_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
                   wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);  // elements are there
                   TSTORE(global, elements);
                   set_flag(PIPE_MTE3, PIPE_S, EVENT_ID1);
                 });
  });
  wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID1);  // leave no flag set
}

}  // namespace

extern "C" __global__ AICORE void my_topk_backward_float(GM_ADDR z, GM_ADDR gradient,
                                                         GM_ADDR places, PlacesTiling tiling) {
  Scatter<float>(z, gradient, places, tiling);
}

extern "C" __global__ AICORE void my_topk_backward_half(GM_ADDR z, GM_ADDR gradient, GM_ADDR places,
                                                        PlacesTiling tiling) {
  Scatter<half>(z, gradient, places, tiling);
}

extern "C" __global__ AICORE void my_topk_backward_bfloat16(GM_ADDR z, GM_ADDR gradient,
                                                            GM_ADDR places, PlacesTiling tiling) {
  Scatter<bfloat16_t>(z, gradient, places, tiling);
}

extern "C" __global__ AICORE void my_topk_backward_gather_float(GM_ADDR z, GM_ADDR x,
                                                                GM_ADDR places,
                                                                PlacesTiling tiling) {
  Gather<float>(z, x, places, tiling);
}

extern "C" __global__ AICORE void my_topk_backward_gather_half(GM_ADDR z, GM_ADDR x, GM_ADDR places,
                                                               PlacesTiling tiling) {
  Gather<half>(z, x, places, tiling);
}

extern "C" __global__ AICORE void my_topk_backward_gather_bfloat16(GM_ADDR z, GM_ADDR x,
                                                                   GM_ADDR places,
                                                                   PlacesTiling tiling) {
  Gather<bfloat16_t>(z, x, places, tiling);
}
