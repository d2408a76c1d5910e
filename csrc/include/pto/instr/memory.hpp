// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/global_tensor.hpp"
#include "pto/layout.hpp"

namespace pto {

namespace detail {

NPU_ONE_BODY(NPU_RAISES void RaiseGlobalShape(const char* op, int64_t valid_rows,
                                              int64_t valid_cols, int64_t rows, int64_t cols)) {
  npu::RaiseFault(op,
                  "a global tensor of " + TileFacts::Extent(valid_rows, valid_cols) +
                      " elements (the valid region of the tile)",
                  TileFacts::Extent(rows, cols));
}

/// Order of a global tensor as lines along its contiguous dimension: rows of ND, columns of DN,
/// rows of NZ, which come in runs of the last dimension. Row and column of an element:
///   ND  row over dimensions 0 to 3, column in 4;  DN  row in 3, column over 0, 1, 2, 4;
///   NZ  row over 2, 3 (16 to a box), column over 0, 1, 4 (32 bytes to a box)
template <class Global>
struct GlobalOrder {
  static constexpr bool kLinesAreRows = Global::layout != Layout::DN;
  static constexpr bool kBoxed = Global::layout == Layout::NZ;

  int64_t shape[kGlobalDims], stride[kGlobalDims];

  explicit GlobalOrder(const Global& global) {
    for (int d = 0; d < kGlobalDims; ++d) {
      shape[d] = global.GetShape(d);
      stride[d] = global.GetStride(d);
    }
  }

  int64_t Rows() const {
    if (Global::layout == Layout::ND) return shape[0] * shape[1] * shape[2] * shape[3];
    return kBoxed ? shape[2] * shape[3] : shape[3];
  }
  int64_t Cols() const {
    if (Global::layout == Layout::ND) return shape[4];
    return shape[0] * shape[1] * (kBoxed ? 1 : shape[2]) * shape[4];
  }

  /// Elements of a line up to the next gap.
  size_t Run() const { return kBoxed ? static_cast<size_t>(shape[4]) : SIZE_MAX; }
  /// Distance of neighbours within a run.
  int64_t Step() const { return stride[kLinesAreRows ? 4 : 3]; }

  /// Distance of element at of line from the start.
  int64_t Offset(int64_t line, int64_t at) const {
    if constexpr (kBoxed) {
      const int64_t box = at / shape[4];
      return box / shape[1] * stride[0] + box % shape[1] * stride[1] + line / shape[3] * stride[2] +
             line % shape[3] * stride[3] + at % shape[4] * stride[4];
    } else {
      constexpr int kLast = kLinesAreRows ? 3 : 4;
      int64_t offset = at * Step();
      offset += line % shape[kLast] * stride[kLast];
      line /= shape[kLast];
      for (int d = 2; d >= 0 && line != 0; --d) {
        offset += line % shape[d] * stride[d];
        line /= shape[d];
      }
      return offset;
    }
  }
};

/// The transfer of a tile: pieces that are contiguous in the tile and evenly spaced in global
/// memory.
template <class TileT, class Global>
struct Transfer {
  using T = typename TileT::DType;
  using G = GlobalOrder<Global>;
  // Where tile and global memory run in different directions, one of the two has a single line.
  static constexpr bool kSameDirection = Order<TileT>::kLinesAreRows == G::kLinesAreRows;

  static_assert(sizeof(T) == sizeof(typename Global::DType),
                "expected tile and global tensor of one element size");
  static_assert(Global::layout == Layout::ND || Global::layout == Layout::DN ||
                    Global::layout == Layout::NZ,
                "expected a global tensor of layout ND, DN or NZ");
  static_assert(kSameDirection || TileT::Rows == 1 || TileT::Cols == 1,
                "expected an ND or NZ global tensor with a RowMajor tile, or DN with ColMajor");

  /// Calls copy(tile run, global run, distance of neighbours in the global run, elements) for each
  /// piece.
  template <class Copy>
  static void ForEachPiece(const TileT& tile, const Global& global, const Copy& copy) {
    const auto lines = LinesOf(tile);
    const G order(global);
    auto* base = reinterpret_cast<T*>(
        const_cast<std::remove_const_t<typename Global::DType>*>(global.data()));
    for (size_t line = 0; line < lines.count; ++line) {
      for (size_t at = 0; at < lines.length;) {
        if constexpr (!kSameDirection) {
          copy(lines(line, at), base + order.Offset(at, line), 1, 1);
          ++at;
        } else {
          const size_t tile_run = Order<TileT>::kRun - at % Order<TileT>::kRun;
          const size_t global_run = G::kBoxed ? order.Run() - at % order.Run() : SIZE_MAX;
          const size_t count = std::min({lines.length - at, tile_run, global_run});
          copy(lines(line, at), base + order.Offset(line, at), order.Step(), count);
          at += count;
        }
      }
    }
  }

