// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/fifo.hpp"
#include "pto/fixpipe_params.hpp"
#include "pto/instr/assign.hpp"
#include "pto/instr/move_acc_vec.hpp"
#include "pto/instr/store.hpp"

/// How a tile gets into a slot of a pipe.
namespace pto::detail {

/// rows x cols elements of T at address, row_stride apart.
template <class T, Layout kLayout = Layout::ND>
using SlotTensor =
    GlobalTensor<T, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, DYNAMIC, 1>, kLayout>;

template <class T, Layout kLayout = Layout::ND>
inline SlotTensor<T, kLayout> SlotAt(char* address, int rows, int cols, int64_t row_stride) {
  using Tensor = SlotTensor<T, kLayout>;
  return Tensor(reinterpret_cast<T*>(address), typename Tensor::Shape(rows, cols),
                typename Tensor::Stride(row_stride));
}

NPU_ONE_BODY(NPU_RAISES void RaiseSlot(bool is_split, uint64_t slot_bytes, uint64_t bytes)) {
  npu::RaiseFault("TPUSH",
                  npu::Text(is_split ? "the parts of both vector cores in" : "a tile of") +
                      " at most " + npu::TextOf(static_cast<int64_t>(slot_bytes)) +
                      " bytes (those of a slot)",
                  npu::TextOf(static_cast<int64_t>(bytes)));
}

/// Faults where a tile would reach into the next slot. Of a split slot, which holds the parts of
/// both vector cores, it is the part of sub_block: with the other one, in odd parts of one row or
/// column more or less, it has to fit.
template <class TileT, size_t kBytes = sizeof(typename TileT::DType)>
inline void CheckSlot(const TileT& tile, uint64_t slot_bytes, TileSplitAxis split = TILE_NO_SPLIT,
                      int64_t sub_block = 0) {
  const auto [rows, cols] = ValidExtent(tile);
  const uint64_t other = sub_block == 0 ? uint64_t(-1) : 1;  // the first odd part is the larger
  uint64_t elements = rows * cols;
  if (split == TILE_UP_DOWN || split == TILE_LEFT_RIGHT) elements *= 2;
  if (split == TILE_UP_DOWN_ODD && rows != 0) elements = (2 * rows + other) * cols;
  if (split == TILE_LEFT_RIGHT_ODD && cols != 0) elements = (2 * cols + other) * rows;
  const uint64_t bytes = elements * kBytes;
  if (__builtin_expect(bytes > slot_bytes && npu::current_core->check_limits, 0)) {
    RaiseSlot(split != TILE_NO_SPLIT, slot_bytes, bytes);
  }
}

NPU_ONE_BODY(NPU_RAISES void RaiseSubBlock(const char* op, int64_t sub_block)) {
  npu::RaiseFault(op, "a sub-block of 0 or 1", npu::TextOf(sub_block));
}

/// Where a slot is split, faults unless sub_block names a vector core. Holds with checks off too.
inline void CheckSubBlock(const char* op, TileSplitAxis split, int64_t sub_block) {
  const bool good = split == TILE_NO_SPLIT || sub_block == 0 || sub_block == 1;
  if (__builtin_expect(!good, 0)) RaiseSubBlock(op, sub_block);
}

/// The part of a vector core into a slot of global memory.
template <TileSplitAxis kSplit, class TileT>
[[gnu::always_inline]] inline void PushToGlobal(TileT& tile, char* slot, int64_t sub_block) {
  using T = typename TileT::DType;
  const int rows = tile.GetValidRow(), cols = tile.GetValidCol();
  CheckSubBlock("TPUSH", kSplit, sub_block);
  const SlotPart part = PartOf(kSplit, sub_block, rows, cols);
  auto global =
      SlotAt<T>(slot + part.offset * static_cast<int64_t>(sizeof(T)), rows, cols, part.row_stride);
  Store<AtomicType::AtomicNone>("TPUSH", global, tile, PlainStage<ReluPreMode::NoRelu>{}, nullptr);
  npu::KeepCallSite();
}

/// The words of SET_QUANT_VECTOR.
using QuantTable = Tile<TileType::Scaling, uint64_t, 1, 512>;

NPU_ONE_BODY(QuantTable TableOf(const npu::Core& core, int cols)) {
  constexpr auto kFix = static_cast<int>(npu::Space::kFix);
  const uint64_t end = core.quant_table + static_cast<uint64_t>(cols) * sizeof(uint64_t);
  const bool has_table = core.type == npu::CoreType::kCube || npu::TakesHostForms(core);
  if (!has_table || end > core.arch->capacity[kFix]) {
    npu::RaiseFault("TPUSH",
                    "quantization words of SET_QUANT_VECTOR that end within the " +
                        npu::TextOf(static_cast<int64_t>(core.arch->capacity[kFix])) +
                        " bytes of FB",
                    "end " + npu::TextOf(static_cast<int64_t>(end)));
  }
  QuantTable table;
  table.data() = reinterpret_cast<uint64_t*>(core.scratchpad[kFix] + core.quant_table);
  return table;
}

/// Calls store(stage) with the stage, and its table or nullptr, that Config asks for.
template <class Config, class TileT, class Use>
[[gnu::always_inline]] inline void WithStage(const TileT& tile, const Use& use) {
  constexpr ReluPreMode kRelu = Config::ReluMode;
  const npu::Core& core = npu::RunningCore("TPUSH");
  if constexpr (IsPlain(Config::QuantPre)) {
    use(PlainStage<kRelu>{}, static_cast<const TileFacts*>(nullptr));
  } else if constexpr (IsVectorQuant(Config::QuantPre)) {
    const QuantTable table = TableOf(core, tile.GetValidCol());
    const TileFacts words(table);
    use(VectorStage<kRelu, uint64_t>{table.data()}, &words);
  } else {
    use(ScalarStage<kRelu>(core.quant_word), static_cast<const TileFacts*>(nullptr));
  }
}

/// An accumulator into a slot of global memory.
template <class Config, class TileT>
[[gnu::always_inline]] inline void PushAccToGlobal(TileT& tile, char* slot) {
  using T = FixpipeConsDType_t<Config::QuantPre, typename TileT::DType>;
  constexpr Layout kLayout = Config::LayoutMode == LayoutMode_t::NZ2ND   ? Layout::ND
                             : Config::LayoutMode == LayoutMode_t::NZ2DN ? Layout::DN
                                                                         : Layout::NZ;
  auto global =
      SlotAt<T, kLayout>(slot, tile.GetValidRow(), tile.GetValidCol(), tile.GetValidCol());
  WithStage<Config>(tile, [&](const auto& stage, const TileFacts* words) {
    Store<Config::AtomicT>("TPUSH", global, tile, stage, words);
    npu::KeepCallSite();
  });
}

NPU_ONE_BODY(NPU_RAISES void RaiseOddSplit()) {
  npu::RaiseFault("TPUSH", "TILE_NO_SPLIT, TILE_UP_DOWN or TILE_LEFT_RIGHT from core to core",
                  "a split into odd parts");
}

/// An accumulator straight into UB of the vector cores, at address there.
template <TileSplitAxis kSplit, class Config, class TileT>
[[gnu::always_inline]] inline void PushAccToVector(TileT& tile, uint64_t address) {
  using T = FixpipeConsDType_t<Config::QuantPre, typename TileT::DType>;
  constexpr bool kUpDown = kSplit == TILE_UP_DOWN, kLeftRight = kSplit == TILE_LEFT_RIGHT;
  if (kSplit > TILE_LEFT_RIGHT) RaiseOddSplit();
  constexpr AccToVecMode kMode = kUpDown                   ? AccToVecMode::DualModeSplitM
                                 : kLeftRight              ? AccToVecMode::DualModeSplitN
                                 : Config::SubBlockId == 1 ? AccToVecMode::SingleModeVec1
                                                           : AccToVecMode::SingleModeVec0;
  constexpr int kRows = kUpDown ? TileT::Rows / 2 : TileT::Rows;
  constexpr int kCols = kLeftRight ? TileT::Cols / 2 : TileT::Cols;
  constexpr bool kRowMajor = Config::LayoutMode == LayoutMode_t::NZ2ND;
  constexpr SLayout kInner =
      Config::LayoutMode == LayoutMode_t::NZ2NZ ? SLayout::RowMajor : SLayout::NoneBox;
  using There = Tile<TileType::Vec, T, kRows, kCols,
                     kRowMajor ? BLayout::RowMajor : BLayout::ColMajor, DYNAMIC, DYNAMIC, kInner>;
  There there(tile.GetValidRow() / (kUpDown ? 2 : 1), tile.GetValidCol() / (kLeftRight ? 2 : 1));
  const TileFacts facts(there);
  PlaceTile("TPUSH", there, facts, address, facts.Bytes());
  WithStage<Config>(tile, [&](const auto& stage, const TileFacts*) {
    const void* call_site = __builtin_return_address(0);
    if constexpr (IsVectorQuant(Config::QuantPre)) {
      const QuantTable table = TableOf(*npu::current_core, tile.GetValidCol());
      MoveAccToVec<kMode>("TPUSH", call_site, there, tile, 0, 0, stage, table);
    } else {
      MoveAccToVec<kMode>("TPUSH", call_site, there, tile, 0, 0, stage);
    }
    npu::KeepCallSite();
  });
}

NPU_ONE_BODY(std::byte* PlaceInCube(const TileFacts& there, uint64_t address)) {
  npu::Core& core = npu::RunningCore("TPUSH");
  if (core.type != npu::CoreType::kVector || core.sub_block_num == 1) {
    npu::RaiseFault("TPUSH", "a vector core of a kernel with cube and vector cores",
                    core.type == npu::CoreType::kCube ? "a cube core" : "one without cube cores");
  }
  const uint64_t capacity = core.arch->capacity[static_cast<int>(npu::Space::kL1)];
  if (address % npu::kTileAlignment != 0 || there.Bytes() > capacity ||
      address > capacity - there.Bytes()) {
    RaiseAssign(core, "TPUSH", there, there.Bytes(), address);
  }
  std::byte* const buffer = core.scheduler->CubeBuffer(core);
  return buffer == nullptr ? nullptr : buffer + address;
}

/// The part of a vector core straight into L1 of the cube core, at address there; boxes stay boxes.
template <TileSplitAxis kSplit, class TileT>
[[gnu::noinline]] void PushToCube(TileT& tile, uint64_t address, int64_t sub_block) {
  using T = typename TileT::DType;
  constexpr bool kUpDown = kSplit == TILE_UP_DOWN, kLeftRight = kSplit == TILE_LEFT_RIGHT;
  using There = Tile<TileType::Mat, T, kUpDown ? 2 * TileT::Rows : TileT::Rows,
                     kLeftRight ? 2 * TileT::Cols : TileT::Cols, TileT::BFractal, DYNAMIC, DYNAMIC,
                     TileT::SFractal>;
  const Extent part = ValidExtent(tile);
  const npu::Work work = {part.rows * part.cols, 0, 0};
  const auto half = static_cast<size_t>(sub_block);
  const size_t row = kUpDown ? half * part.rows : 0, col = kLeftRight ? half * part.cols : 0;
  const auto operands = [&](auto report) {
    There there(There::Rows, There::Cols);
    there.data() = reinterpret_cast<T*>(PlaceInCube(TileFacts(there), address));
    report(work,
           there.data() == nullptr ? npu::AccessList()
                                   : RegionAccess(there, {row, col, part.rows, part.cols}, true),
           Reads(tile));
  };
  npu::Issue("TPUSH", npu::Pipe::kMte3, __builtin_return_address(0), operands, [&] {
    if (kSplit > TILE_LEFT_RIGHT) RaiseOddSplit();
    CheckTile(*npu::current_core, "TPUSH", "the tile", tile);
    CheckSubBlock("TPUSH", kSplit, sub_block);
    There there(There::Rows, There::Cols);
    std::byte* data = PlaceInCube(TileFacts(there), address);
    if (data == nullptr) return;  // the core has ended: nobody reads it
    there.data() = reinterpret_cast<T*>(data);
    for (size_t r = 0; r < part.rows; ++r) {
      for (size_t c = 0; c < part.cols; ++c) {
        *ElementOf(there, row + r, col + c) = *ElementOf(tile, r, c);
      }
    }
  });
}

}  // namespace pto::detail
