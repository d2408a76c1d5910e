// SPDX-License-Identifier: Apache-2.0
// Copies and fills of plain addresses.
#include <cstring>
#include <numeric>
#include <vector>

#include "elements.hpp"

namespace {

using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::OnCube;

std::vector<uint8_t> Numbers(size_t count) {
  std::vector<uint8_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), uint8_t{1});
  return numbers;
}

void* InUb(size_t offset) { return reinterpret_cast<void*>(offset); }

TEST(RawCopy, BlocksWithGaps) {
  const std::vector<uint8_t> from = Numbers(1024);
  std::vector<uint8_t> to(1024, 255);
  OnCore([&] {
    copy_gm_to_ubuf(InUb(64), from.data(), 0, 3, 2, 1, 0);  // 64 of every 96 bytes
    copy_ubuf_to_ubuf(InUb(4096), InUb(64), 0, 1, 6, 0, 0);
    copy_ubuf_to_gm(to.data(), InUb(4096), 0, 2, 3, 0, 2);
  });
  for (size_t i = 0; i < 1024; ++i) {
    const size_t burst = i / 160, within = i % 160;
    uint8_t expected = 255;
    if (burst < 2 && within < 96) {
      const size_t at = burst * 96 + within;
      expected = from[at / 64 * 96 + at % 64];
    }
    EXPECT_EQ(to[i], expected) << i;
  }
}

TEST(RawCopy, BytesInBlocksOfTheirOwn) {
  const std::vector<uint8_t> from = Numbers(256);
  std::vector<uint8_t> to(256, 255);
  OnCore([&] {
    copy_gm_to_ubuf_align_b8(InUb(0), from.data(), 0, 3, 33, 0, 0, 7, 1);  // 96 bytes apart in UB
    copy_ubuf_to_gm_align_b8(to.data(), InUb(96), 0, 2, 33, 0, 0, 1, 5);
  });
  for (size_t i = 0; i < 256; ++i) {
    const size_t burst = i / 38, within = i % 38;
    const bool written = burst < 2 && within < 33;
    EXPECT_EQ(to[i], written ? from[(burst + 1) * 40 + within] : 255) << i;
  }
}

TEST(RawCopy, AFillOfL1) {
  std::vector<uint32_t> to(24, 5);
  OnCube([&] {
    create_cbuf_matrix(nullptr, 1 | int64_t{3} << 16, 9);
    create_cbuf_matrix(nullptr, 2 | int64_t{1} << 16 | int64_t{1} << 32, 7);
    copy_cbuf_to_gm(to.data(), nullptr, 0, 1, 3, 0, 0);
  });
  for (size_t i = 0; i < 24; ++i) EXPECT_EQ(to[i], i / 8 == 1 ? 9u : 7u) << i;
}

TEST(RawCopy, AFillUnderTheMask) {
  std::vector<uint16_t> to(512);
  OnCore([&] {
    copy_gm_to_ubuf(InUb(0), to.data(), 0, 1, 32, 0, 0);
    auto* const start = static_cast<uint16_t*>(InUb(0));
    set_vector_mask(1, 0x8000000000000001);  // elements 0, 63 and 64 of 128
    vector_dup(start, uint16_t{3}, 2, 1, 1, 8, 8);
    set_mask_count();
    set_vector_mask(0, 20);
    vector_dup(start + 256, uint16_t{4}, 0, 2, 1, 8, 8);  // every other block
    set_mask_norm();
    set_vector_mask(~uint64_t{0}, ~uint64_t{0});
    copy_ubuf_to_gm(to.data(), InUb(0), 0, 1, 32, 0, 0);
  });
  for (size_t i = 0; i < 512; ++i) {
    const size_t lane = i % 128;
    uint16_t expected = i < 256 && (lane == 0 || lane == 63 || lane == 64) ? 3 : 0;
    if (i >= 256 && (i < 272 || (i >= 288 && i < 292))) expected = 4;
    EXPECT_EQ(to[i], expected) << i;
  }
}

TEST(RawCopy, WhatLiesOutsideIsNamed) {
  std::vector<uint8_t> memory(64);
  ExpectContains(
      FaultOf([&] { copy_gm_to_ubuf(InUb(192 * 1024 - 32), memory.data(), 0, 1, 2, 0, 0); }),
      "copy_gm_to_ubuf: expected an address of UB with 64 bytes up to its end");
  ExpectContains(FaultOf([&] { create_cbuf_matrix(nullptr, 0x10001, 1); }),
                 "create_cbuf_matrix: expected an address of L1");
  ExpectContains(
      FaultOf([] { vector_dup(static_cast<float*>(InUb(192 * 1024 - 64)), 1.0f, 1, 1, 1, 8, 8); }),
      "vector_dup: expected an address of UB with 256 bytes up to its end");
  ExpectContains(FaultOf([&] { copy_gm_to_ubuf(InUb(48), memory.data(), 0, 1, 2, 0, 0); }),
                 "copy_gm_to_ubuf: expected an address of UB of a multiple of 32 bytes, got 48");
  ExpectContains(FaultOf([] {
                   set_mask_count();
                   set_vector_mask(0, uint64_t{1} << 40);
                   vector_dup(static_cast<float*>(InUb(0)), 1.0f, 1, 1, 1, 8, 8);
                 }),
                 "vector_dup: expected a count of set_vector_mask of at most 49152 elements (those "
                 "of UB), got 1099511627776");
  OnCore([&] { copy_gm_to_ubuf(InUb(1 << 20), nullptr, 0, 0, 2, 0, 0); });  // no burst
}

}  // namespace
