// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "pto/copy_tile.hpp"
#include "pto/fixpipe.hpp"
#include "pto/inner_flags.hpp"
#include "pto/instr/move_acc_vec.hpp"
#include "pto/instr/move_conv.hpp"
#include "pto/instr/move_on_host.hpp"
#include "pto/instr/move_pairs.hpp"
#include "pto/instr/move_vec_mat.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

inline constexpr TypeRule kOperandTypes = {
    kLeftRightTypes, kLeftRightTypes | kE4m3 | kE5m2 | kHif8 | kE2m1x2 | kE1m2x2};

template <class TileT>
inline Region ValidRegion(const TileT& tile) {
  const auto [rows, cols] = ValidExtent(tile);
  return {0, 0, rows, cols};
}

/// Vec to Vec over the valid region of dst; from the start over what both tiles have.
template <class Dst, class Src>
inline void MoveVec(const char* op, const void* call_site, Dst& dst, Src& src, int row, int col,
                    From start) {
  using T = typename Dst::DType;
  static_assert(sizeof(T) == sizeof(typename Src::DType),
                "expected Vec tiles of elements of one size");
  constexpr bool kPairs = kPacked<T> != 1 && kPacked<typename Src::DType> != 1;
  if constexpr (kPairs && Order<Dst>::kLinesAreRows != Order<Src>::kLinesAreRows) {
    return MoveTurnedPairs(op, call_site, dst, src, row, col, start);
  }
  Region region = ValidRegion(dst);
  if (start == From::kStart) {
    const Region other = ValidRegion(src);
    region.rows = std::min(region.rows, other.rows);
    region.cols = std::min(region.cols, other.cols);
  }
  const int element_row = row, element_col = col;
  row = StoredRows<Src>(row);
  col = StoredCols<Src>(col);
  const Region from = {static_cast<size_t>(row), static_cast<size_t>(col), region.rows,
                       region.cols};
  const auto operands = [&](auto report) {
    report(npu::Work{region.rows * region.cols, 0, 0}, RegionAccess(dst, region, true),
           RegionAccess(src, from, false));
  };
  npu::Issue(op, npu::Pipe::kV, call_site, operands, [&] {
    CheckPairs<Src>(*npu::current_core, op, element_row, element_col);
    CheckMove(op, dst, src, static_cast<int>(region.rows), static_cast<int>(region.cols), row, col);
    constexpr int kBlock = static_cast<int>(npu::kTileAlignment / sizeof(T));
    // A single element goes by the scalar pipe, from anywhere; on A5 rows do.
    const bool is_a3 = npu::current_core->arch->generation == npu::Generation::kA3;
    if (start == From::kBlock && (is_a3 || Src::isBoxedLayout) &&
        (region.rows != 1 || region.cols != 1)) {
      CheckOrigin(*npu::current_core, op, row, Src::isBoxedLayout ? 16 : 1, col, kBlock);
    }
    CopyRegion(dst, region, src, from.row, from.col);
  });
}

template <class TileT>
inline constexpr bool kIsScale =
    TileT::Loc == TileType::ScaleLeft || TileT::Loc == TileType::ScaleRight;
template <class TileT>
inline constexpr bool kIsOperand =
    TileT::Loc == TileType::Left || TileT::Loc == TileType::Right || kIsScale<TileT>;

NPU_ONE_BODY(NPU_RAISES void RaiseCompactTurn(const char* op, const TileFacts& dst)) {
  npu::RaiseFault(op, "dst not compact, where elements of 4 bits turn from rows to columns",
                  "a compact " + dst.Describe());
}

/// All of dst, from elements of 4 bits whose lines change direction.
template <class Dst, class Src>
inline void TurnToOperand(const char* op, const Dst& dst, const Src& src, int row, int col) {
  CheckMove(op, dst, src, 0, 0, 0, 0);
  if (kIsCompact<Dst>) RaiseCompactTurn(op, TileFacts(dst));
  if (row + Dst::Rows > Src::Rows || col + Dst::Cols > Src::Cols) {
    RaiseSubregion(op, TileFacts(dst), Dst::Rows, Dst::Cols, TileFacts(src), row, col);
  }
  TurnPairs(dst, Dst::Rows, Dst::Cols, src, static_cast<size_t>(row), static_cast<size_t>(col));
}

