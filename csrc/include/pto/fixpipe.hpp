// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "npu/simd.hpp"
#include "pto/check.hpp"
#include "pto/copy_tile.hpp"
#include "pto/types.hpp"

/// What the pipe FIX does to the elements of an accumulator on their way out.
namespace pto::detail {

/// The 64-bit word that tells how to quantize. Source: PTO ISA, TSTORE.
struct QuantWord {
  float scale;
  int shift;       // bits 32 to 35, plus 1: of int32 into int16
  int offset;      // bits 37 to 45, two's complement
  bool into_int8;  // bit 46; else uint8

  /// scale_mask takes the bits of scale: all 32 where one word serves the tile, the upper 19 where
  /// each column has its own.
  static QuantWord Decode(uint64_t word, uint32_t scale_mask) {
    QuantWord quant = {};
    const uint32_t bits = static_cast<uint32_t>(word) & scale_mask;
    std::memcpy(&quant.scale, &bits, sizeof(bits));
    quant.shift = static_cast<int>(word >> 32 & 0xf) + 1;
    quant.offset = (static_cast<int>(word >> 37 & 0x1ff) ^ 0x100) - 0x100;
    quant.into_int8 = (word >> 46 & 1) != 0;
    return quant;
  }
};
inline constexpr uint32_t kScaleOfTile = 0xffffffff;
inline constexpr uint32_t kScaleOfColumn = 0xffffe000;

/// value held between low and high; NaN becomes low.
inline float Clamp(float value, float low, float high) {
  if (!(value > low)) return low;
  return value < high ? value : high;
}

/// Bit of the control register by which infinity and NaN become finite in moves that no chip has.
inline constexpr int kSaturatesInfinity = 48;

/// One element, scaled and brought into the range of Out: to integers round(value * scale), ties to
/// even, held to 9 bits, plus offset, held to 8 bits; to int16 value shifted right, held to 16
/// bits; to floats value * scale, of 8 and 16 bits held to their largest finite values. Without
/// kNineBits, in moves that no chip has, value * scale + offset, from 0 to 511, is rounded once.
template <bool kNineBits, class Out, class In>
inline Out Quantize(In value, const QuantWord& quant) {
  const float scaled = static_cast<float>(value) * quant.scale;
  if constexpr (std::is_same_v<Out, int16_t>) {
    static_assert(std::is_same_v<In, int32_t>, "quantization: expected int32 to int16");
    return static_cast<Out>(std::clamp<int32_t>(value >> quant.shift, INT16_MIN, INT16_MAX));
  } else if constexpr (std::is_same_v<Out, float>) {
    return scaled;
  } else if constexpr (std::is_integral_v<Out>) {
    static_assert(sizeof(Out) == 1,
                  "quantization: expected int8, uint8, int16 or a float type of the chip");
    const auto offset = static_cast<float>(kNineBits ? quant.offset : quant.offset & 0x1ff);
    const float nine_bits = Clamp(__builtin_nearbyintf(Clamp(scaled, -256, 255)), -256, 255);
    const float moved = kNineBits ? nine_bits + offset : __builtin_nearbyintf(scaled + offset);
    const float held = quant.into_int8 ? Clamp(moved, -128, 127) : Clamp(moved, 0, 255);
    return static_cast<Out>(static_cast<int>(held));
  } else {
    if (!kNineBits && !__builtin_isfinite(scaled)) {
      if ((npu::current_core->control >> kSaturatesInfinity & 1) == 0)
        return static_cast<Out>(scaled);
      if (scaled != scaled) return Out{};
    }
    return static_cast<Out>(scaled != scaled ? scaled
                                             : Clamp(scaled, -kLargest<Out>, kLargest<Out>));
  }
}

struct ReluLanes {
  npu::simd::Float operator()(npu::simd::Float value) const {
    return value > 0.0f ? value : npu::simd::Float{};
  }
  float operator()(float value) const { return value > 0.0f ? value : 0.0f; }
  int32_t operator()(int32_t value) const { return value > 0 ? value : 0; }
};

/// Converts count elements of an accumulator, rounded once to the type they go to.
template <ReluPreMode kRelu, class Out, class In>
inline void ConvertRun(Out* to, const In* from, size_t count) {
  static_assert(std::is_same_v<In, int32_t> == std::is_same_v<Out, int32_t> &&
                    (!std::is_integral_v<Out> || std::is_same_v<Out, int32_t>),
                "expected float to float, half or bfloat16, or int32 to int32, without a "
                "quantization word");
  if constexpr (kRelu == ReluPreMode::NormalRelu) {
    npu::simd::Map(ReluLanes{}, count, to, from);
  } else {
    npu::simd::Map(npu::simd::Identity{}, count, to, from);
  }
}

/// The same with quantization; word(i) is that of element i.
template <ReluPreMode kRelu, bool kNineBits, class Out, class In, class Word>
inline void QuantizeRun(Out* to, const In* from, size_t count, const Word& word) {
  for (size_t i = 0; i < count; ++i) {
    const Out value = Quantize<kNineBits, Out>(from[i], word(i));
    const bool cut = kRelu == ReluPreMode::NormalRelu && !(static_cast<float>(value) > 0.0f);
    to[i] = cut ? Out{} : value;
  }
}

/// How the elements of an accumulator become Out: plain, with one word, or with a word per column.
template <ReluPreMode kRelu>
struct PlainStage {
  template <class Out, class In>
  void operator()(size_t, Out* to, const In* from, size_t count) const {
    ConvertRun<kRelu>(to, from, count);
  }
};

template <ReluPreMode kRelu, bool kNineBits = true>
struct ScalarStage {
  QuantWord quant;

