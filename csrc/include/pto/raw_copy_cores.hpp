// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "pto/raw_copy.hpp"

/// Copies of bursts that A5 alone has: between the cores of a block, and with strides in bytes.
namespace pto::detail {

/// Bytes on another core of the block: an offset into buffer, which is null if that core has ended.
NPU_ONE_BODY(char* PlaceThere(const npu::Core& core, const char* op, npu::Space space,
                              std::byte* buffer, const void* address, int64_t bytes)) {
  const auto offset = reinterpret_cast<uintptr_t>(address);
  const auto capacity = static_cast<uint64_t>(core.arch->capacity[static_cast<int>(space)]);
  const auto size = static_cast<uint64_t>(bytes);
  if (offset > capacity || size > capacity - offset) {
    npu::RaiseFault(op,
                    "an address of " + npu::Text(npu::SpaceName(space)) + " with " +
                        npu::TextOf(bytes) + " bytes up to its end",
                    npu::TextOf(static_cast<uint64_t>(offset)));
  }
  if (core.check_limits && offset % npu::kTileAlignment != 0) {
    npu::RaiseFault(op,
                    "an address of " + npu::Text(npu::SpaceName(space)) + " of a multiple of " +
                        npu::TextOf(npu::kTileAlignment) + " bytes",
                    npu::TextOf(static_cast<uint64_t>(offset)));
  }
  return buffer == nullptr ? nullptr : reinterpret_cast<char*>(buffer) + offset;
}

NPU_ONE_BODY(void CheckMixedCore(const npu::Core& core, const char* op, npu::CoreType type)) {
  CheckIsA5(core, op);
  if (core.type == type && core.sub_block_num != 1) return;
  const bool wants_cube = type == npu::CoreType::kCube;
  npu::RaiseFault(op,
                  npu::Text(wants_cube ? "the cube core" : "a vector core") +
                      " of a kernel with cube and vector cores",
                  core.type == type ? "one of a kernel with one kind of core"
                                    : (wants_cube ? "a vector core" : "a cube core"));
}

/// From from_space of this core to to_space of another core of its block, which there(core) gives.
template <class There>
[[gnu::always_inline]] inline void CopyToCore(const char* op, npu::Pipe pipe, npu::CoreType type,
                                              npu::Space to_space, const void* to,
                                              npu::Space from_space, const void* from,
                                              const BlockBursts& blocks, const There& there) {
  const void* call_site = __builtin_return_address(0);
  const npu::Core& running = npu::RunningCore(op);
  const int64_t bytes = blocks.length * kBlockBytes;
  const int64_t to_step = bytes + blocks.to_gap * kBlockBytes;
  const int64_t from_step = bytes + blocks.from_gap * kBlockBytes;
  const bool is_empty = blocks.bursts <= 0 || bytes <= 0;
  const int64_t last = is_empty ? 0 : blocks.bursts - 1;
  const RawRange source = {op, from_space, RawPlace(running, from_space, from),
                           is_empty ? 0 : last * from_step + bytes};
  const auto operands = [&](auto report) {
    const auto moved = static_cast<uint64_t>(is_empty ? 0 : blocks.bursts * bytes);
    npu::Core& core = *npu::current_core;
    CheckMixedCore(core, op, type);
    char* target = is_empty
                       ? nullptr
                       : PlaceThere(core, op, to_space, there(core), to, last * to_step + bytes);
    const RawRange written = {op, to_space, target, target == nullptr ? 0 : source.bytes};
    report(npu::Work{0, moved, 0}, BurstAccess(written, to_step, blocks.bursts, bytes, true),
           BurstAccess(source, from_step, blocks.bursts, bytes, false));
  };
  npu::Issue(op, pipe, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckMixedCore(core, op, type);
    if (is_empty) return;
    CheckRawRange(core, source);
    char* target = PlaceThere(core, op, to_space, there(core), to, last * to_step + bytes);
    if (target == nullptr) return;  // that core has ended: nobody reads it
    for (int64_t i = 0; i < blocks.bursts; ++i) {
      std::memcpy(target + i * to_step, source.data + i * from_step, static_cast<size_t>(bytes));
    }
  });
}

NPU_ONE_BODY(void CopyToVector(void* to, const void* from, uint32_t core_index,
                               const BlockBursts& blocks)) {
  CopyToCore("copy_cbuf_to_ubuf", npu::Pipe::kMte1, npu::CoreType::kCube, kUb, to, kL1, from,
             blocks, [&](npu::Core& core) {
               if (core_index > 1) {
                 npu::RaiseFault("copy_cbuf_to_ubuf", "vector core 0 or 1",
                                 npu::TextOf(static_cast<int32_t>(core_index)));
               }
               return core.scheduler->VectorBuffer(core, core_index);
             });
}

NPU_ONE_BODY(void CopyToCube(void* to, const void* from, const BlockBursts& blocks)) {
  CopyToCore("copy_ubuf_to_cbuf", npu::Pipe::kMte3, npu::CoreType::kVector, kL1, to, kUb, from,
             blocks, [](npu::Core& core) { return core.scheduler->CubeBuffer(core); });
}

}  // namespace pto::detail

/// Bursts of length blocks of 32 bytes, gaps of blocks between them, from L1 to the UB of vector
/// core 0 or 1 of the block. Pipe MTE1. On A5 alone. Source: CCE intrinsics.
[[gnu::always_inline]] inline void copy_cbuf_to_ubuf(void* to, const void* from, uint8_t core,
                                                     uint16_t bursts, uint16_t length,
                                                     uint16_t from_gap, uint16_t to_gap) {
  pto::detail::CopyToVector(to, from, core, {bursts, length, from_gap, to_gap});
  npu::KeepCallSite();
}

/// The same from UB to L1 of the cube core of the block. Pipe MTE3.
[[gnu::always_inline]] inline void copy_ubuf_to_cbuf(void* to, const void* from, uint8_t,
                                                     uint16_t bursts, uint16_t length,
                                                     uint16_t from_gap, uint16_t to_gap) {
  pto::detail::CopyToCube(to, from, {bursts, length, from_gap, to_gap});
  npu::KeepCallSite();
}

/// Bursts of bytes, steps of bytes from one to the next. Pipes MTE3, MTE2. Source: CCE intrinsics
/// of A5.
[[gnu::always_inline]] inline void copy_ubuf_to_gm_align_v2(void* to, const void* from, uint8_t,
                                                            uint32_t bursts, uint32_t bytes,
                                                            uint8_t, uint64_t to_step,
                                                            uint32_t from_step) {
  using namespace pto::detail;
  CopyBursts("copy_ubuf_to_gm_align_v2", npu::Pipe::kMte3, {kGm, to, static_cast<int64_t>(to_step)},
             {kUb, from, from_step}, bursts, bytes);
  npu::KeepCallSite();
}
[[gnu::always_inline]] inline void copy_gm_to_cbuf_align_v2(void* to, const void* from, uint8_t,
                                                            uint32_t bursts, uint32_t bytes,
                                                            uint8_t, uint8_t, bool, uint8_t,
                                                            uint64_t from_step, uint32_t to_step) {
  using namespace pto::detail;
  CopyBursts("copy_gm_to_cbuf_align_v2", npu::Pipe::kMte2, {kL1, to, to_step},
             {kGm, from, static_cast<int64_t>(from_step)}, bursts, bytes);
  npu::KeepCallSite();
}
