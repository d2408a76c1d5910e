// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "pto/copy_tile.hpp"
#include "pto/fixpipe.hpp"
#include "pto/instr/move_acc_vec.hpp"
#include "pto/instr/move_conv.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

inline constexpr uint32_t kLeftRightTypes = kInt8 | kHalf | kBfloat16 | kFloat;

template <class TileT>
inline Region ValidRegion(const TileT& tile) {
  return {0, 0, static_cast<size_t>(std::clamp(tile.GetValidRow(), 0, TileT::Rows)),
          static_cast<size_t>(std::clamp(tile.GetValidCol(), 0, TileT::Cols))};
}

/// Faults unless both tiles are good and src holds dst at row, col.
template <class Dst, class Src>
inline void CheckMove(const char* op, const Dst& dst, const Src& src, int rows, int cols, int row,
                      int col) {
  const npu::Core& core = *npu::current_core;
  CheckTile(core, op, "dst", dst);
  CheckTile(core, op, "src", src);
  CheckSubregion(op, dst, rows, cols, src, row, col);
}

/// Where a copy between Vec tiles starts in src.
enum class From : uint8_t { kStart, kBlock, kAnywhere };

/// Vec to Vec over the valid region of dst; from the start over what both tiles have.
template <class Dst, class Src>
inline void MoveVec(const char* op, const void* call_site, Dst& dst, Src& src, int row, int col,
                    From start) {
  using T = typename Dst::DType;
  static_assert(sizeof(T) == sizeof(typename Src::DType),
                "expected Vec tiles of elements of one size");
  Region region = ValidRegion(dst);
  if (start == From::kStart) {
    const Region other = ValidRegion(src);
    region.rows = std::min(region.rows, other.rows);
    region.cols = std::min(region.cols, other.cols);
  }
  const Region from = {static_cast<size_t>(row), static_cast<size_t>(col), region.rows,
                       region.cols};
  const auto operands = [&](auto report) {
    report(npu::Work{region.rows * region.cols, 0, 0}, RegionAccess(dst, region, true),
           RegionAccess(src, from, false));
  };
  npu::Issue(op, npu::Pipe::kV, call_site, operands, [&] {
    CheckMove(op, dst, src, static_cast<int>(region.rows), static_cast<int>(region.cols), row, col);
    constexpr int kBlock = static_cast<int>(npu::kTileAlignment / sizeof(T));
    // A single element goes by the scalar pipe, from anywhere.
    if (start == From::kBlock && (region.rows != 1 || region.cols != 1)) {
      CheckOrigin(*npu::current_core, op, row, Src::isBoxedLayout ? 16 : 1, col, kBlock);
    }
    CopyRegion(dst, region, src, from.row, from.col);
  });
}

/// Mat to Left or Right: the whole extent of dst, of a compact one its valid region in whole boxes.
template <class Dst, class Src>
inline void MoveToOperand(const char* op, const void* call_site, Dst& dst, Src& src, int row,
                          int col) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<T, typename Src::DType>, "expected tiles of one element type");
  const auto operands = [&](auto report) {
    const Region valid = ValidRegion(dst);
    const Region from = {static_cast<size_t>(row), static_cast<size_t>(col), valid.rows,
                         valid.cols};
    report(npu::Work{valid.rows * valid.cols, 0, 0}, RegionAccess(dst, valid, true),
           RegionAccess(src, from, false));
  };
  npu::Issue(op, npu::Pipe::kMte1, call_site, operands, [&] {
    CheckType<T>(*npu::current_core, op, {kLeftRightTypes, kLeftRightTypes});
    const Extent whole = ExtentOf(dst);
    CheckMove(op, dst, src, static_cast<int>(whole.rows), static_cast<int>(whole.cols), row, col);
    constexpr int kC0 = static_cast<int>(npu::kTileAlignment / sizeof(T));
    constexpr bool kTurned = Dst::SFractal != Src::SFractal;
    if constexpr (Src::isBoxedLayout) {
      // Boxes move whole; turned ones in squares of 16, of 8-bit elements 32.
      constexpr int kSquare = sizeof(T) == 1 ? 32 : 16;
      constexpr bool kRowMajor = Src::isInnerRowMajor;
      CheckOrigin(*npu::current_core, op, row, kTurned ? kSquare : (kRowMajor ? 16 : kC0), col,
                  kTurned ? kSquare : (kRowMajor ? kC0 : 16));
    }
    CopyRegion(dst, {0, 0, whole.rows, whole.cols}, src, static_cast<size_t>(row),
               static_cast<size_t>(col));
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
    report(npu::Work{static_cast<uint64_t>(dst.GetValidCol()), 0, 0}, Writes(dst), Reads(src));
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
           RegionAccess(src, from, false), Reads(fp)...);
  };
  npu::Issue(op, npu::Pipe::kFix, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckMove(op, dst, src, static_cast<int>(region.rows), static_cast<int>(region.cols), row, col);
    (CheckWords(core, op, TileFacts(fp), col + static_cast<int>(region.cols)), ...);
    ConvertAcc(dst, region, src, row, col, stage);
  });
}

