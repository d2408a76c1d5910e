// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/layout.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

NPU_ONE_BODY(NPU_RAISES void RaiseAssign(const npu::Core& core, const char* op,
                                         const TileFacts& tile, uint64_t bytes, uint64_t address)) {
  const auto space = static_cast<int>(SpaceOf(tile.kind->loc));
  const npu::Text space_name = npu::SpaceName(SpaceOf(tile.kind->loc));
  if (core.scratchpad[space] == nullptr && core.sub_block_num == 1) {
    npu::RaiseFault(op, "a core with " + space_name + " for the " + tile.Describe(),
                    core.type == npu::CoreType::kCube ? "a cube core" : "a vector core");
  }
  if (address % npu::kTileAlignment != 0) {
    npu::RaiseFault(op, "a multiple of 32 bytes as address of the " + tile.Describe(),
                    npu::TextOf(address));
  }
  npu::RaiseFault(op,
                  "the " + tile.Describe() + " (" + npu::TextOf(bytes) +
                      " bytes) to end within the " + npu::TextOf(core.arch->capacity[space]) +
                      " bytes of " + space_name + " on " + core.arch->soc,
                  "address " + npu::TextOf(address) + ", end " + npu::TextOf(address + bytes));
}

/// Where a tile lies that gets address; its first bytes lie within its space.
NPU_ONE_BODY(std::byte* Place(const char* op, const TileFacts& tile, uint64_t address,
                              uint64_t bytes)) {
  npu::Core& core = npu::RunningCore(op);
  const npu::Space space = SpaceOf(tile.kind->loc);
  const uint64_t capacity = core.arch->capacity[static_cast<int>(space)];
  std::byte* base = core.scratchpad[static_cast<int>(space)];
  // What data() of another tile gave is an address too.
  const uint64_t offset = address - reinterpret_cast<uintptr_t>(base);
  if (base != nullptr && offset < capacity) address = offset;
  const bool fits =
      bytes <= capacity && address <= capacity - bytes && address % npu::kTileAlignment == 0;
  // Both passes of a mixed kernel may name the tiles of the other.
  const bool is_elsewhere = base == nullptr && core.sub_block_num > 1;
  if ((base == nullptr && !is_elsewhere) || bytes > capacity || (!fits && core.check_limits)) {
    RaiseAssign(core, op, tile, bytes, address);
  }
  // With checks off an address wraps, as the chip's address bits do, but the tile stays within the
  // space.
  if (!fits) address = std::min(address % capacity, capacity - bytes);
  if (is_elsewhere) return reinterpret_cast<std::byte*>(static_cast<uintptr_t>(address));
  if (core.observer != nullptr) {
    core.observer->OnPlacement(
        core, {KindName(tile.kind->loc), tile.kind->dtype, tile.kind->rows, tile.kind->cols, space,
               address, bytes, __builtin_return_address(0), OrderName(tile.kind->order),
               tile.kind->is_compact});
  }
  return base + address;
}

/// Bytes of a tile whose extent is known, up to what a compact one would take without its valid
/// region.
template <class TileT>
constexpr uint64_t StaticBytes() {
  if constexpr (is_conv_tile_v<TileT>) {
    uint64_t bytes = sizeof(typename TileT::DType);
    for (int d = 0; d < TileT::totalDimCount; ++d) {
      bytes *= static_cast<uint64_t>(TileT::staticShape[d] == DYNAMIC ? 1 : TileT::staticShape[d]);
    }
    return bytes;
  } else {
    return static_cast<uint64_t>(TileT::Rows) * TileT::Cols * sizeof(typename TileT::DType) /
           kPacked<typename TileT::DType>;
  }
}
template <class TileT>
inline constexpr uint64_t kTileBytes = StaticBytes<TileT>();

template <class TileT>
[[gnu::always_inline]] inline void PlaceTile(const char* op, TileT& tile, const TileFacts& facts,
                                             uint64_t address, uint64_t bytes) {
  tile.data() = reinterpret_cast<typename TileT::DType*>(Place(op, facts, address, bytes));
  npu::KeepCallSite();
}

