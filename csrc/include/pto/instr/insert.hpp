// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/instr/move.hpp"

namespace pto {

namespace detail {

/// Whether the chip takes an accumulator to a part of Dst, or any tile.
template <class Dst, class Src>
inline constexpr bool kInsertsAcc =
    kLeavesAcc<Dst, Src> &&
    (Dst::Loc == TileType::Vec || (Dst::isBoxedLayout && !Dst::isRowMajor && Dst::isInnerRowMajor));
template <class Dst, class Src>
inline constexpr bool kIsInserted =
    kInsertsAcc<Dst, Src> ||
    (std::is_same_v<typename Dst::DType, typename Src::DType> && Src::Loc == TileType::Vec &&
     (Dst::Loc == TileType::Vec || Dst::Loc == TileType::Mat) && kOneLayout<Dst, Src>);

/// Vec to Vec: the valid region of src to row and col of dst.
template <class Dst, class Src>
inline void InsertVec(const void* call_site, Dst& dst, Src& src, int row, int col) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<T, typename Src::DType>,
                "TINSERT: expected Vec tiles of one element type");
  static_assert(Dst::BFractal == Src::BFractal && Dst::SFractal == Src::SFractal,
                "TINSERT: expected Vec tiles of one layout");
  const Region from = ValidRegion(src);
  const Region to = {static_cast<size_t>(row), static_cast<size_t>(col), from.rows, from.cols};
  const auto operands = [&](auto report) {
    report(npu::Work{from.rows * from.cols, 0, 0}, RegionAccess(dst, to, true),
           RegionAccess(src, from, false));
  };
  npu::Issue("TINSERT", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, "TINSERT", {kAny8To32, kAny8To32});
    CheckTile(core, "TINSERT", "dst", dst);
    CheckTile(core, "TINSERT", "src", src);
    CheckSubregion("TINSERT", src, static_cast<int>(from.rows), static_cast<int>(from.cols), dst,
                   row, col);
    // A single element goes by the scalar pipe, to anywhere; A5 takes rows of bytes anywhere too.
    constexpr bool kBoxed = Dst::isBoxedLayout;
    const bool is_a3 = core.arch->generation == npu::Generation::kA3;
    if ((from.rows != 1 || from.cols != 1) && (is_a3 || kBoxed)) {
      constexpr int kBlock = static_cast<int>(npu::kTileAlignment / sizeof(T));
      CheckOrigin(core, "TINSERT", row, kBoxed && is_a3 ? 16 : 1, col, kBlock);
    }
    CopyRegion(dst, to, src, 0, 0);
  });
}

/// Acc to Mat: all rows of src, its valid columns up to whole 32 bytes, through stage.
template <class Dst, class Src, class Stage, class... Fp>
inline void InsertAcc(const char* op, const void* call_site, Dst& dst, Src& src, int row, int col,
                      const Stage& stage, Fp&... fp) {
  static_assert(Dst::Loc == TileType::Mat && Src::Loc == TileType::Acc,
                "TINSERT: expected Vec to Vec or Mat, or Acc to Mat or Vec");
  static_assert(
      Order<Src>::kLinesAreRows && Dst::isBoxedLayout && !Dst::isRowMajor && Dst::isInnerRowMajor,
      "TINSERT: expected an Acc and a Mat tile of layout NZ");
  constexpr size_t kC0 = Dst::InnerCols;
  const size_t valid = ValidRegion(src).cols;
  const Region to = {static_cast<size_t>(row), static_cast<size_t>(col), Src::Rows,
                     valid == 0 ? 0 : std::min<size_t>((valid + kC0 - 1) / kC0 * kC0, Src::Cols)};
  const auto operands = [&](auto report) {
    report(npu::Work{to.rows * to.cols, 0, 0}, RegionAccess(dst, to, true),
           RegionAccess(src, {0, 0, to.rows, to.cols}, false),
           RegionAccess(fp, {0, 0, 1, to.cols}, false)...);
  };
  npu::Issue(op, npu::Pipe::kFix, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckTile(core, op, "dst", dst);
    CheckTile(core, op, "src", src);
    const Extent held = ExtentOf(src);
    if (to.rows > held.rows || to.cols > held.cols) {
      RaiseSubregion(op, TileFacts(src), Src::Rows, static_cast<int64_t>(to.cols), TileFacts(src),
                     0, 0);
    }
    CheckEnds(core, op, "src", TileFacts(src), to.rows, to.cols);
    CheckSubregion(op, src, Src::Rows, Src::Cols, dst, row, col);
    CheckOrigin(core, op, row, 1, col, static_cast<int>(kC0));
    (CheckWords(core, op, TileFacts(fp), static_cast<int>(to.cols)), ...);
    ConvertAcc(dst, to, src, 0, 0, stage);
  });
}