template <class Dst, class Src>
[[gnu::noinline]] void Move(Dst& dst, Src& src) {
  const void* call_site = __builtin_return_address(0);
  constexpr bool kFromMat = Src::Loc == TileType::Mat;
  if constexpr (is_conv_tile_v<Src>) {
    MoveFilter("TMOV", call_site, dst, src, 0, 0);
  } else if constexpr (Dst::Loc == TileType::Vec && Src::Loc == TileType::Vec) {
    MoveVec("TMOV", call_site, dst, src, 0, 0, From::kStart);
  } else if constexpr (kFromMat && (Dst::Loc == TileType::Left || Dst::Loc == TileType::Right)) {
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
  if constexpr (Dst::Loc == TileType::Vec) {
    constexpr auto kMode = AccToVecMode::SingleModeVec0;
    MoveAccToVec<kMode>(op, call_site, dst, src, row, col, stage, fp...);
  } else {
    MoveAcc(op, call_site, dst, src, row, col, stage, fp...);
  }
}

}  // namespace detail

/// dst = src, from space to space.
///   Vec to Vec      elements of one size in any two layouts, over the valid region that both have
///   Mat to Left, Right      one element type (int8, half, bfloat16, float), the whole tile, in any
///                           two layouts
///                   from a ConvTile of layout FRACTAL_Z or FRACTAL_Z_3D, [C1, H, W, N, C0] or
///                   [C1HW, N1, N0, C0], to Right as a matrix of C1HW * C0 rows and N columns, over
///                   the valid region of dst in whole boxes
///   Mat to Bias     one row of int32 or float, or of half or bfloat16 as float; 64-byte multiples
///   Mat to Scaling  one row of 64-bit words; 128-byte multiples
///   Acc to Mat      over the valid region of dst; float to float, half or bfloat16 (nearest even),
///                   int32 to int32; kRelu replaces what is not positive by 0
///   Acc to Vec      the same, on A5, to vector core 0 of the block
/// kPhase of the unit flag changes nothing. Pipes V; MTE1; FIX for Scaling and from Acc.
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
  return TMOV<Dst, Src, kRelu>(dst, src, quant, events...);
}

/// Acc to Mat with a quantization word for each column of src.
template <class Dst, class Src, class Fp, ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV_FP(Dst& dst, Src& src, Fp& fp, Events&... events) {
  using Word = typename Fp::DType;
  (events.Wait(), ...);
  detail::MoveThrough("TMOV_FP", dst, src, 0, 0, detail::VectorStage<kRelu, Word>{fp.data()}, fp);
  npu::KeepCallSite();
  return {};
}

template <STPhase kPhase, class Dst, class Src, class Fp, ReluPreMode kRelu = ReluPreMode::NoRelu,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TMOV_FP(Dst& dst, Src& src, Fp& fp, Events&... events) {
  return TMOV_FP<Dst, Src, Fp, kRelu>(dst, src, fp, events...);
}

}  // namespace pto