/// Bytes that tile must have room for. An accumulator whose valid region is constant is never used
/// beyond it: kernels give windows of rows the extent of the whole.
template <class TileT>
inline uint64_t BytesToPlace(const TileFacts& facts) {
  constexpr bool kIsWindow =
      TileT::Loc == TileType::Acc && TileT::ValidRow > 0 && TileT::ValidCol > 0;
  if constexpr (kIsWindow && !kIsCompact<TileT>) {
    constexpr size_t kLast = GetTileOffset<TileT>(TileT::ValidRow - 1, TileT::ValidCol - 1);
    return (kLast + 1) * sizeof(typename TileT::DType);
  }
  return facts.Bytes();
}

template <class TileT>
[[gnu::always_inline]] inline void Assign(TileT& tile, uint64_t address) {
  if constexpr (is_conv_tile_v<TileT>) {
    const ConvFacts conv(tile);
    const TileFacts facts = conv.Tile();
    PlaceTile("TASSIGN", tile, facts, address, facts.Bytes());
  } else {
    const TileFacts facts(tile);
    PlaceTile("TASSIGN", tile, facts, address, BytesToPlace<TileT>(facts));
  }
}

/// Whether a tile may take fewer bytes than its extent.
template <class TileT>
constexpr bool MayShrink() {
  if constexpr (is_conv_tile_v<TileT>) {
    return false;
  } else {
    return kIsCompact<TileT>;
  }
}
template <class TileT>
inline constexpr bool kMayShrink = MayShrink<TileT>();

/// Bytes of address from the start of the space that it lies in; address itself if in none.
NPU_ONE_BODY(uint64_t OffsetInSpace(const npu::Core& core, const void* address)) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (int space = 0; space < npu::kOnChipSpaces; ++space) {
    const uint64_t offset = at - reinterpret_cast<uintptr_t>(core.scratchpad[space]);
    if (core.scratchpad[space] != nullptr && offset < core.arch->capacity[space]) return offset;
  }
  return at;
}

template <class TileT>
constexpr bool HasBoxes() {
  if constexpr (is_conv_tile_v<TileT>) {
    return false;
  } else {
    return TileT::isBoxedLayout;
  }
}

/// Bytes of tile from its start to the end of its valid region.
template <class TileT>
inline uint64_t ValidBytes(const TileT& tile) {
  const auto lines = LinesOf(tile);
  if (lines.count == 0) return 0;
  const size_t last = lines.order.Offset(lines.count - 1, lines.length - 1);
  return (last + 1) * sizeof(typename TileT::DType);
}

NPU_ONE_BODY(NPU_RAISES void RaiseSubview(const TileFacts& dst, const TileFacts& src, int row,
                                          int col)) {
  npu::RaiseFault("TSUBVIEW", "a valid region of dst within the " + src.Describe(),
                  TileFacts::Extent(dst.valid_rows, dst.valid_cols) + " at row " +
                      npu::TextOf(row) + ", column " + npu::TextOf(col));
}

template <class Dst, class Src>
inline void Subview(Dst& dst, const Src& src, int row, int col) {
  static_assert(kTileBytes<Dst> <= npu::LargestCapacity(SpaceOf(Dst::Loc)),
                "TSUBVIEW: expected dst to fit into its on-chip space");
  const npu::Core& core = npu::RunningCore("TSUBVIEW");
  CheckTile(core, "TSUBVIEW", "src", src);
  CheckPairs<Src>(core, "TSUBVIEW", row, col);
  row = StoredRows<Src>(row);
  col = StoredCols<Src>(col);
  const TileFacts view(dst), whole(src);
  const bool inside =
      row + view.valid_rows <= whole.kind->rows && col + view.valid_cols <= whole.kind->cols;
  if (__builtin_expect(!inside && core.check_limits, 0)) RaiseSubview(view, whole, row, col);
  const auto* start = ElementOf(src, static_cast<size_t>(row), static_cast<size_t>(col));
  if constexpr (kIsAuto) {
    using Address = typename Dst::TileDType;
    dst.View(src, reinterpret_cast<Address>(reinterpret_cast<uintptr_t>(start)));
  }
  PlaceTile("TSUBVIEW", dst, TileFacts(dst), reinterpret_cast<uintptr_t>(start), ValidBytes(dst));
}

}  // namespace detail

