// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "pto/raw_transfer.hpp"

/// Copies of bursts between plain addresses, and fills.
namespace pto::detail {

inline constexpr auto kUb = npu::Space::kUb, kGm = npu::Space::kGm, kL1 = npu::Space::kL1;
inline constexpr int64_t kBlockBytes = 32;  // in which lengths and gaps on the chip count

/// A side of a copy: bursts start step bytes apart.
struct RawSide {
  npu::Space space;
  const void* address;
  int64_t step;
};

/// What bursts touch of range, for observers.
inline npu::Access BurstAccess(const RawRange& range, int64_t step, int64_t bursts, int64_t bytes,
                               bool is_write) {
  const int64_t rows = range.bytes == 0 ? 0 : bursts;
  return {range.space,
          is_write,
          range.data,
          static_cast<size_t>(rows),
          static_cast<size_t>(bytes),
          static_cast<size_t>(step)};
}

NPU_ONE_BODY(void CopyBursts(const char* op, npu::Pipe pipe, const RawSide& to, const RawSide& from,
                             int64_t bursts, int64_t bytes)) {
  const void* call_site = __builtin_return_address(0);
  const npu::Core& core = npu::RunningCore(op);
  const bool is_empty = bursts <= 0 || bytes <= 0;
  const auto range = [&](const RawSide& side) {
    char* data = side.space == npu::Space::kGm
                     ? const_cast<char*>(static_cast<const char*>(side.address))
                     : RawPlace(core, side.space, side.address);
    return RawRange{op, side.space, data, is_empty ? 0 : (bursts - 1) * side.step + bytes};
  };
  const RawRange target = range(to), source = range(from);
  const auto operands = [&](auto report) {
    const auto moved = static_cast<uint64_t>(is_empty ? 0 : bursts * bytes);
    report(npu::Work{0, moved, 0}, BurstAccess(target, to.step, bursts, bytes, true),
           BurstAccess(source, from.step, bursts, bytes, false));
  };
  npu::Issue(op, pipe, call_site, operands, [&] {
    if (is_empty) return;
    CheckRawRange(*npu::current_core, source);
    CheckRawRange(*npu::current_core, target);
    for (int64_t i = 0; i < bursts; ++i) {
      std::memmove(target.data + i * to.step, source.data + i * from.step,
                   static_cast<size_t>(bytes));
    }
  });
}

NPU_ONE_BODY(void FillBlocks(void* address, int64_t config, uint32_t value)) {
  constexpr const char* kOp = "create_cbuf_matrix";
  const void* call_site = __builtin_return_address(0);
  const npu::Core& core = npu::RunningCore(kOp);
  const int64_t repeats = config & 0x7fff, bytes = (config >> 16 & 0x7fff) * kBlockBytes;
  const int64_t step = bytes + (config >> 32 & 0x7fff) * kBlockBytes;
  const bool is_empty = repeats == 0 || bytes == 0;
  const RawRange target = {kOp, npu::Space::kL1, RawPlace(core, npu::Space::kL1, address),
                           is_empty ? 0 : (repeats - 1) * step + bytes};
  const auto operands = [&](auto report) {
    report(npu::Work{0, static_cast<uint64_t>(repeats * bytes), 0},
           BurstAccess(target, step, repeats, bytes, true));
  };
  npu::Issue(kOp, npu::Pipe::kMte2, call_site, operands, [&] {
    if (is_empty) return;
    CheckRawRange(*npu::current_core, target);
    for (int64_t i = 0; i < repeats; ++i) {
      for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(sizeof(value))) {
        std::memcpy(target.data + i * step + at, &value, sizeof(value));
      }
    }
  });
}

/// Elements of a fill: those of the mask in each repeat of 256 bytes, or the first so many.
struct RawFill {
  int64_t repeats, block_step, repeat_step;  // steps in blocks of 32 bytes

