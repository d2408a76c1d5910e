// SPDX-License-Identifier: Apache-2.0
// Reducing dimensions of strided tensors to a value that all their elements are then computed with.
#pragma once

#include "row_buffers.hpp"
#include "row_tiling.h"
#include "strided.hpp"

namespace rows {

using namespace pto;

/// The shape of the dimensions that are kept, or of those that are reduced, with 1 for the others.
struct Part {
  int64_t shape[kMaxDims] = {};

  template <int kOperands>
  AICORE Part(const RowTiling<kOperands>& tiling, bool reduced) {
    for (int64_t d = 0; d < tiling.dims; ++d)
      shape[d] = (tiling.reduced[d] != 0) == reduced ? tiling.shape[d] : 1;
  }
};

/// The tiles of a tensor: for each tile of what is kept, the pieces of what is reduced.
class Walk {
 public:
  template <int kOperands>
  AICORE Walk(const RowTiling<kOperands>& tiling, int tile_rows, int tile_cols)
      : dims_(tiling.dims),
        kept_part_(tiling, false),
        reduced_part_(tiling, true),
        kept_(dims_, kept_part_.shape, tile_rows, tile_cols),
        reduced_(dims_, reduced_part_.shape, tile_rows, tile_cols) {}
  Walk(const Walk&) = delete;  // grids point to parts
  Walk& operator=(const Walk&) = delete;

  AICORE const strided::Grid& kept() const { return kept_; }
  /// Pieces of each tile of what is kept.
  AICORE int64_t pieces() const { return reduced_.count(); }

  /// Piece number piece of what belongs to kept.
  AICORE strided::Place At(const strided::Place& kept, int64_t piece) const {
    strided::Place place = reduced_.At(piece);
    for (int64_t d = 0; d < dims_; ++d) place.at[d] += kept.at[d];
    place.rows *= kept.rows;  // one of the two is 1
    place.cols *= kept.cols;
    return place;
  }

 private:
  int64_t dims_;
  Part kept_part_;
  Part reduced_part_;
  strided::Grid kept_;
  strided::Grid reduced_;
};

/// Reduces each row of a tile to one value, of which a Stat has a column.
template <class Acc, int kRows, int kCols>
struct AlongRows {
  using Full = Tile<TileType::Vec, Acc, kRows, kCols, BLayout::RowMajor, -1, -1>;
  static constexpr int kBlock = 32 / sizeof(Acc);
  static constexpr int kStats = kRows < kBlock ? kBlock : kRows;
  using Stat = Tile<TileType::Vec, Acc, kStats, 1, BLayout::ColMajor, -1, 1>;

  /// Values for kept, at address.
  AICORE static Stat Make(const strided::Place& kept, unsigned address) {
    Stat stat(kept.rows);
    TASSIGN(stat, address);
    return stat;
  }
  AICORE static void Max(Stat& stat, Full& x, Full& scratch) { TROWMAX(stat, x, scratch); }
  AICORE static void Sum(Stat& stat, Full& x, Full& scratch) { TROWSUM(stat, x, scratch); }
  AICORE static void Sub(Full& z, Full& x, Stat& stat) { TROWEXPANDSUB(z, x, stat); }
  AICORE static void Mul(Full& z, Full& x, Stat& stat) { TROWEXPANDMUL(z, x, stat); }
  AICORE static void ExpSub(Full& z, Full& x, Stat& stat) { TROWEXPANDEXPDIF(z, x, stat); }
};

/// Reduces each column of a tile to one value, of which a Stat has a row.
template <class Acc, int kRows, int kCols>
struct AlongColumns {
  using Full = Tile<TileType::Vec, Acc, kRows, kCols, BLayout::RowMajor, -1, -1>;
  using Stat = Tile<TileType::Vec, Acc, 1, kCols, BLayout::RowMajor, 1, -1>;