/// Gives obj its address.
///   obj      a tile or ConvTile; address is an integer, in bytes from the start of its on-chip
///   space: a
///            multiple of 32, the tile's end within the space (of a compact tile that of its valid
///            region, which each use looks at again). What data() of another tile of that space
///            gave, cast to an integer, is taken too. In a mixed kernel the tile may be one of a
///            space that only another core of the block has; what uses it there is a fault.
///            Or a global tensor; address points to its first element.
/// In auto mode a tile keeps the storage of its own: TASSIGN to it does nothing.
/// Source: PTO ISA, TASSIGN.
template <class T, class Address>
[[gnu::always_inline]] inline void TASSIGN(T& obj, Address address) {
  if constexpr (is_tile_data_v<T> || is_conv_tile_v<T>) {
    static_assert(std::is_integral_v<Address> || std::is_enum_v<Address>,
                  "TASSIGN: expected an integer as address of a tile");
    if constexpr (detail::kIsAuto) return;
    detail::Assign(obj, static_cast<uint64_t>(address));
  } else {
    static_assert(is_global_data_v<T>, "TASSIGN: expected a tile or a global tensor");
    static_assert(std::is_convertible_v<Address, typename T::DType*>,
                  "TASSIGN: expected a pointer to elements of the global tensor");
    obj.data() = address;
  }
}

/// The same with a constant as address. Refused by the compiler where no chip allows it.
template <std::size_t kAddress, class TileT>
[[gnu::always_inline]] inline void TASSIGN(TileT& tile) {
  static_assert(is_tile_data_v<TileT> || is_conv_tile_v<TileT>,
                "TASSIGN<address>: expected a tile");
  static_assert(kAddress % npu::kTileAlignment == 0,
                "TASSIGN: expected a multiple of 32 bytes as address");
  static_assert(kAddress + (detail::kMayShrink<TileT> ? 0 : detail::kTileBytes<TileT>) <=
                    npu::LargestCapacity(SpaceOf(TileT::Loc)),
                "TASSIGN: expected the tile to end within its on-chip space");
  if constexpr (!detail::kIsAuto) detail::Assign(tile, kAddress);
}

/// Makes dst another view of the memory of src.
///   dst, src  tiles of one kind and of the same number of bytes, both with inner boxes or both
///             without; a ConvTile, of static shape, has none
/// Source: PTO ISA, TRESHAPE.
template <class Dst, class Src, class... Events>
inline RecordEvent TRESHAPE(Dst& dst, Src& src, Events&... events) {
  static_assert(Dst::Loc == Src::Loc, "TRESHAPE: expected tiles of one kind");
  static_assert(detail::kTileBytes<Dst> == detail::kTileBytes<Src>,
                "TRESHAPE: expected tiles of the same number of bytes");
  static_assert(detail::HasBoxes<Dst>() == detail::HasBoxes<Src>(),
                "TRESHAPE: expected tiles that both have inner boxes, or neither");
  (events.Wait(), ...);
  auto* data = reinterpret_cast<typename Dst::DType*>(src.data());
  if constexpr (detail::kIsAuto) {
    dst.View(src, data);
  } else {
    dst.data() = data;
  }
  return {};
}

/// Makes dst a view of src that starts at its element in row and col; the valid region of dst lies
/// within the extent of src, and its start at a multiple of 32 bytes.
///   dst, src  tiles of one kind
/// Source: PTO ISA, TSUBVIEW.
template <class Dst, class Src, class... Events>
inline RecordEvent TSUBVIEW(Dst& dst, Src& src, uint16_t row, uint16_t col, Events&... events) {
  static_assert(Dst::Loc == Src::Loc, "TSUBVIEW: expected tiles of one kind");
  (events.Wait(), ...);
  detail::Subview(dst, src, row, col);
  return {};
}

/// Bytes from the start of the scales of L0A or L0B at which those of an operand lie: 1/16 of its
/// address. address: what data() of a Left or Right tile gives. Source: PTO ISA, TMATMUL_MX.
template <class T>
inline uint64_t GetScaleAddr(const T* address) {
  const npu::Core& core = npu::RunningCore("GetScaleAddr");
  return detail::OffsetInSpace(core, address) >> 4;
}

/// Gives dst, a tile of scales, the address that belongs to src, a Left or Right tile.
/// On A5 alone. Source: PTO ISA, TGET_SCALE_ADDR.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TGET_SCALE_ADDR(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  const detail::TileFacts facts(dst);
  detail::PlaceTile("TGET_SCALE_ADDR", dst, facts, GetScaleAddr(src.data()), facts.Bytes());
  return {};
}

}  // namespace pto
