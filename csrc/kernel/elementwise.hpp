// SPDX-License-Identifier: Apache-2.0
// z = f(x...), element by element, over strided operands of any shape.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "strided.hpp"

/// An operation is a type with
///   static constexpr bool kComputesHalf      half tiles come as they are, not as float
///   static constexpr bool kTakesScratch      it computes in more than z
///   operator()(scratch, z, x...) const       on tiles of one type and valid shape, of which it
///                                            writes z alone; z may be the first x
///   OfHalf(wide, x) const                    where it has a member kTakesHalf, too: on tiles x of
///                                            half, the result in wide[0] of tiles of float
/// bfloat16, and half unless kComputesHalf, are computed in float and rounded once.
namespace elementwise {

using namespace pto;

/// What an operation on elements of type T computes in.
template <class Operation, class T>
using Computed = std::conditional_t<std::is_same_v<T, bfloat16_t> ||
                                        (std::is_same_v<T, half> && !Operation::kComputesHalf),
                                    float, T>;

/// Whether Operation has OfHalf: a member kTakesHalf.
template <class Operation, class = void>
inline constexpr bool kTakesHalf = false;
template <class Operation>
inline constexpr bool kTakesHalf<Operation, std::void_t<decltype(Operation::kTakesHalf)>> = true;

/// Blocks of 32 bytes of tiles that hold one row, or a part of it: many where an operation goes
/// over its tiles but once or twice, so that what a tile costs beside its elements counts less, and
/// fewer where UB has no room for so many.
template <class Operation, class T, int kOperands>
constexpr int kLongBlocks = kTileBlocks * (!std::is_same_v<Computed<Operation, T>, T> ? 1
                                           : Operation::kTakesScratch                 ? 2
                                           : kOperands == 3 ? kLongestTile / 2
                                                            : kLongestTile);

/// A wide tile is a tile of 16-bit elements in float.
constexpr unsigned kWideBytes = 2 * kTileBytes;

/// Tiles that belong to PIPE_V alone, for what an operation computes on the way.
class Scratch {
 public:
  explicit AICORE Scratch(unsigned address) : address_(address) {}

  /// Scratch tile number index, of the type and valid shape of like.
  template <class TileT>
  AICORE TileT Tile(int index, TileT& like) const {
    TileT tile(like.GetValidRow(), like.GetValidCol());
    TASSIGN(tile, address_ + index * kWideBytes);
    return tile;
  }

  /// Scratch tile number index as a mask for tiles like that one.
  template <class TileT>
  AICORE auto Mask(int index, TileT& like) const {
    constexpr int kBytes = TileT::Cols / 8 < 32 ? 32 : (TileT::Cols / 8 + 31) / 32 * 32;
    pto::Tile<TileType::Vec, uint8_t, TileT::Rows, kBytes, BLayout::RowMajor, -1, -1> mask(
        like.GetValidRow(), (like.GetValidCol() + 7) / 8);
    TASSIGN(mask, address_ + index * kWideBytes);
    return mask;
  }

