// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/types.hpp"

/// How the pipe FIX converts the elements of an accumulator; those with a V take a word for each
/// column. Names and values of the chip's compiler.
enum QuantMode_t : uint8_t {
  NoQuant = 0,
  F322F16 = 1,
  VREQ8 = 8,
  REQ8 = 9,
  VDEQF16 = 10,
  DEQF16 = 11,
  F322BF16 = 16,
  VQF322B8_PRE = 23,
  QF322B8_PRE = 24,
  VQF322F16_PRE = 32,
  QF322F16_PRE = 33,
  VQF322BF16_PRE = 34,
  QF322BF16_PRE = 35,
  VQS322BF16_PRE = 40,
  QS322BF16_PRE = 41,
};

namespace pto {

enum ClipReluMode_t { NOCLIP_RELU, CLIP_RELU };
enum class LayoutMode_t : uint8_t { NZ2NZ, NZ2ND, NZ2DN };
enum class DequantType { SCALAR, TENSOR };

/// What a TPUSH of an accumulator does to it on the way. Source: PTO ISA, TPUSH.
template <LayoutMode_t kLayout = LayoutMode_t::NZ2ND, QuantMode_t kQuant = QuantMode_t::NoQuant,
          ReluPreMode kRelu = ReluPreMode::NoRelu, STPhase kPhase = STPhase::Unspecified,
          uint8_t kSubBlockId = 0, AtomicType kAtomic = AtomicType::AtomicNone,
          ClipReluMode_t kClipRelu = NOCLIP_RELU, bool kChannelSplit = false>
struct FixpipeParams {
  static constexpr LayoutMode_t LayoutMode = kLayout;
  static constexpr QuantMode_t QuantPre = kQuant;
  static constexpr ReluPreMode ReluMode = kRelu;
  static constexpr STPhase Phase = kPhase;
  static constexpr uint8_t SubBlockId = kSubBlockId;
  static constexpr AtomicType AtomicT = kAtomic;
  static constexpr ClipReluMode_t ClipReluMode = kClipRelu;
  static constexpr bool IsChannelSplit = kChannelSplit;
};

namespace detail {

constexpr bool IsVectorQuant(QuantMode_t mode) {
  return mode == VDEQF16 || mode == VQF322B8_PRE || mode == VREQ8 || mode == VQF322F16_PRE ||
         mode == VQF322BF16_PRE || mode == VQS322BF16_PRE;
}
constexpr bool IsPlain(QuantMode_t mode) {
  return mode == NoQuant || mode == F322F16 || mode == F322BF16;
}
constexpr bool GivesHalf(QuantMode_t mode) {
  return mode == F322F16 || mode == DEQF16 || mode == VDEQF16 || mode == QF322F16_PRE ||
         mode == VQF322F16_PRE;
}
constexpr bool GivesInt8(QuantMode_t mode) {
  return mode == QF322B8_PRE || mode == VQF322B8_PRE || mode == REQ8 || mode == VREQ8;
}

}  // namespace detail

/// The element type that kQuant makes of T.
template <QuantMode_t kQuant, class T>
using FixpipeConsDType_t = std::conditional_t<
    kQuant == NoQuant, T,
    std::conditional_t<detail::GivesHalf(kQuant), half,
                       std::conditional_t<detail::GivesInt8(kQuant), int8_t, bfloat16_t>>>;

}  // namespace pto