  explicit ScalarStage(uint64_t word) : quant(QuantWord::Decode(word, kScaleOfTile)) {}
  template <class Out, class In>
  void operator()(size_t, Out* to, const In* from, size_t count) const {
    QuantizeRun<kRelu, kNineBits>(to, from, count, [this](size_t) { return quant; });
  }
};

template <ReluPreMode kRelu, class Word, bool kNineBits = true>
struct VectorStage {
  static_assert(sizeof(Word) == 8, "expected a Scaling tile of 64-bit words");
  const Word* words;  // of the columns of the accumulator

  template <class Out, class In>
  void operator()(size_t column, Out* to, const In* from, size_t count) const {
    QuantizeRun<kRelu, kNineBits>(to, from, count, [this, column](size_t i) {
      return QuantWord::Decode(static_cast<uint64_t>(words[column + i]), kScaleOfColumn);
    });
  }
};

/// That of a tile of words. Programs for simulators also give tiles without, for moves that keep
/// the type of the elements.
template <ReluPreMode kRelu, class Fp>
auto StageOfWords(const Fp& fp) {
  using Word = typename Fp::DType;
  if constexpr (kForHost && sizeof(Word) != 8) {
    return PlainStage<kRelu>{};
  } else {
    return VectorStage<kRelu, Word>{fp.data()};
  }
}

/// The stage of a move that no chip has, of what is no accumulator.
template <class Stage>
const Stage& StageOnHost(const Stage& stage) {
  return stage;
}
template <ReluPreMode kRelu>
ScalarStage<kRelu, false> StageOnHost(const ScalarStage<kRelu>& stage) {
  ScalarStage<kRelu, false> host(0);
  host.quant = stage.quant;
  return host;
}
template <ReluPreMode kRelu, class Word>
VectorStage<kRelu, Word, false> StageOnHost(const VectorStage<kRelu, Word>& stage) {
  return {stage.words};
}

/// region of dst = the elements of src, an Acc tile, at row, col and on, through stage.
template <class Dst, class Src, class Stage>
inline void ConvertAcc(const Dst& dst, const Region& region, const Src& src, int row, int col,
                       const Stage& stage) {
  constexpr size_t kRun = 16;
  for (size_t r = 0; r < region.rows; ++r) {
    for (size_t c = 0; c < region.cols;) {
      const size_t src_col = static_cast<size_t>(col) + c;
      const size_t count = std::min(region.cols - c, kRun - src_col % kRun);
      typename Dst::DType out[kRun];
      const auto* from = ElementOf(src, static_cast<size_t>(row) + r, src_col);
      stage(src_col, out, from, count);
      for (size_t i = 0; i < count; ++i) {
        *ElementOf(dst, region.row + r, region.col + c + i) = out[i];
      }
      c += count;
    }
  }
}

NPU_ONE_BODY(NPU_RAISES void RaiseWords(const char* op, int expected, int got)) {
  npu::RaiseFault(op, "fp of at least " + npu::TextOf(expected) + " columns (those of src)",
                  npu::TextOf(got));
}

/// Faults unless fp has a quantization word for each of cols columns.
inline void CheckWords(const npu::Core& core, const char* op, const TileFacts& fp, int cols) {
  CheckTile(core, op, "fp", fp);
  if (__builtin_expect(fp.kind->cols < cols, 0)) RaiseWords(op, cols, fp.kind->cols);
}

}  // namespace pto::detail
