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

[[noreturn, gnu::noinline, gnu::cold]] inline void RaiseGlobalShape(const char* op,
                                                                    int64_t valid_rows,
                                                                    int64_t valid_cols,
                                                                    int64_t rows, int64_t cols) {
  npu::RaiseFault(op,
                  "a global tensor of " + TileFacts::Extent(valid_rows, valid_cols) +
                      " elements (the valid region of the tile)",
                  TileFacts::Extent(rows, cols));
}

/// The transfer of a tile: lines of it, and the way through global memory in the same order.
///   ND into RowMajor: line = last dimension; DN into ColMajor: line = fourth dimension.
template <class TileT, class Global>
struct Transfer {
  using T = typename TileT::DType;
  static constexpr int kLineDim = TileT::isRowMajor ? 4 : 3;
  static constexpr int kOuterDims[4] = {0, 1, 2, TileT::isRowMajor ? 3 : 4};

  static_assert(sizeof(T) == sizeof(typename Global::DType),
                "expected tile and global tensor of one element size");
  static_assert(Global::layout == (TileT::isRowMajor ? Layout::ND : Layout::DN),
                "expected an ND global tensor with a RowMajor tile, or DN with ColMajor");

  /// Calls copy(tile line, global line, stride within the global line in elements) for each line.
  template <class Copy>
  static void ForEachLine(const Lines<T>& lines, const Global& global, const Copy& copy) {
    int64_t extent[4], stride[4], index[4] = {};
    for (int d = 0; d < 4; ++d) {
      extent[d] = global.GetShape(kOuterDims[d]);
      stride[d] = global.GetStride(kOuterDims[d]);
    }
    const int64_t inner_stride = global.GetStride(kLineDim);
    const auto* base = reinterpret_cast<const char*>(global.data());
    for (size_t line = 0; line < lines.count; ++line) {
      const int64_t offset =
          index[0] * stride[0] + index[1] * stride[1] + index[2] * stride[2] + index[3] * stride[3];
      copy(lines[line], reinterpret_cast<T*>(const_cast<char*>(base)) + offset, inner_stride);
      for (int d = 3; d >= 0 && ++index[d] == extent[d]; --d) index[d] = 0;
    }
  }

  /// Faults unless the shape of global is the valid region of tile.
  static void Check(const npu::Core& core, const char* op, const TileT& tile,
                    const Global& global) {
    CheckTile(core, op, "the tile", tile);
    if (!core.check_limits) return;
    int64_t lines = 1;
    for (const int d : kOuterDims) lines *= global.GetShape(d);
    const int64_t length = global.GetShape(kLineDim);
    const int64_t rows = TileT::isRowMajor ? lines : length;
    const int64_t cols = TileT::isRowMajor ? length : lines;
    if (rows == tile.GetValidRow() && cols == tile.GetValidCol()) return;
    RaiseGlobalShape(op, tile.GetValidRow(), tile.GetValidCol(), rows, cols);
  }

  static npu::Access GlobalAccess(const TileT& tile, const Global& global, bool is_write) {
    const auto lines = LinesOf(tile);
    const int inner = global.GetShape(3) > 1 || !TileT::isRowMajor ? kOuterDims[3] : kOuterDims[2];
    return {npu::Space::kGm,
            is_write,
            global.data(),
            lines.count,
            lines.length * sizeof(T),
            static_cast<size_t>(global.GetStride(inner)) * sizeof(T)};
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
inline void CopyLine(T* to, int64_t to_stride, const T* from, int64_t from_stride, size_t length) {
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
    // The chip moves whole blocks of 32 bytes: the rest of a line's last block takes the pad value.
    constexpr size_t kBlock = npu::kTileAlignment / sizeof(T);
    const size_t padded = (lines.length + kBlock - 1) / kBlock * kBlock;
    const T pad = PadElement<T>(TileT::PadVal);
    Move::ForEachLine(lines, global, [&](T* line, const T* from, int64_t stride) {
      CopyLine(line, 1, from, stride, lines.length);
      for (size_t i = lines.length; i < padded; ++i) line[i] = pad;
    });
  });
}

template <class Global, class TileT>
[[gnu::noinline]] void Store(Global& global, TileT& tile) {
  const void* call_site = __builtin_return_address(0);
  using T = typename TileT::DType;
  using Move = Transfer<TileT, Global>;
  const auto lines = LinesOf(tile);
  const auto operands = [&](auto report) {
    const uint64_t elements = lines.count * lines.length;
    report(npu::Work{elements, elements * sizeof(T), 0}, Move::GlobalAccess(tile, global, true),
           Reads(tile));
  };
  npu::Issue("TSTORE", npu::Pipe::kMte3, call_site, operands, [&] {
    Move::Check(*npu::current_core, "TSTORE", tile, global);
    Move::ForEachLine(lines, global, [&](const T* line, T* to, int64_t stride) {
      CopyLine(to, stride, line, 1, lines.length);
    });
  });
}

[[noreturn, gnu::noinline, gnu::cold]] inline void RaiseAssign(const npu::Core& core,
                                                               const TileFacts& tile,
                                                               uint64_t bytes, uint64_t address) {
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
