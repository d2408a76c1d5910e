// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pto/instr/elementwise.hpp"

/// Tiles that are made of nothing but scalars.
namespace pto {

inline constexpr int PTO_RANDOM_KEY_SIZE = 2;
inline constexpr int PTO_RANDOM_COUNTER_SIZE = 4;
using TRandomKey = uint32_t[PTO_RANDOM_KEY_SIZE];
using TRandomCounter = uint32_t[PTO_RANDOM_COUNTER_SIZE];

namespace detail {

inline constexpr TypeRule kTriangle = {kInts16And32 | kHalf | kFloat,
                                       kAllInts | kHalf | kBfloat16 | kFloat};
inline constexpr TypeRule kRandomBits = {kInt32 | kUint32, kInt32 | kUint32};

template <bool kUpper, class Dst>
[[gnu::noinline]] void FillTriangle(Dst& dst, int diagonal) {
  using T = typename Dst::DType;
  static_assert(Dst::isRowMajor && !Dst::isBoxedLayout,
                "TTRI: expected a RowMajor tile without inner boxes");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report)
                            __attribute__((cold)) { report(ElementsOf(dst), Writes(dst)); };
  npu::Issue("TTRI", npu::Pipe::kV, call_site, operands, [&] {
    CheckElementwise<T>(*npu::current_core, "TTRI", kTriangle, dst);
    const auto lines = LinesOf(dst);
    const auto length = static_cast<int64_t>(lines.length);
    for (size_t row = 0; row < lines.count; ++row) {
      const int64_t end = static_cast<int64_t>(row) + diagonal + (kUpper ? 0 : 1);
      T* const turn = lines(row) + std::clamp<int64_t>(end, 0, length);
      std::fill(lines(row), turn, static_cast<T>(kUpper ? 0 : 1));
      std::fill(turn, lines(row) + length, static_cast<T>(kUpper ? 1 : 0));
    }
  });
}

/// Philox-4x32: four words of a counter of 128 bits, low word first.
struct Philox {
  uint32_t word[4];

  explicit Philox(const uint32_t* counter, uint32_t added) {
    uint64_t carry = added;
    for (int i = 0; i < 4; ++i) {
      carry += counter[i];
      word[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }

  void Mix(uint32_t key0, uint32_t key1, int rounds) {
    constexpr uint32_t kFactor0 = 0xd2511f53, kFactor1 = 0xcd9e8d57;
    constexpr uint32_t kStep0 = 0x9e3779b9, kStep1 = 0xbb67ae85;
    for (int round = 0; round < rounds; ++round) {
      const uint64_t product0 = uint64_t{word[0]} * kFactor0;
      const uint64_t product1 = uint64_t{word[2]} * kFactor1;
      word[0] = static_cast<uint32_t>(product1 >> 32) ^ word[1] ^ key0;
      word[2] = static_cast<uint32_t>(product0 >> 32) ^ word[3] ^ key1;
      word[1] = static_cast<uint32_t>(product1);
      word[3] = static_cast<uint32_t>(product0);
      key0 += kStep0;
      key1 += kStep1;
    }
  }
};

inline constexpr size_t kRandomLanes = 64;  // of a vector register: 256 bytes

/// Fills a row from counter on; returns by how much the chip advances it: a register for each one
/// that was filled, of the last one the lanes that the length leaves.
inline uint32_t FillRandomRow(uint32_t* row, size_t length, const uint32_t* counter,
                              const uint32_t* key, int rounds) {
  for (size_t at = 0; at < length; at += 4) {
    Philox words(counter, static_cast<uint32_t>(at / 4));
    words.Mix(key[0], key[1], rounds);
    std::copy_n(words.word, std::min<size_t>(4, length - at), row + at);
  }
  const size_t registers = (length + 4 * kRandomLanes - 1) / (4 * kRandomLanes);
  return static_cast<uint32_t>((registers - 1) * kRandomLanes + (length - 1) % kRandomLanes + 1);
}

template <class Dst>
[[gnu::noinline]] void FillRandom(Dst& dst, const uint32_t* key, const uint32_t* counter,
                                  int rounds) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t>,
                "TRANDOM: expected a dst of int32 or uint32");
  static_assert(Dst::isRowMajor && !Dst::isBoxedLayout,
                "TRANDOM: expected a RowMajor tile without inner boxes");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report)
                            __attribute__((cold)) { report(ElementsOf(dst), Writes(dst)); };
  npu::Issue("TRANDOM", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    if (core.check_limits && core.arch->generation == npu::Generation::kA3)
      npu::RaiseFault("TRANDOM", "a chip that makes random numbers (A5)", core.arch->soc);
    CheckElementwise<T>(core, "TRANDOM", kRandomBits, dst);
    const auto lines = LinesOf(dst);
    uint32_t now[PTO_RANDOM_COUNTER_SIZE];
    std::copy_n(counter, PTO_RANDOM_COUNTER_SIZE, now);
    for (size_t row = 0; row < lines.count; ++row) {
      const uint32_t advance =
          FillRandomRow(reinterpret_cast<uint32_t*>(lines(row)), lines.length, now, key, rounds);
      std::copy_n(Philox(now, advance).word, PTO_RANDOM_COUNTER_SIZE, now);
    }
  });
}

}  // namespace detail

/// dst[i, j] = 1 in the lower (kIsUpper 0: j <= i + diagonal) or upper (1: j >= i + diagonal)
/// triangle, else 0.
///   dst  Vec RowMajor tile. A2/A3: half, float, integers of 16 and 32 bits; A5 also bfloat16 and
///        the other integers.
/// Pipe V. Source: PTO ISA, TTRI.
template <class Dst, int kIsUpper, class... Events>
[[gnu::always_inline]] inline RecordEvent TTRI(Dst& dst, int diagonal, Events&... events) {
  static_assert(kIsUpper == 0 || kIsUpper == 1, "TTRI: expected 0 (lower) or 1 (upper)");
  (events.Wait(), ...);
  detail::FillTriangle<kIsUpper == 1>(dst, diagonal);
  npu::KeepCallSite();
  return {};
}

/// Random bits by Philox-4x32: elements 4 i to 4 i + 3 of a row are the words of counter + i. The
/// next row starts behind the registers of 256 elements that a row fills, 64 each, the last one
/// (columns - 1) % 64 + 1. On A5 alone.
///   dst      Vec RowMajor tile of int32 or uint32
///   key, counter  low words first; they stay
///   kRounds  10 or 7
/// Pipe V. Source: PTO ISA, TRANDOM.
template <uint16_t kRounds = 10, class Dst, class... Events>
[[gnu::always_inline]] inline RecordEvent TRANDOM(Dst& dst, TRandomKey& key,
                                                  TRandomCounter& counter, Events&... events) {
  static_assert(kRounds == 10 || kRounds == 7, "TRANDOM: expected 10 or 7 rounds");
  (events.Wait(), ...);
  detail::FillRandom(dst, key, counter, kRounds);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
