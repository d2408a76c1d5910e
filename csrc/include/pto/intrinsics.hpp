// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <type_traits>

#include "pto/cross_core.hpp"

/// Scalar intrinsics of the chip's compiler that kernels call by name.

enum mem_dsb_t : int { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };
enum class cache_line_t : int { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class dcci_dst_t : int { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
inline constexpr cache_line_t SINGLE_CACHE_LINE = cache_line_t::SINGLE_CACHE_LINE;
inline constexpr cache_line_t ENTIRE_DATA_CACHE = cache_line_t::ENTIRE_DATA_CACHE;
inline constexpr dcci_dst_t CACHELINE_ALL = dcci_dst_t::CACHELINE_ALL;
inline constexpr dcci_dst_t CACHELINE_UB = dcci_dst_t::CACHELINE_UB;
inline constexpr dcci_dst_t CACHELINE_OUT = dcci_dst_t::CACHELINE_OUT;
inline constexpr dcci_dst_t CACHELINE_ATOMIC = dcci_dst_t::CACHELINE_ATOMIC;

namespace pto::detail {

/// Tells of an access of the scalar pipe to global memory that caches do not keep: what polls and
/// what it waits for are no conflict.
template <class T>
[[gnu::always_inline]] inline void ReportUncached(const char* op, bool is_write,
                                                  const volatile T* element) {
  if (npu::IsObserved()) {
    npu::ReportScalar(op, {npu::Space::kGm, is_write, const_cast<const T*>(element), 1, sizeof(T),
                           sizeof(T), true});
  }
}

/// Lets other cores run: who calls it may poll memory.
NPU_ONE_BODY(void LetOthersRun(const char* op)) {
  npu::Core& core = npu::RunningCore(op);
  npu::CountInstruction(core);
  core.scheduler->Yield(core, op);
}

NPU_ONE_BODY(NPU_RAISES void Trap()) {
  npu::CountInstruction(npu::RunningCore("trap"));
  npu::RaiseFault("trap", "a kernel that runs to its end", "one that stops itself");
}

}  // namespace pto::detail

/// Cache maintenance of the scalar pipe; emulated caches are coherent. A kernel that polls memory
/// calls it, so other cores run meanwhile.
template <class... Options>
inline void dcci(const volatile void*, Options...) {
  pto::detail::LetOthersRun("dcci");
  asm volatile("" ::: "memory");  // what is polled is read again
}

/// Waits for earlier memory accesses of the scalar pipe. Emulated ones are in order.
inline void dsb(mem_dsb_t) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/// Loads of instructions ahead of their use, and whether one is under way: emulated code is there.
inline void preload(const volatile void*, int64_t) {}
inline int64_t get_icache_prl_st() { return 0; }

/// A counter of 50 MHz. A kernel that waits for it to advance polls, so other cores run meanwhile.
inline int64_t get_sys_cnt() {
  pto::detail::LetOthersRun("get_sys_cnt");
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 50000000 + now.tv_nsec / 20;
}

/// A number that no other core of its kind has while the kernel runs on this one.
inline int64_t get_coreid() {
  npu::Core& core = npu::RunningCore("get_coreid");
  npu::CountInstruction(core);
  return core.scheduler->CoreId(core);
}

/// The control register: a number that is kept until the kernel ends. No instruction looks at it.
inline uint64_t get_ctrl() { return npu::RunningCore("get_ctrl").control; }
inline void set_ctrl(uint64_t value) { npu::CoreToClear("set_ctrl").control = value; }
constexpr uint64_t sbitset0(uint64_t value, int64_t bit) {
  return value & ~(uint64_t{1} << (bit & 63));
}
constexpr uint64_t sbitset1(uint64_t value, int64_t bit) {
  return value | uint64_t{1} << (bit & 63);
}

/// Masks of vector instructions on plain addresses: bits of the elements of a repeat, or how many
/// elements there are. Tile instructions take their extent from the valid region.
inline void set_mask_norm() { npu::CoreToClear("set_mask_norm").mask_counts = false; }
inline void set_mask_count() { npu::CoreToClear("set_mask_count").mask_counts = true; }
inline void set_vector_mask(uint64_t high, uint64_t low) {
  npu::Core& core = npu::CoreToClear("set_vector_mask");
  core.vector_mask[0] = low;
  core.vector_mask[1] = high;
}
namespace pto {
/// All elements of a repeat, whatever their type.
template <class T>
inline void SetFullVecMaskByDType() {
  set_vector_mask(~uint64_t{0}, ~uint64_t{0});
}
}  // namespace pto

/// Quantization of the next TPUSH, as SET_QUANT_SCALAR and SET_QUANT_VECTOR set it: the word, and
/// where in FB the words of the columns start, in 128 bytes, from bit 8 on.
inline void set_quant_pre(uint64_t word) { npu::CoreToClear("set_quant_pre").quant_word = word; }
inline void set_fpc(uint64_t config) {
  npu::CoreToClear("set_fpc").quant_table = (config >> 8 & 0xff) << 7;
}

/// Stops the kernel with a fault.
inline void trap() { pto::detail::Trap(); }

/// What a tile register names, an address already.
template <class T>
inline T* __cce_get_tile_ptr(T* tile) {
  return tile;
}

/// Reads and writes of global memory past the caches.
///   offset  bytes from address
/// st_dev to the address of set_ffts_base_addr sets a cross-core flag; value is its message.
template <class T>
[[gnu::always_inline]] inline T ld_dev(const volatile T* address, int64_t offset) {
  pto::detail::LetOthersRun("ld_dev");
  const auto* from =
      reinterpret_cast<const volatile T*>(reinterpret_cast<const volatile char*>(address) + offset);
  pto::detail::ReportUncached("ld_dev", false, from);
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
template <class Value, class T>
[[gnu::always_inline]] inline void st_dev(Value value, volatile T* address, int64_t offset) {
  npu::Core& core = npu::RunningCore("st_dev");
  const auto base = reinterpret_cast<uintptr_t>(address);
  if (base != 0 && base == core.flag_base) {
    pto::detail::SetCrossCore("st_dev", PIPE_S, static_cast<uint64_t>(value));
    return;
  }
  npu::CountInstruction(core);
  auto* to = reinterpret_cast<volatile T*>(base + static_cast<uintptr_t>(offset));
  T element = static_cast<T>(value);
  pto::detail::ReportUncached("st_dev", true, to);
  __atomic_store(to, &element, __ATOMIC_RELEASE);
}

/// *address += value, at once; returns what was there.
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
[[gnu::always_inline]] inline T atomicAdd(T* address, T value) {
  pto::detail::LetOthersRun("atomicAdd");
  pto::detail::ReportUncached("atomicAdd", true, address);
  return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
}

enum st_atomic_type_t : int {
  ATOMIC_NONE,
  ATOMIC_F32,
  ATOMIC_F16,
  ATOMIC_S16,
  ATOMIC_S32,
  ATOMIC_S8,
  ATOMIC_BF16
};
enum st_atomic_op_t : int { ATOMIC_SUM };

/// What st_atomic does; of its operations there is the sum of integers.
inline void set_st_atomic_cfg(st_atomic_type_t, st_atomic_op_t) {}
template <class T>
[[gnu::always_inline]] inline void st_atomic(T value, T* address) {
  static_assert(std::is_integral_v<T>, "st_atomic: expected an integer");
  npu::CountInstruction(npu::RunningCore("st_atomic"));
  pto::detail::ReportUncached("st_atomic", true, address);
  __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
}

namespace pto::detail {

/// value as C takes it behind a format: block_idx as the integer that it stands for, floats of 8
/// and 16 bits as double.
template <class T>
auto ForPrintf(T value) {
  if constexpr (std::is_same_v<T, BlockIdx> || std::is_same_v<T, BlockNum>) {
    return int64_t{value};
  } else if constexpr (std::is_class_v<T> || std::is_same_v<T, half>) {
    static_assert(std::is_convertible_v<T, float>,
                  "printf: expected numbers, strings and pointers behind the format");
    return static_cast<double>(static_cast<float>(value));
  } else {
    return value;
  }
}

}  // namespace pto::detail

namespace cce {

/// Prints to standard output, as printf of the C library; %d is right for block_idx, %f for half.
template <class... Values>
inline int printf(const char* format, Values... values) {
  npu::CountInstruction(npu::RunningCore("printf"));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int bytes = std::fprintf(stdout, format, pto::detail::ForPrintf(values)...);
#pragma GCC diagnostic pop
  std::fflush(stdout);
  return bytes;
}

}  // namespace cce
