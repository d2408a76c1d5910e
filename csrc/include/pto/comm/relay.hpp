// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pto/comm/comm_types.hpp"
#include "pto/instr/load.hpp"
#include "pto/instr/store.hpp"
#include "pto/sync.hpp"

/// Transfers from global memory to global memory by way of a tile, a tile at a time.
namespace pto::detail {

/// A tile that data passes through; its valid region is how much goes at a time. Where a dimension
/// of that is a constant, it has to divide what is moved.
struct Staging {
  TileFacts tile;
  bool rows_vary, cols_vary;
  uint64_t pad = 0;  // the bytes of PadVal

  template <class TileT>
  explicit Staging(const TileT& of)
      : tile(of), rows_vary(TileT::ValidRow == DYNAMIC), cols_vary(TileT::ValidCol == DYNAMIC) {
    using T = typename TileT::DType;
    const T element = PadElement<T>(TileT::PadVal);
    std::memcpy(&pad, &element, sizeof(T));
    if constexpr (kForHost) {
      // Programs for simulators leave it without an address: nothing passes through it there.
      static thread_local T memory[TileT::Numel];
      if (!npu::IsPlace(tile.data)) tile.data = reinterpret_cast<std::byte*>(memory);
    }
  }

  /// The same with a valid region of rows x cols.
  Staging Of(int rows, int cols) const {
    Staging part = *this;
    part.tile.valid_rows = rows;
    part.tile.valid_cols = cols;
    return part;
  }
};

/// A part of a global tensor, of rows x cols elements that start at `at`; or all of it.
struct Chunk {
  bool is_all;
  int64_t at[kGlobalDims];
  int rows, cols;

