// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/copy_tile.hpp"
#include "pto/fixpipe.hpp"
#include "pto/inner_flags.hpp"
#include "pto/traits.hpp"

/// Accumulators that go from the cube core straight to the vector cores of its block.
namespace pto {

namespace detail {

NPU_ONE_BODY(void CheckAccToVec(const char* op, const TileFacts& dst)) {
  const npu::Core& core = *npu::current_core;
  if (npu::IsWhole(core)) return;
  if (core.arch->generation == npu::Generation::kA3) {
    npu::RaiseFault(op, "a chip that moves an Acc tile to a Vec tile (A5)", core.arch->soc);
  }
  if (core.type != npu::CoreType::kCube || core.sub_block_num == 1) {
    npu::RaiseFault(
        op, "the cube core of a kernel with cube and vector cores, for a Vec dst",
        core.type == npu::CoreType::kCube ? "one without vector cores" : "a vector core");
  }
  if (!dst.ValidRegionFits()) RaiseTile(op, "dst", dst);
}

NPU_ONE_BODY(NPU_RAISES void RaiseSplit(const char* op, const char* what, int src, int dst)) {
  npu::RaiseFault(op,
                  npu::Text("dst with half of the ") + npu::TextOf(src) + " valid " + what +
                      " of src, for two vector cores",
                  npu::TextOf(dst));
}

/// Faults unless a dimension of src, up to whole boxes where dst has boxes, is twice that of dst.
inline void CheckSplit(const char* op, const char* what, int src, int dst, bool boxed, int box) {
  const int most = boxed ? (src + box - 1) / box * box : src;
  if (__builtin_expect(2 * dst < src || 2 * dst > most, 0)) RaiseSplit(op, what, src, dst);
}

/// What a cube core writes to region of dst on `count` vector cores from the first on, for
/// observers; where there is none it is a fault, or nobody reads it.
template <class Dst>
inline npu::AccessList WritesOnVector(const Dst& dst, const Region& region, uint32_t first,
                                      uint32_t count) {
  npu::AccessList list;
  npu::Core& core = *npu::current_core;
  for (uint32_t i = first; i < first + count; ++i) {
    std::byte* buffer = npu::IsPlace(dst.data()) ? reinterpret_cast<std::byte*>(npu::kLowestPlace)
                        : core.type == npu::CoreType::kCube ? core.scheduler->VectorBuffer(core, i)
                                                            : nullptr;
    if (buffer == nullptr) continue;
    Dst there = dst;
    there.data() = AddressIn(buffer, dst.data());
    list.Extend(RegionAccess(there, region, true));
  }
  return list;
}

/// The part of Acc at row, col and on to the UB of one or both vector cores, over the valid region
/// of dst, through stage.
template <AccToVecMode kMode, class Dst, class Src, class Stage, class... Fp>
inline void MoveAccToVec(const char* op, const void* call_site, Dst& dst, Src& src, int row,
                         int col, const Stage& stage, Fp&... fp) {
  static_assert(Dst::Loc == TileType::Vec && Src::Loc == TileType::Acc,
                "expected dst Vec and src Acc");
  static_assert(Order<Src>::kLinesAreRows, "expected an Acc tile of layout NZ");
  constexpr bool kSplitRows = kMode == AccToVecMode::DualModeSplitM;
  constexpr bool kSplitCols = kMode == AccToVecMode::DualModeSplitN;
  constexpr uint32_t kFirst = kMode == AccToVecMode::SingleModeVec1 ? 1 : 0;
  constexpr uint32_t kCores = kSplitRows || kSplitCols ? 2 : 1;
  const int rows = dst.GetValidRow(), cols = dst.GetValidCol();
  const auto operands = [&](auto report) {
    const auto elements = static_cast<uint64_t>(rows) * static_cast<uint64_t>(cols) * kCores;
    const auto height = static_cast<size_t>(std::max(rows, 0));
    const auto width = static_cast<size_t>(std::max(cols, 0));
    const Region used = {static_cast<size_t>(row), static_cast<size_t>(col),
                         height * (kSplitRows ? 2 : 1), width * (kSplitCols ? 2 : 1)};
    report(npu::Work{elements, 0, 0}, WritesOnVector(dst, {0, 0, height, width}, kFirst, kCores),
           RegionAccess(src, used, false), RegionAccess(fp, {0, used.col, 1, used.cols}, false)...);
  };
  npu::Issue(op, npu::Pipe::kFix, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckAccToVec(op, TileFacts(dst));
    CheckTile(core, op, "src", src);
    constexpr bool kBoxed = Dst::isBoxedLayout;
    if (kSplitRows) CheckSplit(op, "rows", src.GetValidRow(), rows, kBoxed, 16);
    if (kSplitCols) CheckSplit(op, "columns", src.GetValidCol(), cols, kBoxed, 32);
    CheckSubregion(op, dst, kSplitRows ? 2 * rows : rows, kSplitCols ? 2 * cols : cols, src, row,
                   col);
    (CheckWords(core, op, TileFacts(fp), col + cols), ...);
    for (uint32_t i = 0; i < kCores; ++i) {
      std::byte* buffer = core.scheduler->VectorBuffer(core, kFirst + i);
      if (buffer == nullptr) continue;  // the core has ended: nobody reads it
      Dst there = dst;
      there.data() = AddressIn(buffer, dst.data());
      const Region region = {0, 0, static_cast<size_t>(rows), static_cast<size_t>(cols)};
      const int at = static_cast<int>(i);
      ConvertAcc(there, region, src, row + (kSplitRows ? at * rows : 0),
                 col + (kSplitCols ? at * cols : 0), stage);
    }
  });
}

template <AccToVecMode kMode, class Dst, class Src, class Stage, class... Fp>
[[gnu::noinline]] void MoveToVec(Dst& dst, Src& src, const Stage& stage, Fp&... fp) {
  MoveAccToVec<kMode>("TMOV", __builtin_return_address(0), dst, src, 0, 0, stage, fp...);
}

}  // namespace detail

