// SPDX-License-Identifier: Apache-2.0
// Programs for simulators (built with __CPU_SIM) call kernels as plain functions from host code:
// each thread is a core. What they use besides the instructions, under the names that they use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "npu/host_core.hpp"
#include "pto/cpu/MXTypes.hpp"
#include "pto/cpu/NPUMemoryModel.hpp"
#include "pto/cpu/pipe_queues.hpp"
#include "pto/cpu/tile_offsets.hpp"
#include "pto/cpu/trace.hpp"
#include "pto/fixpipe.hpp"

namespace pto::cpu_sim {

namespace detail {

struct HostCores {
  HostCores() { npu::EnableHostCores(); }
};
inline const HostCores host_cores;

}  // namespace detail

/// The block, and the vector core of it, that this thread runs. Not of a launched kernel.
struct ExecutionContext {
  uint32_t block_idx = 0;
  uint32_t subblock_id = 0;
  uint32_t subblock_dim = 1;
  uint64_t task_cookie = 0;
};
inline ExecutionContext& CurrentContext() {
  static thread_local ExecutionContext context;
  return context;
}

using SubBlockHook = uint32_t (*)();
inline SubBlockHook sub_block_hook = nullptr;

inline void Enter(const ExecutionContext& context) {
  CurrentContext() = context;
  npu::Core& core = npu::HostCore();
  core.block_idx = context.block_idx;
  core.sub_block_id = sub_block_hook == nullptr ? context.subblock_id : sub_block_hook();
  core.sub_block_num = std::max<uint32_t>(context.subblock_dim, 1);
}
inline void set_execution_context(uint32_t block_idx, uint32_t subblock_id,
                                  uint32_t subblock_dim = 1) {
  Enter({block_idx, subblock_id, subblock_dim, CurrentContext().task_cookie});
}
inline void reset_execution_context() { Enter({}); }
/// What tells the vector core instead of the context, each time that one is entered, and what gives
/// the memory of the queues of pipes: uint32_t (*)() and void* (*)(uint64_t key, size_t bytes).
inline void register_hooks(void* sub_block, void* pipe_memory) {
  sub_block_hook = reinterpret_cast<SubBlockHook>(sub_block);
  pto::detail::host_pipe_memory = reinterpret_cast<pto::detail::HostPipeMemory>(pipe_memory);
  Enter(CurrentContext());
}
/// A number of the caller's own for what this thread runs; get_task_cookie() gives it back. Some
/// programs pass a bit of the control register so.
inline void set_task_cookie(uint64_t cookie) {
  constexpr uint64_t kBit = uint64_t{1} << pto::detail::kSaturatesInfinity;
  uint64_t& control = npu::HostCore().control;
  control = (control & ~kBit) | (cookie & kBit);
  CurrentContext().task_cookie = cookie;
}

class ScopedExecutionContext {
 public:
  ScopedExecutionContext(uint32_t block_idx, uint32_t subblock_id, uint32_t subblock_dim = 1)
      : saved_(CurrentContext()) {
    set_execution_context(block_idx, subblock_id, subblock_dim);
  }
  ~ScopedExecutionContext() { Enter(saved_); }
  ScopedExecutionContext(const ScopedExecutionContext&) = delete;
  ScopedExecutionContext& operator=(const ScopedExecutionContext&) = delete;

 private:
  ExecutionContext saved_;
};

/// How a kernel is run by LaunchKernelMultiCore.
struct KernelLaunchOptions {
  std::string kernel_name;
  uint32_t requested_cores = 0;   // 0: PTO_CPU_SIM_NUM_CORES, else 4
  uint32_t total_work_items = 0;  // what the cores share; 0: not known
  uint32_t work_quantum = 1;      // each core's share is a multiple of it
  uint32_t subblocks_per_block = 1;
  uint32_t explicit_block_count = 0;  // 0: as the three above say
  bool write_trace_files = true;      // there are none
};

inline uint32_t GetConfiguredCoreCount() {
  const char* text = std::getenv("PTO_CPU_SIM_NUM_CORES");
  const unsigned long count = text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
  return count == 0 || count > UINT16_MAX ? 4 : static_cast<uint32_t>(count);
}

/// The most cores, up to those wanted, whose shares of the work are multiples of the quantum.
inline uint32_t ResolveActiveCoreCount(uint32_t requested_cores, uint32_t total_work_items = 0,
                                       uint32_t work_quantum = 1) {
  uint32_t cores = requested_cores == 0 ? GetConfiguredCoreCount() : requested_cores;
  if (total_work_items == 0) return cores;
  cores = std::min(cores, total_work_items);
  const uint32_t quantum = std::max<uint32_t>(work_quantum, 1);
  const auto share = [=](uint32_t of) { return (total_work_items + of - 1) / of; };
  while (cores > 1 && share(cores) % quantum != 0) --cores;
  return cores;
}

namespace detail {

[[noreturn]] inline void RaiseThreads(const std::string& kernel, uint64_t cores, size_t made,
                                      const char* reason) {
  throw std::runtime_error(kernel + ": LaunchKernelMultiCore: expected threads for " +
                           std::to_string(cores) + " cores, got " + std::to_string(made) + " (" +
                           reason + ")");
}

}  // namespace detail

/// Calls kernel once per core, each in a thread of its own, and throws what the first one that
/// failed threw. Where the host cannot make them all, those that it made run to their end.
template <class Kernel>
void LaunchKernelMultiCore(const KernelLaunchOptions& options, void*, Kernel&& kernel) {
  const uint32_t sub_blocks = std::max<uint32_t>(options.subblocks_per_block, 1);
  const uint32_t blocks =
      options.explicit_block_count != 0
          ? options.explicit_block_count
          : ResolveActiveCoreCount(options.requested_cores, options.total_work_items,
                                   options.work_quantum);
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto run = [&](uint64_t index) {
    try {
      npu::HostCore().kernel = options.kernel_name.c_str();
      npu::HostCore().block_num = blocks;
      ResetInstructionTrace();
      set_execution_context(static_cast<uint32_t>(index / sub_blocks),
                            static_cast<uint32_t>(index % sub_blocks), sub_blocks);
      kernel();
    } catch (...) {
      const std::scoped_lock lock(error_mutex);
      if (!error) error = std::current_exception();
    }
  };
  const uint64_t cores = uint64_t{blocks} * sub_blocks;
  std::vector<std::thread> threads;
  std::string lack;
  try {
    while (threads.size() < cores) threads.emplace_back(run, threads.size());
  } catch (const std::exception& failure) {
    lack = failure.what();
  }
  for (std::thread& thread : threads) thread.join();
  if (threads.size() < cores) {
    detail::RaiseThreads(options.kernel_name, cores, threads.size(), lack.c_str());
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace pto::cpu_sim

inline uint64_t get_task_cookie() { return pto::cpu_sim::CurrentContext().task_cookie; }