/// Mat to Left, Right or their scales: the whole extent of dst, of a compact one its valid region
/// in whole boxes.
template <class Dst, class Src>
inline void MoveToOperand(const char* op, const void* call_site, Dst& dst, Src& src, int row,
                          int col) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<T, typename Src::DType>, "expected tiles of one element type");
  constexpr bool kTurned = Order<Dst>::kLinesAreRows != Order<Src>::kLinesAreRows;
  constexpr bool kPairs = kPacked<T> != 1;
  static_assert(!(kTurned && kIsScale<Dst>), "expected scales in one order of boxes");
  const int element_row = row, element_col = col;
  if (!kTurned) {
    row = StoredRows<Src>(row);
    col = StoredCols<Src>(col);
  }
  const auto operands = [&](auto report) {
    const Region valid = ValidRegion(dst);
    const auto [rows, cols] = ExtentOf(dst);
    const auto from_row = static_cast<size_t>(row), from_col = static_cast<size_t>(col);
    const Region from = kPairs && kTurned
                            ? StoredRegion<Src>({from_row, from_col, Dst::Rows, Dst::Cols})
                            : Region{from_row, from_col, rows, cols};
    report(npu::Work{valid.rows * valid.cols, 0, 0}, RegionAccess(dst, {0, 0, rows, cols}, true),
           RegionAccess(src, from, false));
  };
  npu::Issue(op, npu::Pipe::kMte1, call_site, operands, [&] {
    constexpr TypeRule kRule = kIsScale<Dst> ? TypeRule{0, kE8m0} : kOperandTypes;
    CheckType<T>(*npu::current_core, op, kRule, kAny8To32);
    if (!kTurned) CheckPairs<Src>(*npu::current_core, op, element_row, element_col);
    if constexpr (kPairs && kTurned) {
      TurnToOperand(op, dst, src, row, col);
    } else {
      const Extent whole = ExtentOf(dst);
      CheckMove(op, dst, src, static_cast<int>(whole.rows), static_cast<int>(whole.cols), row, col);
      if constexpr (Src::isBoxedLayout) {
        // Boxes move whole; turned ones in squares of 16, of 8-bit elements 32.
        constexpr int kSquare = sizeof(T) == 1 ? 32 : 16;
        CheckOrigin(*npu::current_core, op, row, kTurned ? kSquare : Src::InnerRows, col,
                    kTurned ? kSquare : Src::InnerCols);
      }
      CopyRegion(dst, {0, 0, whole.rows, whole.cols}, src, static_cast<size_t>(row),
                 static_cast<size_t>(col));
    }
  });
}

/// Mat to Bias or Scaling: one row, bias of half or bfloat16 as float.
template <class Dst, class Src>
inline void MoveToTable(const void* call_site, Dst& dst, Src& src) {
  using To = typename Dst::DType;
  using In = typename Src::DType;
  constexpr bool kIsBias = Dst::Loc == TileType::Bias;
  constexpr bool kWiden = std::is_same_v<To, float> && npu::simd::kIsHalf<In>;
  static_assert(std::is_same_v<To, In> || (kIsBias && kWiden),
                "TMOV: expected one element type, or a bias of float from half or bfloat16");
  static_assert(kIsBias ? sizeof(To) == 4 : sizeof(To) == 8,
                "TMOV: expected a bias of int32 or float, scaling words of 64 bits");
  static_assert(!Src::isBoxedLayout && Src::Rows == 1 && Dst::Rows == 1,
                "TMOV: expected one row without boxes");
  const auto operands = [&](auto report) {
    report(npu::Work{static_cast<uint64_t>(dst.GetValidCol()), 0, 0},
           StartAccess(dst, 1, Dst::Cols, true), StartAccess(src, 1, Dst::Cols, false));
  };
  npu::Issue("TMOV", kIsBias ? npu::Pipe::kMte1 : npu::Pipe::kFix, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckMove("TMOV", dst, src, Dst::Rows, Dst::Cols, 0, 0);
    constexpr int kBurst = kIsBias ? 64 : 128;
    constexpr int kBytes = static_cast<int>(sizeof(In)) * Src::Cols;
    if (core.check_limits && kBytes % kBurst != 0) {
      RaiseMultiple("TMOV",
                    kIsBias ? "src with bytes for the bias" : "src with bytes for the scaling",
                    kBurst, kBytes);
    }
    if constexpr (kWiden) {
      npu::simd::Map(npu::simd::Identity{}, Dst::Cols, dst.data(), src.data());
    } else {
      CopyRegion(dst, {0, 0, 1, Dst::Cols}, src, 0, 0);
    }
  });
}