/// Acc to Vec, on A5: the valid region of src, or half of it for each of two vector cores, to row
/// and col of dst there.
template <AccToVecMode kMode, class Dst, class Src, class Stage, class... Fp>
inline void InsertAccVec(const char* op, const void* call_site, Dst& dst, Src& src, int row,
                         int col, const Stage& stage, Fp&... fp) {
  static_assert(Dst::Loc == TileType::Vec && Src::Loc == TileType::Acc && Order<Src>::kLinesAreRows,
                "TINSERT: expected dst Vec and src Acc of layout NZ");
  constexpr bool kSplitRows = kMode == AccToVecMode::DualModeSplitM;
  constexpr bool kSplitCols = kMode == AccToVecMode::DualModeSplitN;
  constexpr uint32_t kFirst = kMode == AccToVecMode::SingleModeVec1 ? 1 : 0;
  constexpr uint32_t kCores = kSplitRows || kSplitCols ? 2 : 1;
  const Region whole = ValidRegion(src);
  const Region to = {static_cast<size_t>(row), static_cast<size_t>(col),
                     whole.rows / (kSplitRows ? 2 : 1), whole.cols / (kSplitCols ? 2 : 1)};
  const auto operands = [&](auto report) {
    const Region used = {0, 0, to.rows * (kSplitRows ? 2 : 1), to.cols * (kSplitCols ? 2 : 1)};
    report(npu::Work{whole.rows * whole.cols, 0, 0}, WritesOnVector(dst, to, kFirst, kCores),
           RegionAccess(src, used, false), RegionAccess(fp, {0, 0, 1, used.cols}, false)...);
  };
  npu::Issue(op, npu::Pipe::kFix, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckAccToVec(op, TileFacts(dst));
    CheckTile(core, op, "src", src);
    const int rows = static_cast<int>(to.rows), cols = static_cast<int>(to.cols);
    if (kSplitRows) CheckSplit(op, "rows", static_cast<int>(whole.rows), rows, false, 1);
    if (kSplitCols) CheckSplit(op, "columns", static_cast<int>(whole.cols), cols, false, 1);
    CheckSubregion(op, src, rows, cols, dst, row, col);
    (CheckWords(core, op, TileFacts(fp), static_cast<int>(whole.cols)), ...);
    for (uint32_t i = 0; i < kCores; ++i) {
      std::byte* buffer = core.scheduler->VectorBuffer(core, kFirst + i);
      if (buffer == nullptr) continue;  // the core has ended: nobody reads it
      Dst there = dst;
      there.data() = AddressIn(buffer, dst.data());
      const int at = static_cast<int>(i);
      ConvertAcc(there, to, src, kSplitRows ? at * rows : 0, kSplitCols ? at * cols : 0, stage);
    }
  });
}

template <class Dst, class Src, class Stage, class... Fp>
[[gnu::noinline]] void InsertThrough(const char* op, Dst& dst, Src& src, int row, int col,
                                     const Stage& stage, Fp&... fp) {
  const void* call_site = __builtin_return_address(0);
  if constexpr (kForHost && !kInsertsAcc<Dst, Src>) {
    InsertOnHost(op, call_site, dst, src, row, col, stage, fp...);
  } else if constexpr (Dst::Loc == TileType::Vec) {
    constexpr auto kMode = AccToVecMode::SingleModeVec0;
    InsertAccVec<kMode>(op, call_site, dst, src, row, col, stage, fp...);
  } else {
    InsertAcc(op, call_site, dst, src, row, col, stage, fp...);
  }
}

template <AccToVecMode kMode, class Dst, class Src, class Stage, class... Fp>
[[gnu::noinline]] void InsertToVec(Dst& dst, Src& src, int row, int col, const Stage& stage,
                                   Fp&... fp) {
  InsertAccVec<kMode>("TINSERT", __builtin_return_address(0), dst, src, row, col, stage, fp...);
}

template <class Dst, class Src>
[[gnu::noinline]] void Insert(Dst& dst, Src& src, int row, int col) {
  const void* call_site = __builtin_return_address(0);
  if constexpr (kForHost && !kIsInserted<Dst, Src>) {
    InsertOnHost("TINSERT", call_site, dst, src, row, col, PlainStage<ReluPreMode::NoRelu>{});
  } else if constexpr (Dst::Loc == TileType::Vec && Src::Loc == TileType::Vec) {
    InsertVec(call_site, dst, src, row, col);
  } else if constexpr (Dst::Loc == TileType::Mat && Src::Loc == TileType::Vec) {
    CheckNextPairs<Dst>("TINSERT", row, col);
    MoveVecToMat("TINSERT", call_site, dst, StoredRows<Dst>(row), StoredCols<Dst>(col), src,
                 ValidRegion(src));
  } else if constexpr (Dst::Loc == TileType::Vec) {
    InsertAccVec<AccToVecMode::SingleModeVec0>("TINSERT", call_site, dst, src, row, col,
                                               PlainStage<ReluPreMode::NoRelu>{});
  } else {
    InsertAcc("TINSERT", call_site, dst, src, row, col, PlainStage<ReluPreMode::NoRelu>{});
  }
}

}  // namespace detail