  /// Calls use(offset in bytes) for each element of bytes.
  template <class Use>
  void ForEach(const npu::Core& core, int64_t bytes, const Use& use) const {
    const int64_t lanes = 256 / bytes, in_block = kBlockBytes / bytes;
    const auto count = static_cast<int64_t>(core.vector_mask[0]);
    const int64_t all = core.mask_counts ? (count + lanes - 1) / lanes : repeats;
    for (int64_t repeat = 0; repeat < all; ++repeat) {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const bool in_mask = core.mask_counts
                                 ? repeat * lanes + lane < count
                                 : (core.vector_mask[lane / 64 % 2] >> (lane % 64) & 1) != 0;
        if (!in_mask) continue;
        use((repeat * repeat_step + lane / in_block * block_step) * kBlockBytes +
            lane % in_block * bytes);
      }
    }
  }
};

NPU_ONE_BODY(void FillElements(void* address, const void* value, int64_t bytes,
                               const RawFill& fill)) {
  constexpr const char* kOp = "vector_dup";
  const void* call_site = __builtin_return_address(0);
  const npu::Core& core = npu::RunningCore(kOp);
  const auto capacity =
      static_cast<uint64_t>(core.arch->capacity[static_cast<int>(npu::Space::kUb)]);
  if (core.mask_counts && core.vector_mask[0] > capacity / static_cast<uint64_t>(bytes)) {
    npu::RaiseFault(kOp,
                    "a count of set_vector_mask of at most " +
                        npu::TextOf(capacity / static_cast<uint64_t>(bytes)) +
                        " elements (those of UB)",
                    npu::TextOf(core.vector_mask[0]));
  }
  int64_t end = 0;
  fill.ForEach(core, bytes, [&](int64_t offset) { end = std::max(end, offset + bytes); });
  const RawRange target = {kOp, npu::Space::kUb, RawPlace(core, npu::Space::kUb, address), end};
  const auto operands = [&](auto report) {
    npu::AccessList written;
    uint64_t elements = 0;
    fill.ForEach(core, bytes, [&](int64_t offset) {
      written.AddBytes(kUb, true, target.data + offset, static_cast<size_t>(bytes));
      ++elements;
    });
    report(npu::Work{elements, 0, 0}, written);
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    if (end == 0) return;
    CheckRawRange(*npu::current_core, target);
    fill.ForEach(core, bytes, [&](int64_t offset) {
      std::memcpy(target.data + offset, value, static_cast<size_t>(bytes));
    });
  });
}

/// Bursts of length blocks of 32 bytes, gaps of blocks between them.
struct BlockBursts {
  int64_t bursts, length, from_gap, to_gap;
};

[[gnu::always_inline]] inline void CopyBlocks(const char* op, npu::Pipe pipe, npu::Space to_space,
                                              const void* to, npu::Space from_space,
                                              const void* from, const BlockBursts& blocks) {
  const RawSide target = {to_space, to, (blocks.length + blocks.to_gap) * kBlockBytes};
  const RawSide source = {from_space, from, (blocks.length + blocks.from_gap) * kBlockBytes};
  CopyBursts(op, pipe, target, source, blocks.bursts, blocks.length * kBlockBytes);
}

}  // namespace pto::detail