/// Acc to Mat over the valid region of dst, element by element through stage.
template <class Dst, class Src, class Stage, class... Fp>
inline void MoveAcc(const char* op, const void* call_site, Dst& dst, Src& src, int row, int col,
                    const Stage& stage, Fp&... fp) {
  static_assert(Dst::Loc == TileType::Mat && Src::Loc == TileType::Acc,
                "expected dst Mat and src Acc where a relu or quantization is asked for");
  static_assert(Order<Src>::kLinesAreRows, "expected an Acc tile of layout NZ");
  Region region = ValidRegion(dst);
  const auto operands = [&](auto report) {
    const Region from = {static_cast<size_t>(row), static_cast<size_t>(col), region.rows,
                         region.cols};
    report(npu::Work{region.rows * region.cols, 0, 0}, RegionAccess(dst, region, true),
           RegionAccess(src, from, false), RegionAccess(fp, {0, from.col, 1, from.cols}, false)...);
  };
  npu::Issue(op, npu::Pipe::kFix, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckMove(op, dst, src, static_cast<int>(region.rows), static_cast<int>(region.cols), row, col);
    (CheckWords(core, op, TileFacts(fp), col + static_cast<int>(region.cols)), ...);
    ConvertAcc(dst, region, src, row, col, stage);
  });
}

template <class A, class B>
inline constexpr bool kOneLayout = A::BFractal == B::BFractal && A::SFractal == B::SFractal;

/// Whether an accumulator goes where the chip takes it.
template <class Dst, class Src>
inline constexpr bool kLeavesAcc =
    Src::Loc == TileType::Acc && (Dst::Loc == TileType::Mat || Dst::Loc == TileType::Vec) &&
    Src::isBoxedLayout && !Src::isRowMajor && Src::isInnerRowMajor;

/// Elements of 4 bits whose lines change direction on their way to a compact tile.
template <class Dst, class Src>
inline constexpr bool kTurnsCompactPairs = kIsCompact<Dst> && kPacked<typename Dst::DType> != 1 &&
                                           kLinesAreRows<Dst> != kLinesAreRows<Src>;

/// Whether a core has a path from the space of Src to that of Dst.
template <class Dst, class Src>
constexpr bool HasPath() {
  if constexpr (is_conv_tile_v<Src>) {
    return true;
  } else {
    constexpr TileType kDst = Dst::Loc, kSrc = Src::Loc;
    if (kDst == TileType::Vec)
      return kSrc == TileType::Vec && sizeof(typename Dst::DType) == sizeof(typename Src::DType);
    if (kDst == TileType::Mat) return kLeavesAcc<Dst, Src>;
    return kSrc == TileType::Mat && kDst != TileType::Acc && !kTurnsCompactPairs<Dst, Src> &&
           (std::is_same_v<typename Dst::DType, typename Src::DType> || kDst == TileType::Bias);
  }
}

template <class Dst, class Src>
[[gnu::noinline]] void Move(Dst& dst, Src& src) {
  const void* call_site = __builtin_return_address(0);
  constexpr bool kFromMat = Src::Loc == TileType::Mat;
  if constexpr (kForHost && !HasPath<Dst, Src>()) {
    MoveOnHost("TMOV", call_site, dst, src);
  } else if constexpr (is_conv_tile_v<Src>) {
    MoveFilter("TMOV", call_site, dst, src, 0, 0);
  } else if constexpr (Dst::Loc == TileType::Vec && Src::Loc == TileType::Vec) {
    MoveVec("TMOV", call_site, dst, src, 0, 0, From::kStart);
  } else if constexpr (Dst::Loc == TileType::Mat && Src::Loc == TileType::Vec) {
    MoveVecToMat("TMOV", call_site, dst, 0, 0, src, ValidRegion(src));
  } else if constexpr (kFromMat && kIsOperand<Dst>) {
    MoveToOperand("TMOV", call_site, dst, src, 0, 0);
  } else if constexpr (kFromMat && (Dst::Loc == TileType::Bias || Dst::Loc == TileType::Scaling)) {
    MoveToTable(call_site, dst, src);
  } else if constexpr (Dst::Loc == TileType::Vec) {
    MoveAccToVec<AccToVecMode::SingleModeVec0>("TMOV", call_site, dst, src, 0, 0,
                                               PlainStage<ReluPreMode::NoRelu>{});
  } else {
    MoveAcc("TMOV", call_site, dst, src, 0, 0, PlainStage<ReluPreMode::NoRelu>{});
  }
}

