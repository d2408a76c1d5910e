// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "npu/simd_ops.hpp"
#include "pto/instr/elementwise.hpp"

/// Combinations of two tiles of which one may be smaller than dst.
namespace pto {

namespace detail {

inline constexpr TypeRule kPartProduct = {kArithmetic.a3, kArithmetic.a5 & ~(kInt64 | kUint64)};

NPU_ONE_BODY(NPU_RAISES void RaiseParts(const char* op, const TileFacts& dst, const TileFacts& src0,
                                        const TileFacts& src1)) {
  npu::RaiseFault(op,
                  "one of src0 and src1 of valid shape " +
                      TileFacts::Extent(dst.valid_rows, dst.valid_cols) +
                      " (that of dst) and the other within it",
                  TileFacts::Extent(src0.valid_rows, src0.valid_cols) + " and " +
                      TileFacts::Extent(src1.valid_rows, src1.valid_cols));
}

inline bool AreParts(const TileFacts& dst, const TileFacts& src0, const TileFacts& src1) {
  const auto fills = [&](const TileFacts& src) {
    return src.valid_rows == dst.valid_rows && src.valid_cols == dst.valid_cols;
  };
  const auto fits = [&](const TileFacts& src) {
    return src.valid_rows <= dst.valid_rows && src.valid_cols <= dst.valid_cols;
  };
  return (fills(src0) && fits(src1)) || (fills(src1) && fits(src0));
}

/// Faults unless src0 or src1 fills dst and the other lies within it.
NPU_ONE_BODY(void CheckParts(const npu::Core& core, const char* op, const TileFacts& dst,
                             const TileFacts& src0, const TileFacts& src1)) {
  CheckTile(core, op, "dst", dst);
  CheckTile(core, op, "src0", src0);
  CheckTile(core, op, "src1", src1);
  if (core.check_limits && !AreParts(dst, src0, src1)) RaiseParts(op, dst, src0, src1);
}

/// The elements of a row of src that lie in the valid region of dst.
template <class T>
struct PartOfRow {
  const T* data;
  size_t count;

  template <class Lines>
  PartOfRow(const Lines& src, size_t row, size_t limit)
      : data(row < src.count ? src(row) : nullptr),
        count(row < src.count ? std::min(src.length, limit) : 0) {}

  /// Copies what lies behind the first elements.
  void CopyRest(T* to, size_t first) const {
    if (count > first) std::memmove(to + first, data + first, (count - first) * sizeof(T));
  }
};

template <class F, class Dst, class Src0, class Src1>
void MapParts(const F& f, const Dst& dst, const Src0& src0, const Src1& src1) {
  using T = typename Dst::DType;
  static_assert(Dst::isRowMajor && !Dst::isBoxedLayout && Src0::isRowMajor &&
                    !Src0::isBoxedLayout && Src1::isRowMajor && !Src1::isBoxedLayout,
                "expected RowMajor tiles without inner boxes");
  const auto to = LinesOf(dst);
  const auto from0 = LinesOf(src0);
  const auto from1 = LinesOf(src1);
  for (size_t row = 0; row < to.count; ++row) {
    const PartOfRow<T> a(from0, row, to.length), b(from1, row, to.length);
    const size_t both = std::min(a.count, b.count);
    if (both != 0) npu::simd::Map(f, both, to(row), a.data, b.data);
    a.CopyRest(to(row), both);
    b.CopyRest(to(row), both);
  }
}

template <const TypeRule& kRule, class F, class Dst, class Src0, class Src1>
[[gnu::noinline]] void CombineParts(const char* op, F f, Dst& dst, Src0& src0, Src1& src1) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<T, typename Src0::DType> && std::is_same_v<T, typename Src1::DType>,
                "expected tiles of one element type");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    report(ElementsOf(dst), Writes(dst), Reads(src0), Reads(src1));
  };
  npu::Issue(op, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, op, kRule);
    if constexpr (!IsComputed<T>(kRule)) RaiseType(core, op, kRule.a5, kTypeName<T>);
    CheckParts(core, op, TileFacts(dst), TileFacts(src0), TileFacts(src1));
    if constexpr (IsComputed<T>(kRule)) MapParts(f, dst, src0, src1);
  });
}

