// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/instr/move.hpp"

namespace pto {

namespace detail {

/// Whether the chip takes a part of Src to Dst.
template <class Dst, class Src>
inline constexpr bool kIsExtracted =
    kLeavesAcc<Dst, Src> ||
    (std::is_same_v<typename Dst::DType, typename Src::DType> &&
     (Src::Loc == TileType::Mat ? kIsOperand<Dst> && !kTurnsCompactPairs<Dst, Src>
                                : Src::Loc == TileType::Vec && kOneLayout<Dst, Src>));

template <class Dst, class Src>
[[gnu::noinline]] void Extract(Dst& dst, Src& src, int row, int col) {
  const void* call_site = __builtin_return_address(0);
  if constexpr (is_conv_tile_v<Src>) {
    MoveFilter("TEXTRACT", call_site, dst, src, row, col);
  } else if constexpr (kForHost && !kIsExtracted<Dst, Src>) {
    ExtractOnHost("TEXTRACT", call_site, dst, src, row, col, PlainStage<ReluPreMode::NoRelu>{});
  } else if constexpr (Dst::Loc == TileType::Vec && Src::Loc == TileType::Vec) {
    static_assert(Dst::BFractal == Src::BFractal && Dst::SFractal == Src::SFractal,
                  "TEXTRACT: expected Vec tiles of one layout");
    MoveVec("TEXTRACT", call_site, dst, src, row, col, From::kBlock);
  } else if constexpr (Dst::Loc == TileType::Mat && Src::Loc == TileType::Vec) {
    CheckNextPairs<Src>("TEXTRACT", row, col);
    Region part = ValidRegion(dst);
    part.row = static_cast<size_t>(StoredRows<Src>(row));
    part.col = static_cast<size_t>(StoredCols<Src>(col));
    MoveVecToMat("TEXTRACT", call_site, dst, 0, 0, src, part);
  } else if constexpr (Src::Loc == TileType::Mat) {
    static_assert(kIsOperand<Dst>,
                  "TEXTRACT: expected a Left or Right tile, or one of scales, from a Mat tile");
    MoveToOperand("TEXTRACT", call_site, dst, src, row, col);
  } else if constexpr (Dst::Loc == TileType::Vec) {
    MoveAccToVec<AccToVecMode::SingleModeVec0>("TEXTRACT", call_site, dst, src, row, col,
                                               PlainStage<ReluPreMode::NoRelu>{});
  } else {
    MoveAcc("TEXTRACT", call_site, dst, src, row, col, PlainStage<ReluPreMode::NoRelu>{});
  }
}

template <class Dst, class Src>
[[gnu::noinline]] void ExtractBoxes(Dst& dst, Src& src, int row, int col) {
  static_assert(Src::Loc == TileType::Vec && !Src::isBoxedLayout && Src::isRowMajor,
                "TEXTRACT: expected a RowMajor Vec tile as src of two");
  static_assert(Dst::Loc == TileType::Vec && !Dst::isRowMajor && Dst::isInnerRowMajor,
                "TEXTRACT: expected Vec tiles of layout NZ");
  MoveVec("TEXTRACT", __builtin_return_address(0), dst, src, row, col, From::kAnywhere);
}

template <AccToVecMode kMode, class Stage, class Dst, class Src, class... Fp>
[[gnu::noinline]] void ExtractToVec(const char* op, Dst& dst, Src& src, int row, int col,
                                    const Stage& stage, Fp&... fp) {
  MoveAccToVec<kMode>(op, __builtin_return_address(0), dst, src, row, col, stage, fp...);
}

}  // namespace detail

/// dst = the part of src that starts at row, col.
///   Mat to Left, Right  one element type, the whole extent of dst; row and col at whole boxes
///                       or from a filter as in TMOV, the valid region of dst in whole boxes
///   Vec to Vec          one layout, the valid region of dst; col of boxed tiles, on A2/A3 of all,
///                       at a multiple of 32 bytes, row of boxed tiles at a multiple of 16, unless
///                       one element is asked for
///   Acc to Mat, Vec     the valid region of dst, converted as in TMOV
///   Vec to Mat          on A5, the valid region of dst, as in TMOV
/// Pipes MTE1; V; FIX. Source: PTO ISA, TEXTRACT.
template <class Dst, class Src, class... Events,
          std::enable_if_t<is_any_tile_v<Src> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TEXTRACT(Dst& dst, Src& src, uint16_t row = 0,
                                                   uint16_t col = 0, Events&... events) {
  (events.Wait(), ...);
  detail::Extract(dst, src, row, col);
  npu::KeepCallSite();
  return {};
}

/// Two parts of an ND tile, each into a Vec tile of layout NZ over its valid region, from any row
/// and column.
template <class Dst0, class Dst1, class Src, class... Events,
          std::enable_if_t<is_tile_data_v<Src> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TEXTRACT(Dst0& dst0, Dst1& dst1, Src& src,
                                                   uint16_t row0 = 0, uint16_t col0 = 0,
                                                   uint16_t row1 = 0, uint16_t col1 = 0,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::ExtractBoxes(dst0, src, row0, col0);
  detail::ExtractBoxes(dst1, src, row1, col1);
  npu::KeepCallSite();
  return {};
}

/// Acc to Mat or Vec with a relu.
template <class Dst, class Src, ReluPreMode kRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TEXTRACT(Dst& dst, Src& src, uint16_t row = 0,
                                                   uint16_t col = 0, Events&... events) {
  (events.Wait(), ...);
  detail::MoveThrough("TEXTRACT", dst, src, row, col, detail::PlainStage<kRelu>{});
  npu::KeepCallSite();
  return {};
}

/// Acc to Mat or Vec with quantization; quant and rounding as in TSTORE.
template <class Dst, class Src, ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TEXTRACT(Dst& dst, Src& src, uint64_t quant, uint16_t row,
                                                   uint16_t col, Events&... events) {
  (events.Wait(), ...);
  detail::MoveThrough("TEXTRACT", dst, src, row, col, detail::ScalarStage<kRelu>(quant));
  npu::KeepCallSite();
  return {};
}

/// Acc to Mat or Vec with a quantization word for each column of src.
template <class Dst, class Src, class Fp, ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TEXTRACT_FP(Dst& dst, Src& src, Fp& fp, uint16_t row,
                                                      uint16_t col, Events&... events) {
  (events.Wait(), ...);
  detail::MoveThrough("TEXTRACT_FP", dst, src, row, col, detail::StageOfWords<kRelu>(fp), fp);
  npu::KeepCallSite();
  return {};
}

/// Acc to Vec, on A5, to the vector cores that kMode says, as in TMOV; row and col are those of
/// src.
template <class Dst, class Src, AccToVecMode kMode, ReluPreMode kRelu = ReluPreMode::NoRelu,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TEXTRACT(Dst& dst, Src& src, uint16_t row, uint16_t col,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::ExtractToVec<kMode>("TEXTRACT", dst, src, row, col, detail::PlainStage<kRelu>{});
  npu::KeepCallSite();
  return {};
}

/// The same with quantization, to one vector core.
template <class Dst, class Src, AccToVecMode kMode, ReluPreMode kRelu = ReluPreMode::NoRelu,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TEXTRACT(Dst& dst, Src& src, uint64_t quant, uint16_t row,
                                                   uint16_t col, Events&... events) {
  detail::CheckOneCore<kMode>();
  (events.Wait(), ...);
  detail::ExtractToVec<kMode>("TEXTRACT", dst, src, row, col, detail::ScalarStage<kRelu>(quant));
  npu::KeepCallSite();
  return {};
}

/// The same with a quantization word for each column of src.
template <class Dst, class Src, class Fp, AccToVecMode kMode,
          ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TEXTRACT(Dst& dst, Src& src, Fp& fp, uint16_t row,
                                                   uint16_t col, Events&... events) {
  using Word = typename Fp::DType;
  detail::CheckOneCore<kMode>();
  (events.Wait(), ...);
  detail::ExtractToVec<kMode>("TEXTRACT", dst, src, row, col,
                              detail::VectorStage<kRelu, Word>{fp.data()}, fp);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