 private:
  unsigned address_;
};

/// The buffers of an operation in UB: operands and result twice, of kBytes each, then wide
/// operands, then scratch.
template <int kOperands, unsigned kBytes>
struct Buffers {
  static constexpr unsigned Operand(int copy, int index) {
    return (copy * kOperands + index) * kBytes;
  }
  static constexpr unsigned Result(int copy) { return (2 * kOperands + copy) * kBytes; }
  static constexpr unsigned Wide(int index) {
    return 2 * (kOperands + 1) * kBytes + index * kWideBytes;
  }
  static constexpr unsigned kScratch = Wide(kOperands);
};

/// z = operation(x...) on loaded tiles.
template <class T, class Operation, class TileT, size_t... kIndex>
AICORE void Compute(const Operation& operation, std::index_sequence<kIndex...>, TileT& z,
                    TileT (&x)[sizeof...(kIndex)]) {
  using Places = Buffers<sizeof...(kIndex), TileT::Numel * sizeof(T)>;
  const Scratch scratch(Places::kScratch);
  if constexpr (std::is_same_v<Computed<Operation, T>, T>) {
    operation(scratch, z, x[kIndex]...);
  } else {
    using Wide = Tile<TileType::Vec, float, TileT::Rows, TileT::Cols, BLayout::RowMajor, -1, -1>;
    Wide wide[] = {((void)kIndex, Wide(z.GetValidRow(), z.GetValidCol()))...};
    (TASSIGN(wide[kIndex], Places::Wide(kIndex)), ...);
    if constexpr (kTakesHalf<Operation> && std::is_same_v<T, half>) {
      operation.OfHalf(wide, x);
    } else {
      (TCVT(wide[kIndex], x[kIndex], RoundMode::CAST_NONE), ...);
      operation(scratch, wide[0], wide[kIndex]...);
    }
    TCVT(z, wide[0], RoundMode::CAST_RINT, SaturationMode::OFF);
  }
}

/// Waits until all buffers are free, so that no flag is left set.
inline AICORE void AwaitBuffers() {
  for (int b = 0; b < 2; ++b) {
    wait_flag(PIPE_V, PIPE_MTE2, event_t(b));
    wait_flag(PIPE_MTE3, PIPE_V, event_t(b));
  }
}

/// This block's share of the tiles, with rows of at most kBlocks blocks.
template <class T, int kBlocks, class Operation, int kOperands>
AICORE void RunTiles(const Operation& operation, __gm__ T* z, __gm__ T* const (&x)[kOperands],
                     const ElementwiseTiling<kOperands>& tiling) {
  using TileSet = strided::Tiles<T, kBlocks>;
  using Places = Buffers<kOperands, TileSet::kRows * kBlocks * 32>;
  constexpr bool kWidens = !std::is_same_v<Computed<Operation, T>, T>;
  static_assert((kWidens ? Places::kScratch : Places::Result(2)) <= kUbBytes);
  const strided::Grid grid(tiling.dims, tiling.shape, TileSet::kRows, TileSet::kCols);
  strided::Operand<T, kBlocks> operand[2][kOperands];
  for (int b = 0; b < 2; ++b) {
    for (int k = 0; k < kOperands; ++k) operand[b][k].SetAddress(Places::Operand(b, k));
    set_flag(PIPE_V, PIPE_MTE2, event_t(b));  // operand buffers start free
    set_flag(PIPE_MTE3, PIPE_V, event_t(b));  // so do result buffers
  }
  bool lies_apart = true;  // z from all but the first x, in whose place it may be computed
  for (int k = 1; k < kOperands; ++k) lies_apart = lies_apart && x[k] != z;
  int b = 0;
  for (int64_t tile = grid.First(); tile < grid.Last(); ++tile, b ^= 1) {
    const strided::Place place = grid.At(tile);
    wait_flag(PIPE_V, PIPE_MTE2, event_t(b));  // operand buffers b were read
    typename TileSet::Full x_tile[kOperands];
    for (int k = 0; k < kOperands; ++k) {
      operand[b][k].Load(grid.PieceOf(x[k], tiling.stride[k + 1], place));
      x_tile[k] = operand[b][k].tile();
    }
    set_flag(PIPE_MTE2, PIPE_V, event_t(b));
    wait_flag(PIPE_MTE2, PIPE_V, event_t(b));  // operands are loaded
    wait_flag(PIPE_MTE3, PIPE_V, event_t(b));  // result buffer b was stored
    typename TileSet::Full z_tile(place.rows, place.cols);
    TASSIGN(z_tile, Places::Result(b));
    strided::Global<T> z_global(z + grid.Offset(tiling.stride[0], place), {place.rows, place.cols},
                                {tiling.stride[0][tiling.dims - 2], 1});
    if (lies_apart) AssignToResult(z_tile, z_global);
    Compute<T>(operation, std::make_index_sequence<kOperands>{}, z_tile, x_tile);
    set_flag(PIPE_V, PIPE_MTE2, event_t(b));
    set_flag(PIPE_V, PIPE_MTE3, event_t(b));
    wait_flag(PIPE_V, PIPE_MTE3, event_t(b));  // result is computed
    TSTORE(z_global, z_tile);
    set_flag(PIPE_MTE3, PIPE_V, event_t(b));
  }
  AwaitBuffers();
}

/// z = operation(x...) on elements of type T; addresses are those of elements of it.
template <class T, class Operation, int kOperands>
AICORE void Run(const Operation& operation, GM_ADDR z, __gm__ uint8_t* const (&x)[kOperands],
                const ElementwiseTiling<kOperands>& tiling) {
  __gm__ T* operands[kOperands];
  for (int k = 0; k < kOperands; ++k) operands[k] = (__gm__ T*)x[k];
  strided::WithRowBlocks<T>(tiling.shape[tiling.dims - 1], [&](auto blocks) {
    constexpr int kBlocks = blocks.value;
    RunTiles<T, kBlocks == kTileBlocks ? kLongBlocks<Operation, T, kOperands> : kBlocks>(
        operation, (__gm__ T*)z, operands, tiling);
  });
}

}  // namespace elementwise

/// The kernel called name: Operation on 1 to 3 operands of elements of type T. float64 is an
/// extension of the emulator, no vector core computes in it. The build reads names of kernels from
/// lines that start with ..._KERNEL(name, too.
#define ELEMENTWISE_KERNEL(name, T, Operation, count)                             \
  extern "C" __global__ AICORE void name(GM_ADDR z, ELEMENTWISE_OPERANDS_##count, \
                                         ElementwiseTiling<count> tiling) {       \
    elementwise::Run<T>(Operation{}, z, {ELEMENTWISE_ADDRESSES_##count}, tiling); \
  }
#define ELEMENTWISE_OPERANDS_1 GM_ADDR a
#define ELEMENTWISE_OPERANDS_2 GM_ADDR a, GM_ADDR b
#define ELEMENTWISE_OPERANDS_3 GM_ADDR a, GM_ADDR b, GM_ADDR c
#define ELEMENTWISE_ADDRESSES_1 a
#define ELEMENTWISE_ADDRESSES_2 a, b
#define ELEMENTWISE_ADDRESSES_3 a, b, c