NPU_ONE_BODY(NPU_RAISES void RaiseIndexShape(const char* op, const char* operand,
                                             const TileFacts& values, const TileFacts& indices)) {
  npu::RaiseFault(op,
                  npu::Text(operand) + " of valid shape " +
                      TileFacts::Extent(values.valid_rows, values.valid_cols) +
                      " (that of its values)",
                  TileFacts::Extent(indices.valid_rows, indices.valid_cols));
}

/// Faults unless indices has the valid shape of the values that it belongs to.
NPU_ONE_BODY(void CheckIndices(const npu::Core& core, const char* op, const char* operand,
                               const TileFacts& values, const TileFacts& indices)) {
  CheckTile(core, op, operand, indices);
  const bool same =
      indices.valid_rows == values.valid_rows && indices.valid_cols == values.valid_cols;
  if (core.check_limits && !same) RaiseIndexShape(op, operand, values, indices);
}

/// A tile of values and one of their indices.
template <class Value, class Index>
struct Indexed {
  using T = typename Value::DType;
  using I = typename Index::DType;
  static_assert(std::is_same_v<T, half> || std::is_same_v<T, float>,
                "expected values of half or float");
  static_assert(std::is_integral_v<I> && (sizeof(I) == 4 || sizeof(I) == sizeof(T)),
                "expected indices of 32 bits, or of 16 with half");
  static_assert(Value::isRowMajor && !Value::isBoxedLayout && Index::isRowMajor &&
                    !Index::isBoxedLayout,
                "expected RowMajor tiles without inner boxes");
  Value& value;
  Index& index;
};

/// True where the pair of src0 is taken. With NaN: src1 on A2/A3, src0 on A5.
template <bool kGreatest>
struct FirstWins {
  bool is_a3;
  bool operator()(float first, float second) const {
    if (is_a3) return kGreatest ? first >= second : first <= second;
    return !(kGreatest ? second > first : second < first);
  }
};

template <class Wins, class Dst, class Src0, class Src1>
void PickParts(const Wins& wins, const Dst& dst, const Src0& src0, const Src1& src1) {
  using T = typename Dst::T;
  using I = typename Dst::I;
  const auto to = LinesOf(dst.value);
  const auto to_index = LinesOf(dst.index);
  const auto from0 = LinesOf(src0.value), from1 = LinesOf(src1.value);
  const auto indices0 = LinesOf(src0.index), indices1 = LinesOf(src1.index);
  const size_t length = std::min(to.length, to_index.length);
  for (size_t row = 0; row < std::min(to.count, to_index.count); ++row) {
    const PartOfRow<T> a(from0, row, length), b(from1, row, length);
    const PartOfRow<I> a_index(indices0, row, a.count), b_index(indices1, row, b.count);
    const size_t both = std::min(a_index.count, b_index.count);
    for (size_t i = 0; i < both; ++i) {
      const bool first = wins(a.data[i], b.data[i]);
      const I index = first ? a_index.data[i] : b_index.data[i];
      to(row)[i] = first ? a.data[i] : b.data[i];
      to_index(row)[i] = index;
    }
    a.CopyRest(to(row), both);
    b.CopyRest(to(row), both);
    a_index.CopyRest(to_index(row), both);
    b_index.CopyRest(to_index(row), both);
  }
}

template <bool kGreatest, class Dst, class Src0, class Src1>
[[gnu::noinline]] void CombineIndexed(const char* op, Dst dst, Src0 src0, Src1 src1) {
  static_assert(std::is_same_v<typename Dst::T, typename Src0::T> &&
                    std::is_same_v<typename Dst::T, typename Src1::T> &&
                    std::is_same_v<typename Dst::I, typename Src0::I> &&
                    std::is_same_v<typename Dst::I, typename Src1::I>,
                "expected values of one type and indices of one type");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    report(ElementsOf(dst.value), Writes(dst.value), Writes(dst.index), Reads(src0.value),
           Reads(src0.index), Reads(src1.value), Reads(src1.index));
  };
  npu::Issue(op, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    const TileFacts dst_facts(dst.value), src0_facts(src0.value), src1_facts(src1.value);
    CheckParts(core, op, dst_facts, src0_facts, src1_facts);
    CheckIndices(core, op, "dst_index", dst_facts, TileFacts(dst.index));
    CheckIndices(core, op, "src0_index", src0_facts, TileFacts(src0.index));
    CheckIndices(core, op, "src1_index", src1_facts, TileFacts(src1.index));
    const bool is_a3 = core.arch->generation == npu::Generation::kA3;
    PickParts(FirstWins<kGreatest>{is_a3}, dst, src0, src1);
  });
}

}  // namespace detail