/// The part of dst that starts at row, col = src.
///   Vec to Vec  one element type of 8, 16 or 32 bits and one layout, the valid region of src; col
///               at a multiple of 32 bytes (on A5 without boxes anywhere), row of boxed tiles on
///               A2/A3 at a multiple of 16, unless src is one element
///   Acc to Mat  both of layout NZ, converted as in TMOV; col at a whole box. All rows of src, and
///               its valid columns up to whole boxes, are written, as on the chip
///   Acc to Vec  on A5, the valid region of src, to vector core 0
///   Vec to Mat  on A5, the valid region of src, as in TMOV; lines at whole boxes, of layouts ND
///   and
///               DN at multiples of 32 bytes. Pipe MTE3
/// Pipes V; FIX. Source: PTO ISA, TINSERT.
template <class Dst, class Src, class... Events,
          std::enable_if_t<is_tile_data_v<Src> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TINSERT(Dst& dst, Src& src, uint16_t row, uint16_t col,
                                                  Events&... events) {
  (events.Wait(), ...);
  detail::Insert(dst, src, row, col);
  npu::KeepCallSite();
  return {};
}

/// Vec to Mat of layout NZ in parts, which changes nothing.
template <TInsertMode kMode, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TINSERT(Dst& dst, Src& src, uint16_t row = 0,
                                                  uint16_t col = 0, Events&... events) {
  static_assert(Dst::Loc == TileType::Mat && Src::Loc == TileType::Vec,
                "TINSERT: expected Vec to Mat with a mode of parts");
  (events.Wait(), ...);
  detail::Insert(dst, src, row, col);
  npu::KeepCallSite();
  return {};
}

/// From an Acc tile with a relu.
template <class Dst, class Src, ReluPreMode kRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TINSERT(Dst& dst, Src& src, uint16_t row, uint16_t col,
                                                  Events&... events) {
  (events.Wait(), ...);
  detail::InsertThrough("TINSERT", dst, src, row, col, detail::PlainStage<kRelu>{});
  npu::KeepCallSite();
  return {};
}

/// From an Acc tile with quantization; quant and rounding as in TSTORE.
template <class Dst, class Src, ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TINSERT(Dst& dst, Src& src, uint64_t quant, uint16_t row,
                                                  uint16_t col, Events&... events) {
  (events.Wait(), ...);
  detail::InsertThrough("TINSERT", dst, src, row, col, detail::ScalarStage<kRelu>(quant));
  npu::KeepCallSite();
  return {};
}

/// From an Acc tile with a quantization word for each column of src.
template <class Dst, class Src, class Fp, ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TINSERT_FP(Dst& dst, Src& src, Fp& fp, uint16_t row,
                                                     uint16_t col, Events&... events) {
  (events.Wait(), ...);
  detail::InsertThrough("TINSERT_FP", dst, src, row, col, detail::StageOfWords<kRelu>(fp), fp);
  npu::KeepCallSite();
  return {};
}

/// Acc to Vec, on A5, to the vector cores that kMode says: all of src, or half of its rows (SplitM)
/// or columns (SplitN) to each.
template <class Dst, class Src, AccToVecMode kMode, ReluPreMode kRelu = ReluPreMode::NoRelu,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TINSERT(Dst& dst, Src& src, uint16_t row, uint16_t col,
                                                  Events&... events) {
  (events.Wait(), ...);
  detail::InsertToVec<kMode>(dst, src, row, col, detail::PlainStage<kRelu>{});
  npu::KeepCallSite();
  return {};
}

/// The same with quantization, to one vector core.
template <class Dst, class Src, AccToVecMode kMode, ReluPreMode kRelu = ReluPreMode::NoRelu,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TINSERT(Dst& dst, Src& src, uint64_t quant, uint16_t row,
                                                  uint16_t col, Events&... events) {
  detail::CheckOneCore<kMode>();
  (events.Wait(), ...);
  detail::InsertToVec<kMode>(dst, src, row, col, detail::ScalarStage<kRelu>(quant));
  npu::KeepCallSite();
  return {};
}

/// The same with a quantization word for each column of src.
template <class Dst, class Src, class Fp, AccToVecMode kMode,
          ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TINSERT(Dst& dst, Src& src, Fp& fp, uint16_t row,
                                                  uint16_t col, Events&... events) {
  using Word = typename Fp::DType;
  detail::CheckOneCore<kMode>();
  (events.Wait(), ...);
  detail::InsertToVec<kMode>(dst, src, row, col, detail::VectorStage<kRelu, Word>{fp.data()}, fp);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