  GlobalFacts Of(const GlobalFacts& whole) const {
    GlobalFacts part = whole;
    if (is_all) return part;
    for (int d = 0; d < kGlobalDims; ++d) {
      part.data += at[d] * whole.stride[d] * static_cast<int64_t>(whole.element_bytes);
      part.shape[d] = 1;
    }
    part.shape[3] = rows;
    part.shape[4] = cols;
    return part;
  }
};

NPU_ONE_BODY(NPU_RAISES void RaiseDivision(const char* op, const char* what, int64_t length,
                                           int step)) {
  npu::RaiseFault(op,
                  npu::Text(what) + " of a multiple of the " + npu::TextOf(step) +
                      " of the staging tile, whose valid region is a constant",
                  npu::TextOf(length));
}

NPU_ONE_BODY(NPU_RAISES void RaiseNoRegion(const char* op, const TileFacts& tile)) {
  npu::RaiseFault(op, "a staging tile with a valid region of at least 1x1",
                  TileFacts::Extent(tile.valid_rows, tile.valid_cols));
}

/// Faults unless staging can take src a part at a time. True if it has to: src does not fit.
NPU_ONE_BODY(bool NeedsChunks(const char* op, const GlobalFacts& src, const Staging& staging)) {
  const int rows = staging.tile.valid_rows, cols = staging.tile.valid_cols;
  if (rows <= 0 || cols <= 0) RaiseNoRegion(op, staging.tile);
  const int64_t* shape = src.shape;
  if (shape[0] * shape[1] * shape[2] * shape[3] <= rows && shape[4] <= cols) return false;
  if (!npu::current_core->check_limits) return true;
  if (!staging.rows_vary && shape[3] % rows != 0) RaiseDivision(op, "shape[3]", shape[3], rows);
  if (!staging.cols_vary && shape[4] % cols != 0) RaiseDivision(op, "shape[4]", shape[4], cols);
  return true;
}

NPU_ONE_BODY(NPU_RAISES void RaiseSmall(const char* op, const char* operand, int dim,
                                        int64_t expected, int64_t got)) {
  npu::RaiseFault(op,
                  npu::Text(operand) + " with a shape[" + npu::TextOf(dim) + "] of at least " +
                      npu::TextOf(expected),
                  npu::TextOf(got));
}

/// Faults unless tensor, an operand, has room for what has the shape of moved, parts of it behind
/// each other along dimension 3.
NPU_ONE_BODY(void CheckHolds(const char* op, const char* operand, const GlobalFacts& tensor,
                             const GlobalFacts& moved, int parts)) {
  if (!npu::RunningCore(op).check_limits || moved.Empty()) return;
  for (int d = 0; d < kGlobalDims; ++d) {
    const int64_t expected = moved.shape[d] * (d == 3 ? parts : 1);
    if (tensor.shape[d] < expected) RaiseSmall(op, operand, d, expected, tensor.shape[d]);
  }
}

/// Calls visit(chunk) for the parts of src, in the order in which its elements are numbered: rows
/// of a tile, and within them columns.
template <class Visit>
inline void ForEachChunk(const char* op, const GlobalFacts& src, const Staging& staging,
                         const Visit& visit) {
  if (src.Empty()) return;
  Chunk chunk = {true, {}, staging.tile.valid_rows, staging.tile.valid_cols};
  if (!NeedsChunks(op, src, staging)) return visit(chunk);
  chunk.is_all = false;
  const int rows = chunk.rows, cols = chunk.cols;
  int64_t* const at = chunk.at;
  for (at[0] = 0; at[0] < src.shape[0]; ++at[0]) {
    for (at[1] = 0; at[1] < src.shape[1]; ++at[1]) {
      for (at[2] = 0; at[2] < src.shape[2]; ++at[2]) {
        for (at[3] = 0; at[3] < src.shape[3]; at[3] += rows) {
          chunk.rows = static_cast<int>(std::min<int64_t>(rows, src.shape[3] - at[3]));
          for (at[4] = 0; at[4] < src.shape[4]; at[4] += cols) {
            chunk.cols = static_cast<int>(std::min<int64_t>(cols, src.shape[4] - at[4]));
            visit(chunk);
          }
        }
      }
    }
  }
}

/// An instruction that relays, and where it was called.
struct RelayCall {
  const char* op;
  const void* call_site;
};

/// Flag id from pipe source to pipe destination, set and waited for.
inline void HandOn(pipe_t source, pipe_t destination, int id) {
  SetFlag(source, destination, id);
  WaitFlag(source, destination, id);
}

NPU_ONE_BODY(void LoadChunk(const RelayCall& call, const Staging& staging,
                            const GlobalFacts& src)) {
  LoadTile(call.op, call.call_site, staging.tile, AsRuns(src, TileType::Vec), &staging.pad);
}

NPU_ONE_BODY(void StoreChunk(const RelayCall& call, const GlobalFacts& dst, const Staging& staging,
                             const StoreMode& mode, int id)) {
  StoreTile(call.call_site, AsRuns(dst, TileType::Vec), staging.tile, mode);
  HandOn(PIPE_MTE3, PIPE_MTE2, id);
}

/// dst = src (or += by mode) over the shape of src, by way of staging[0] and staging[1] in turn.
NPU_ONE_BODY(void Relay(const RelayCall& call, const GlobalFacts& dst, const GlobalFacts& src,
                        const Staging* const (&staging)[2], const StoreMode& mode)) {
  npu::RunningCore(call.op);
  int turn = 0;
  ForEachChunk(call.op, src, *staging[0], [&](const Chunk& chunk) {
    const Staging part = staging[turn]->Of(chunk.rows, chunk.cols);
    LoadChunk(call, part, chunk.Of(src));
    HandOn(PIPE_MTE2, PIPE_MTE3, turn);
    StoreChunk(call, chunk.Of(dst), part, mode, turn);
    turn ^= 1;
  });
}

NPU_ONE_BODY(NPU_RAISES void RaiseNoSum(const char* op, const char* type)) {
  npu::RaiseFault(op, "elements of 8, 16 or 32 bits to add", type);
}

/// How StoreTile writes elements of T: as they are, or added to what is there.
template <class T>
inline StoreMode StoreModeOf(const char* op, AtomicType atomic) {
  StoreMode mode = {op, 0, kTypeName<T>, std::is_same_v<T, float>, nullptr, nullptr, nullptr};
  if (atomic != AtomicType::AtomicAdd) return mode;
  if constexpr (kPacked<T> == 1 && sizeof(T) <= 4) {
    mode.added_type = kTypeBit<T>;
    mode.put = AddElements<T>;
  } else {
    RaiseNoSum(op, kTypeName<T>);
  }
  return mode;
}

/// What the types of the operands have to be.
template <class Dst, class Src, class TileT>
constexpr void CheckRelayTypes() {
  using T = typename TileT::DType;
  static_assert(
      std::is_same_v<typename Dst::RawDType, T> && std::is_same_v<typename Src::RawDType, T>,
      "expected global tensors and staging tiles of one element type");
  static_assert(!std::is_const_v<typename Dst::DType>,
                "expected a destination of elements that may be written");
  static_assert(Dst::layout == Src::layout, "expected global tensors of one layout");
  static_assert(TileT::Loc == TileType::Vec || TileT::Loc == TileType::Mat,
                "expected staging tiles of kind Vec or Mat");
}

}  // namespace pto::detail