/// dst[i, j] = src0[i, j] + src1[i, j] where both are valid, else the one that is, as it is.
///   dst, src0, src1  Vec RowMajor tiles of one dtype. One source has the valid shape of dst, the
///                    other lies within it and may be empty. A2/A3: half, float, int16, int32; A5
///                    also bfloat16 and the other integers.
/// Rounding and edges as TADD. Pipe V. Source: PTO ISA, TPARTADD.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TPARTADD(Dst& dst, Src0& src0, Src1& src1,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::CombineParts<detail::kArithmetic>("TPARTADD", npu::simd::Add{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] * src1[i, j] where both are valid, else the one that is. Operands as
/// TPARTADD, on A5 no integers of 64 bits. Source: PTO ISA, TPARTMUL.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TPARTMUL(Dst& dst, Src0& src0, Src1& src1,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::CombineParts<detail::kPartProduct>("TPARTMUL", npu::simd::Mul{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = the greater of src0[i, j] and src1[i, j], as TMAX, where both are valid, else the
/// one that is. Operands as TPARTADD. Source: PTO ISA, TPARTMAX.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TPARTMAX(Dst& dst, Src0& src0, Src1& src1,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::CombineParts<detail::kArithmetic>("TPARTMAX", npu::simd::Max{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = the lesser of src0[i, j] and src1[i, j], as TMIN, where both are valid, else the one
/// that is. Operands as TPARTADD. Source: PTO ISA, TPARTMIN.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TPARTMIN(Dst& dst, Src0& src0, Src1& src1,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::CombineParts<detail::kArithmetic>("TPARTMIN", npu::simd::Min{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] and dst_index[i, j] = those of src0 where src0[i, j] >= src1[i, j] or src0 alone is
/// valid, else those of src1. With NaN: src1 on A2/A3, src0 on A5.
///   dst, src0, src1  Vec RowMajor tiles of half or float, shapes as TPARTADD
///   dst_index, src0_index, src1_index  Vec RowMajor tiles of one integer type of 32 bits, or 16
///                                      where values are half; each of the valid shape of its
///                                      values
/// Pipe V. Source: PTO ISA, TPARTARGMAX.
template <class Dst, class Src0, class Src1, class DstIndex, class Src0Index, class Src1Index,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TPARTARGMAX(Dst& dst, Src0& src0, Src1& src1,
                                                      DstIndex& dst_index, Src0Index& src0_index,
                                                      Src1Index& src1_index, Events&... events) {
  (events.Wait(), ...);
  detail::CombineIndexed<true>("TPARTARGMAX", detail::Indexed<Dst, DstIndex>{dst, dst_index},
                               detail::Indexed<Src0, Src0Index>{src0, src0_index},
                               detail::Indexed<Src1, Src1Index>{src1, src1_index});
  npu::KeepCallSite();
  return {};
}

/// The same by src0[i, j] <= src1[i, j]. Source: PTO ISA, TPARTARGMIN.
template <class Dst, class Src0, class Src1, class DstIndex, class Src0Index, class Src1Index,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TPARTARGMIN(Dst& dst, Src0& src0, Src1& src1,
                                                      DstIndex& dst_index, Src0Index& src0_index,
                                                      Src1Index& src1_index, Events&... events) {
  (events.Wait(), ...);
  detail::CombineIndexed<false>("TPARTARGMIN", detail::Indexed<Dst, DstIndex>{dst, dst_index},
                                detail::Indexed<Src0, Src0Index>{src0, src0_index},
                                detail::Indexed<Src1, Src1Index>{src1, src1_index});
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