  AICORE static Stat Make(const strided::Place& kept, unsigned address) {
    Stat stat(kept.cols);
    TASSIGN(stat, address);
    return stat;
  }
  AICORE static void Max(Stat& stat, Full& x, Full&) { TCOLMAX(stat, x); }
  AICORE static void Sum(Stat& stat, Full& x, Full& scratch) { TCOLSUM(stat, x, scratch, true); }
  AICORE static void Sub(Full& z, Full& x, Stat& stat) { TCOLEXPANDSUB(z, x, stat); }
  AICORE static void Mul(Full& z, Full& x, Stat& stat) { TCOLEXPANDMUL(z, x, stat); }
  AICORE static void ExpSub(Full& z, Full& x, Stat& stat) { TCOLEXPANDEXPDIF(z, x, stat); }
};

/// The loops of a kernel that computes z from operands x of z's shape and vectors, which have one
/// element per element of a row. Those that are null are not there. UB holds operands, results, and
/// then slots for tiles and stats.
template <class T, int kBlocks, template <class, int, int> class AxisOf, int kOperands,
          int kVectors = 0>
class Rows {
 public:
  using Operands = Source<T, kBlocks, kOperands + kVectors>;
  using Full = typename Operands::Full;
  using Axis = AxisOf<Wide<T>, Operands::TileSet::kRows, Operands::TileSet::kCols>;
  using Stat = typename Axis::Stat;

  AICORE Rows(const RowTiling<kOperands + 1>& tiling, __gm__ T* z,
              __gm__ T* const (&x)[kOperands + kVectors])
      : tiling_(tiling),
        walk_(tiling, Operands::TileSet::kRows, Operands::TileSet::kCols),
        z_(z),
        source_(0),
        sink_(Operands::kBytes) {
    for (int k = 0; k < kOperands + kVectors; ++k) x_[k] = x[k];
  }

  /// body() for each tile of what is kept, of this block's share of them.
  template <class Body>
  AICORE void ForEachTile(const Body& body) {
    for (int64_t tile = walk_.kept().First(); tile < walk_.kept().Last(); ++tile) {
      kept_ = walk_.kept().At(tile);
      body();
      if (holds_whole_) Release();
      holds_whole_ = false;
    }
    source_.Finish();
    sink_.Finish();
  }

  /// body() for each piece of what is reduced to this tile; x(k) is operand or vector k there. What
  /// is one piece is loaded once for all loops over it.
  template <class Body>
  AICORE void ForEachPiece(const Body& body) {
    if (is_whole()) {
      if (!holds_whole_) Acquire(0);
      holds_whole_ = true;
      body();
      return;
    }
    for (int64_t piece = 0; piece < walk_.pieces(); ++piece) {
      Acquire(piece);
      body();
      Release();
    }
  }

  /// The same without x(k), for what is computed from tiles that are kept in slots.
  template <class Body>
  AICORE void ForEachPlace(const Body& body) {
    for (piece_ = 0; piece_ < walk_.pieces(); ++piece_) {
      place_ = walk_.At(kept_, piece_);
      body();
    }
  }

  /// stat = sum over the reduced dimensions of the tiles that term() gives for each piece.
  template <class Term>
  AICORE void Sum(Stat& stat, const Term& term) {
    ForEachPiece([&] {
      Full tile = term(), scratch = Work(0);
      if (piece_ == 0) {
        Axis::Sum(stat, tile, scratch);
      } else {
        Stat part = StatAt(1);
        Axis::Sum(part, tile, scratch);
        TADD(stat, stat, part);
      }
    });
  }

  /// stat = largest element of the tiles that term() gives for each piece.
  template <class Term>
  AICORE void Max(Stat& stat, const Term& term) {
    ForEachPiece([&] {
      Full tile = term(), scratch = Work(0);
      if (piece_ == 0) {
        Axis::Max(stat, tile, scratch);
      } else {
        Stat part = StatAt(1);
        Axis::Max(part, tile, scratch);
        TMAX(stat, stat, part);
      }
    });
  }
  /// The same of operand 0.
  AICORE void Max(Stat& stat) {
    Max(stat, [&] { return x(0); });
  }

  /// Stores what compute(tile) computes for this piece, with work to compute in.
  template <class Compute>
  AICORE void Store(Full& work, const Compute& compute) {
    sink_.Store(walk_.kept().PieceOf(z_, tiling_.stride[0], place_), work, compute);
  }
  /// The same for this tile of what is kept.
  template <class Compute>
  AICORE void StoreKept(Full& work, const Compute& compute) {
    sink_.Store(walk_.kept().PieceOf(z_, tiling_.stride[0], kept_), work, compute);
  }