/// Bursts of length blocks of 32 bytes, gaps of blocks between them. Pipes MTE2, MTE3, V. Source:
/// CCE intrinsics.
[[gnu::always_inline]] inline void copy_gm_to_ubuf(void* to, const void* from, uint8_t,
                                                   uint16_t bursts, uint16_t length,
                                                   uint16_t from_gap, uint16_t to_gap) {
  using namespace pto::detail;
  CopyBlocks("copy_gm_to_ubuf", npu::Pipe::kMte2, kUb, to, kGm, from,
             {bursts, length, from_gap, to_gap});
  npu::KeepCallSite();
}
[[gnu::always_inline]] inline void copy_ubuf_to_gm(void* to, const void* from, uint8_t,
                                                   uint16_t bursts, uint16_t length,
                                                   uint16_t from_gap, uint16_t to_gap) {
  using namespace pto::detail;
  CopyBlocks("copy_ubuf_to_gm", npu::Pipe::kMte3, kGm, to, kUb, from,
             {bursts, length, from_gap, to_gap});
  npu::KeepCallSite();
}
[[gnu::always_inline]] inline void copy_ubuf_to_ubuf(void* to, const void* from, uint8_t,
                                                     uint16_t bursts, uint16_t length,
                                                     uint16_t from_gap, uint16_t to_gap) {
  using namespace pto::detail;
  CopyBlocks("copy_ubuf_to_ubuf", npu::Pipe::kV, kUb, to, kUb, from,
             {bursts, length, from_gap, to_gap});
  npu::KeepCallSite();
}
[[gnu::always_inline]] inline void copy_cbuf_to_gm(void* to, const void* from, uint8_t,
                                                   uint16_t bursts, uint16_t length,
                                                   uint16_t from_gap, uint16_t to_gap) {
  using namespace pto::detail;
  CopyBlocks("copy_cbuf_to_gm", npu::Pipe::kMte3, kGm, to, kL1, from,
             {bursts, length, from_gap, to_gap});
  npu::KeepCallSite();
}

/// The same with bursts of bytes, and gaps of bytes in global memory; bursts start at blocks of UB.
/// Nothing is written into the rest of a block.
[[gnu::always_inline]] inline void copy_gm_to_ubuf_align_b8(void* to, const void* from, uint8_t,
                                                            uint16_t bursts, uint32_t bytes,
                                                            uint8_t, uint8_t, uint32_t from_gap,
                                                            uint32_t to_gap) {
  using namespace pto::detail;
  const int64_t blocks = (int64_t{bytes} + kBlockBytes - 1) / kBlockBytes + to_gap;
  CopyBursts("copy_gm_to_ubuf_align_b8", npu::Pipe::kMte2, {kUb, to, blocks * kBlockBytes},
             {kGm, from, int64_t{bytes} + from_gap}, bursts, bytes);
  npu::KeepCallSite();
}
[[gnu::always_inline]] inline void copy_ubuf_to_gm_align_b8(void* to, const void* from, uint8_t,
                                                            uint16_t bursts, uint32_t bytes,
                                                            uint8_t, uint8_t, uint32_t from_gap,
                                                            uint32_t to_gap) {
  using namespace pto::detail;
  const int64_t blocks = (int64_t{bytes} + kBlockBytes - 1) / kBlockBytes + from_gap;
  CopyBursts("copy_ubuf_to_gm_align_b8", npu::Pipe::kMte3, {kGm, to, int64_t{bytes} + to_gap},
             {kUb, from, blocks * kBlockBytes}, bursts, bytes);
  npu::KeepCallSite();
}

/// Fills blocks of L1 with value.
///   config  repeats, from bit 16 blocks in each, from bit 32 blocks between them
/// Pipe MTE2. Source: CCE intrinsics.
[[gnu::always_inline]] inline void create_cbuf_matrix(void* to, int64_t config, uint32_t value) {
  pto::detail::FillBlocks(to, config, value);
  npu::KeepCallSite();
}

/// Fills elements of UB under the mask with value, in repeats of 8 blocks.
///   block_step, repeat_step  blocks from one block, or repeat, to the next
/// Pipe V. Source: CCE intrinsics.
template <class T>
[[gnu::always_inline]] inline void vector_dup(T* to, T value, uint8_t repeats, uint16_t block_step,
                                              uint16_t, uint16_t repeat_step, uint16_t) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "vector_dup: expected elements of 2 or 4 bytes");
  pto::detail::FillElements(to, &value, sizeof(T), {repeats, block_step, repeat_step});
  npu::KeepCallSite();
}