  /// Faults unless the shape of global is the valid region of tile.
  static void Check(const npu::Core& core, const char* op, const TileT& tile,
                    const Global& global) {
    CheckTile(core, op, "the tile", tile);
    if (!core.check_limits) return;
    const G order(global);
    if (order.Rows() == tile.GetValidRow() && order.Cols() == tile.GetValidCol()) return;
    RaiseGlobalShape(op, tile.GetValidRow(), tile.GetValidCol(), order.Rows(), order.Cols());
  }

  static npu::Access GlobalAccess(const TileT& tile, const Global& global, bool is_write) {
    const auto lines = LinesOf(tile);
    const G order(global);
    const auto pitch = static_cast<size_t>(order.Offset(lines.count > 1, 0));
    return {npu::Space::kGm,          is_write,         global.data(), lines.count,
            lines.length * sizeof(T), pitch * sizeof(T)};
  }
};

/// Bits that a transfer writes behind the last element of a line, for the tile's PadVal.
template <class T>
T PadElement(PadValue pad) {
  if (pad != PadValue::Max && pad != PadValue::Min) return T{};
  const bool is_max = pad == PadValue::Max;
  if constexpr (std::is_integral_v<T>) {
    return is_max ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  } else {
    const float infinity = std::numeric_limits<float>::infinity();
    return static_cast<T>(is_max ? infinity : -infinity);
  }
}

template <class T>
inline void CopyRun(T* to, int64_t to_stride, const T* from, int64_t from_stride, size_t length) {
  if (to_stride == 1 && from_stride == 1) {
    std::memcpy(static_cast<void*>(to), from, length * sizeof(T));
  } else {
    for (size_t i = 0; i < length; ++i)
      to[static_cast<int64_t>(i) * to_stride] = from[static_cast<int64_t>(i) * from_stride];
  }
}

template <class TileT, class Global>
[[gnu::noinline]] void Load(TileT& tile, Global& global) {
  const void* call_site = __builtin_return_address(0);
  using T = typename TileT::DType;
  using Move = Transfer<TileT, Global>;
  const auto lines = LinesOf(tile);
  const auto operands = [&](auto report) {
    const uint64_t elements = lines.count * lines.length;
    report(npu::Work{elements, elements * sizeof(T), 0}, Writes(tile),
           Move::GlobalAccess(tile, global, false));
  };
  npu::Issue("TLOAD", npu::Pipe::kMte2, call_site, operands, [&] {
    Move::Check(*npu::current_core, "TLOAD", tile, global);
    Move::ForEachPiece(tile, global, [](T* to, const T* from, int64_t step, size_t count) {
      CopyRun(to, 1, from, step, count);
    });
    // The chip moves whole blocks of 32 bytes: the rest of a line's last block takes the pad value.
    constexpr size_t kBlock = npu::kTileAlignment / sizeof(T);
    const size_t rest = (kBlock - lines.length % kBlock) % kBlock;
    if (rest == 0 || lines.length == Order<TileT>::kLength) return;
    const T pad = PadElement<T>(TileT::PadVal);
    for (size_t line = 0; line < lines.count; ++line)
      std::fill_n(lines(line, lines.length), rest, pad);
  });
}

template <class Global, class TileT>
[[gnu::noinline]] void Store(Global& global, TileT& tile) {
  const void* call_site = __builtin_return_address(0);
  using T = typename TileT::DType;
  using Move = Transfer<TileT, Global>;
  const auto operands = [&](auto report) {
    const auto lines = LinesOf(tile);
    const uint64_t elements = lines.count * lines.length;
    report(npu::Work{elements, elements * sizeof(T), 0}, Move::GlobalAccess(tile, global, true),
           Reads(tile));
  };
  npu::Issue("TSTORE", npu::Pipe::kMte3, call_site, operands, [&] {
    Move::Check(*npu::current_core, "TSTORE", tile, global);
    Move::ForEachPiece(tile, global, [](const T* from, T* to, int64_t step, size_t count) {
      CopyRun(to, step, from, 1, count);
    });
  });
}

NPU_ONE_BODY(NPU_RAISES void RaiseAssign(const npu::Core& core, const TileFacts& tile,
                                         uint64_t bytes, uint64_t address)) {
  const auto space = static_cast<int>(SpaceOf(tile.loc));
  const std::string space_name = npu::SpaceName(SpaceOf(tile.loc));
  if (core.scratchpad[space] == nullptr) {
    npu::RaiseFault("TASSIGN", "a core with " + space_name + " for the " + tile.Describe(),
                    core.type == npu::CoreType::kCube ? "a cube core" : "a vector core");
  }
  if (address % npu::kTileAlignment != 0) {
    npu::RaiseFault("TASSIGN", "a multiple of 32 bytes as address of the " + tile.Describe(),
                    std::to_string(address));
  }
  npu::RaiseFault(
      "TASSIGN",
      "the " + tile.Describe() + " (" + std::to_string(bytes) + " bytes) to end within the " +
          std::to_string(core.arch->capacity[space]) + " bytes of " + space_name + " on " +
          core.arch->soc,
      "address " + std::to_string(address) + ", end " + std::to_string(address + bytes));
}

template <class TileT>
inline void Assign(TileT& tile, uint64_t address) {
  using T = typename TileT::DType;
  npu::Core& core = npu::RunningCore("TASSIGN");
  constexpr auto kSpace = static_cast<int>(SpaceOf(TileT::Loc));
  constexpr uint64_t kBytes = static_cast<uint64_t>(TileT::Rows) * TileT::Cols * sizeof(T);
  const uint64_t capacity = core.arch->capacity[kSpace];
  std::byte* base = core.scratchpad[kSpace];
  const bool fits =
      kBytes <= capacity && address <= capacity - kBytes && address % npu::kTileAlignment == 0;
  if (__builtin_expect(base == nullptr || kBytes > capacity || (!fits && core.check_limits), 0)) {
    RaiseAssign(core, TileFacts(tile), kBytes, address);
  }
  // With checks off an address wraps, as the chip's address bits do, but the tile stays within the
  // space.
  tile.data() = reinterpret_cast<T*>(
      base + (fits ? address : std::min(address % capacity, capacity - kBytes)));
}

}  // namespace detail

/// Gives tile the address, in bytes from the start of its on-chip space: a multiple of 32, the
/// tile's end within the space. Source: PTO ISA, TASSIGN.
template <TileType kLoc, class T, int kRows, int kCols, BLayout kB, int kVr, int kVc, SLayout kS,
          int kFractal, PadValue kPad, CompactMode kCompact, class Address>
inline void TASSIGN(Tile<kLoc, T, kRows, kCols, kB, kVr, kVc, kS, kFractal, kPad, kCompact>& tile,
                    Address address) {
  static_assert(std::is_integral_v<Address> || std::is_enum_v<Address>,
                "TASSIGN: expected an integer as address of a tile");
  detail::Assign(tile, static_cast<uint64_t>(address));
}

/// Makes global start at address.
template <class T, class ShapeT, class StrideT, Layout kLayout, class Pointer>
inline void TASSIGN(GlobalTensor<T, ShapeT, StrideT, kLayout>& global, Pointer address) {
  static_assert(std::is_convertible_v<Pointer, T*>,
                "TASSIGN: expected a pointer to elements of the global tensor");
  global.data() = address;
}

/// tile = global over the valid region of tile; behind it only the rest of a line's last 32 bytes
/// is set, to PadVal.
///   tile    Vec tile; its valid region has the shape of global
///   global  ND with a RowMajor tile, DN with a ColMajor tile, elements of the same size
/// Pipe MTE2. Source: PTO ISA, TLOAD.
template <class TileT, class Global, class... Events>
[[gnu::always_inline]] inline RecordEvent TLOAD(TileT& tile, Global& global, Events&... events) {
  (events.Wait(), ...);
  detail::Load(tile, global);
  npu::KeepCallSite();
  return {};
}

/// global = tile over the valid region of tile.
///   global  ND with a RowMajor tile, DN with a ColMajor tile, elements of the same size
///   tile    Vec tile; its valid region has the shape of global
/// Pipe MTE3. Source: PTO ISA, TSTORE.
template <class Global, class TileT, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  (events.Wait(), ...);
  detail::Store(global, tile);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