  AICORE Full& x(int k) { return source_.tile(k); }
  /// Whether x(k) is a copy, which WidenInto puts somewhere else.
  static constexpr bool kWidens = Operands::kWidens;
  AICORE void WidenInto(int k, Full& wide) { source_.WidenInto(k, wide); }
  AICORE bool has(int k) const { return x_[k] != nullptr; }
  /// True if what is reduced is one piece: tiles computed from it last until the next one.
  AICORE bool is_whole() const { return walk_.pieces() == 1; }
  /// Elements of what is kept before this tile, where they lie as stride says.
  AICORE int64_t KeptOffset(const int64_t* stride) const {
    return walk_.kept().Offset(stride, kept_);
  }
  AICORE int64_t pieces() const { return walk_.pieces(); }
  /// True if the slots from slot on hold a tile for each piece of what is reduced.
  AICORE bool HasSlotForEachPiece(int slot) const {
    return pieces() <= static_cast<int64_t>((kUbBytes - Slot(slot)) / kWideBytes);
  }
  AICORE strided::Place PlaceOf(int64_t piece) const { return walk_.At(kept_, piece); }
  AICORE int64_t Offset(const int64_t* stride) const { return walk_.kept().Offset(stride, place_); }
  AICORE const strided::Place& kept() const { return kept_; }
  AICORE const strided::Place& place() const { return place_; }

  /// A tile for this piece in a slot. Slots 0 and 1 serve sums and maxima.
  AICORE Full Work(int slot) const { return TileAt(slot, place_); }
  /// The one for this piece among slots that hold a tile for each.
  AICORE Full WorkOfPiece(int slot) const { return Work(slot + static_cast<int>(piece_)); }
  AICORE Full TileAt(int slot, const strided::Place& place) const {
    Full tile(place.rows, place.cols);
    TASSIGN(tile, Slot(slot));
    return tile;
  }
  /// Values for this tile of what is kept, in a slot.
  AICORE Stat StatAt(int slot) const { return Axis::Make(kept_, Slot(slot)); }

  AICORE static constexpr unsigned Slot(int slot) {
    return Operands::kBytes + Sink<T, kBlocks>::kBytes + slot * kWideBytes;
  }

 private:
  AICORE void Acquire(int64_t piece) {
    piece_ = piece;
    place_ = walk_.At(kept_, piece);
    strided::Piece<T> pieces[kOperands + kVectors];
    for (int k = 0; k < kOperands; ++k) {
      pieces[k] = walk_.kept().PieceOf(x_[k], tiling_.stride[k + 1], place_);
      if (x_[k] == nullptr) pieces[k].data = nullptr;
    }
    for (int k = kOperands; k < kOperands + kVectors; ++k) {
      const int64_t at = place_.at[tiling_.dims - 1];
      pieces[k] = {x_[k] == nullptr ? nullptr : x_[k] + at, 1, place_.cols, 0, 1};
    }
    source_.Acquire(buffer_, pieces);
  }
  AICORE void Release() {
    source_.Release(buffer_);
    buffer_ ^= 1;
  }

  const RowTiling<kOperands + 1>& tiling_;
  const Walk walk_;
  __gm__ T* z_;
  __gm__ T* x_[kOperands + kVectors];
  Operands source_;
  Sink<T, kBlocks> sink_;
  int buffer_ = 0;
  int64_t piece_ = 0;
  bool holds_whole_ = false;
  strided::Place kept_;
  strided::Place place_;
};

/// Calls body with the least of 1, 8, 64, 128, ... blocks of 32 bytes per tile row that holds a row
/// of so many blocks, at most those of a tile, as a constant.
template <class T, int kBlocks = 1, class Body>
AICORE void WithLeastBlocks(int64_t blocks, const Body& body) {
  if constexpr (kBlocks == kBlocksOfTile<T>) {
    body(std::integral_constant<int, kBlocks>{});
  } else if (blocks <= kBlocks) {
    body(std::integral_constant<int, kBlocks>{});
  } else {
    WithLeastBlocks<T, kBlocks*(kBlocks < 64 ? 8 : 2)>(blocks, body);
  }
}

/// Calls body with the blocks per tile row that suit tiling, as a constant: where rows are reduced
/// the least that holds one, for columns tiles that are narrow enough to be tall.
template <class T, template <class, int, int> class AxisOf, int kOperands, class Body>
AICORE void WithBlocks(const RowTiling<kOperands>& tiling, const Body& body) {
  const int64_t bytes = tiling.shape[tiling.dims - 1] * static_cast<int64_t>(sizeof(T));
  if constexpr (std::is_same_v<AxisOf<float, 8, 8>, AlongRows<float, 8, 8>>) {
    WithLeastBlocks<T>((bytes + 31) / 32, body);
  } else if (bytes <= 32) {
    body(std::integral_constant<int, 1>{});
  } else {
    body(std::integral_constant<int, 8>{});
  }
}

}  // namespace rows