template <class Stage, class Dst, class Src, class... Fp>
[[gnu::noinline]] void MoveThrough(const char* op, Dst& dst, Src& src, int row, int col,
                                   const Stage& stage, Fp&... fp) {
  const void* call_site = __builtin_return_address(0);
  if constexpr (kForHost && !kLeavesAcc<Dst, Src>) {
    ExtractOnHost(op, call_site, dst, src, row, col, stage, fp...);
  } else if constexpr (Dst::Loc == TileType::Vec) {
    constexpr auto kMode = AccToVecMode::SingleModeVec0;
    MoveAccToVec<kMode>(op, call_site, dst, src, row, col, stage, fp...);
  } else {
    MoveAcc(op, call_site, dst, src, row, col, stage, fp...);
  }
}

}  // namespace detail

/// dst = src, from space to space.
///   Vec to Vec      elements of one size in any two layouts, over the valid region that both have
///   Mat to Left, Right      one element type (int8, half, bfloat16, float; A5 also those of
///                           float8, hifloat8 and float4), the whole tile, in any two layouts
///   Mat to ScaleLeft, ScaleRight  on A5, float8_e8m0, the whole tile, in one layout
///                   from a ConvTile of layout FRACTAL_Z or FRACTAL_Z_3D, [C1, H, W, N, C0] or
///                   [C1HW, N1, N0, C0], to Right as a matrix of C1HW * C0 rows and N columns, over
///                   the valid region of dst in whole boxes
///   Mat to Bias     one row of int32 or float, or of half or bfloat16 as float; 64-byte multiples
///   Mat to Scaling  one row of 64-bit words; 128-byte multiples
///   Acc to Mat      over the valid region of dst; float to float, half or bfloat16 (nearest even),
///                   int32 to int32; kRelu replaces what is not positive by 0
///   Acc to Vec      the same, on A5, to vector core 0 of the block
///   Vec to Mat      on A5, one element type and layout, the valid region of src, to L1 of the cube
///                   core of the block; pipe MTE3
/// kPhase: see TSTORE. Pipes V; MTE1; FIX for Scaling and from Acc.
/// Source: PTO ISA, TMOV.
template <class Dst, class Src, class... Events,
          std::enable_if_t<is_any_tile_v<Src> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::Move(dst, src);
  npu::KeepCallSite();
  return {};
}
template <STPhase kPhase, class Dst, class Src, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  return TMOV(dst, src, events...);
}

/// Acc to Mat with a relu.
template <class Dst, class Src, ReluPreMode kRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::MoveThrough("TMOV", dst, src, 0, 0, detail::PlainStage<kRelu>{});
  npu::KeepCallSite();
  return {};
}
template <STPhase kPhase, class Dst, class Src, ReluPreMode kRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  return TMOV<Dst, Src, kRelu>(dst, src, events...);
}

/// Acc to Mat with quantization; quant and rounding as in TSTORE.
template <class Dst, class Src, ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, uint64_t quant,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::MoveThrough("TMOV", dst, src, 0, 0, detail::ScalarStage<kRelu>(quant));
  npu::KeepCallSite();
  return {};
}
template <STPhase kPhase, class Dst, class Src, ReluPreMode kRelu = ReluPreMode::NoRelu,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, uint64_t quant,
                                               Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  return TMOV<Dst, Src, kRelu>(dst, src, quant, events...);
}

/// Acc to Mat with a quantization word for each column of src.
template <class Dst, class Src, class Fp, ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV_FP(Dst& dst, Src& src, Fp& fp, Events&... events) {
  (events.Wait(), ...);
  detail::MoveThrough("TMOV_FP", dst, src, 0, 0, detail::StageOfWords<kRelu>(fp), fp);
  npu::KeepCallSite();
  return {};
}

template <STPhase kPhase, class Dst, class Src, class Fp, ReluPreMode kRelu = ReluPreMode::NoRelu,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV_FP(Dst& dst, Src& src, Fp& fp, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  return TMOV_FP<Dst, Src, Fp, kRelu>(dst, src, fp, events...);
}

}  // namespace pto