/// Acc to Vec, on A5: to the UB of vector core 0 or 1 of the block, or half of the rows (SplitM) or
/// columns (SplitN) to each. dst has the address of the tile on the vector cores and the valid
/// region of what one of them gets; elements are converted as from Acc to Mat. Pipe FIX.
template <class Dst, class Src, AccToVecMode kMode, ReluPreMode kRelu = ReluPreMode::NoRelu,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::MoveToVec<kMode>(dst, src, detail::PlainStage<kRelu>{});
  npu::KeepCallSite();
  return {};
}
template <STPhase kPhase, class Dst, class Src, AccToVecMode kMode,
          ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  return TMOV<Dst, Src, kMode, kRelu>(dst, src, events...);
}

namespace detail {

template <AccToVecMode kMode>
constexpr void CheckOneCore() {
  static_assert(kMode == AccToVecMode::SingleModeVec0 || kMode == AccToVecMode::SingleModeVec1,
                "TMOV: expected one vector core where a quantization is asked for");
}

}  // namespace detail

/// The same with quantization, to one vector core; quant and rounding as in TSTORE.
template <class Dst, class Src, AccToVecMode kMode, ReluPreMode kRelu = ReluPreMode::NoRelu,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, uint64_t quant,
                                               Events&... events) {
  detail::CheckOneCore<kMode>();
  (events.Wait(), ...);
  detail::MoveToVec<kMode>(dst, src, detail::ScalarStage<kRelu>(quant));
  npu::KeepCallSite();
  return {};
}
template <STPhase kPhase, class Dst, class Src, AccToVecMode kMode,
          ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, uint64_t quant,
                                               Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  return TMOV<Dst, Src, kMode, kRelu>(dst, src, quant, events...);
}

/// The same with a quantization word for each column of src.
template <class Dst, class Src, class Fp, AccToVecMode kMode,
          ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, Fp& fp, Events&... events) {
  using Word = typename Fp::DType;
  detail::CheckOneCore<kMode>();
  (events.Wait(), ...);
  detail::MoveToVec<kMode>(dst, src, detail::VectorStage<kRelu, Word>{fp.data()}, fp);
  npu::KeepCallSite();
  return {};
}
template <STPhase kPhase, class Dst, class Src, class Fp, AccToVecMode kMode,
          ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, Fp& fp, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  return TMOV<Dst, Src, Fp, kMode, kRelu>(dst, src, fp, events...);
}

}  // namespace pto
