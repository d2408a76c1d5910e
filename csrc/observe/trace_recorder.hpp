// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "npu/core.hpp"
#include "npu/observer.hpp"

namespace npu {

class LaunchTrace;

/// Records the instructions of all launches that start while it is on, with what they read as they
/// found it and what they wrote as they left it.
class TraceRecorder final : public InstructionObserver {
 public:
  /// What is recorded; an empty list stands for all.
  struct Request {
    bool with_values = false;
    size_t most_bytes = 0;  // of records and values; then recording ends
    std::vector<std::string> kernels;
    std::vector<uint32_t> blocks;
    std::vector<std::string> instructions;
  };
  /// A tile as TASSIGN placed it.
  struct Tile {
    const char* kind;
    const char* dtype;
    int rows, cols;
    Space space;
    uint64_t address, bytes;
    const void* call_site;
    const char* layout;
    bool is_compact;
  };
  /// Rows of bytes, the first at begin.
  struct Part {
    const std::byte* begin;
    size_t rows, row_bytes;
    int64_t pitch;
  };
  struct Operand {
    Space space;
    bool is_write;
    bool is_atomic;
    uint32_t compact_rows, compact_cols;  // as Access has them
    uintptr_t base = 0;                   // of its space, or of its memory
    std::vector<Part> parts = {};         // in the order in which the instruction names them
    std::vector<uint32_t> tiles = {};     // that hold all of it, the one that was placed last first
    size_t bytes = 0;                     // of all parts; 0: its values are not recorded
    size_t values_at = 0;
  };
  struct Step {
    const char* name;
    const char* kernel;
    uint32_t launch;  // counts from 0
    uint32_t block, sub_block;
    uint64_t number;  // of the instruction in its block, from 1
    CoreType core;
    Pipe pipe;
    const void* call_site;
    uint64_t order = 0;  // of execution, from 1, with gaps; 0: it was not executed
    bool has_sources = false;
    bool has_results = false;
    std::vector<Operand> operands;
  };
  /// What is left of it when it is asked for.
  struct Summary {
    size_t steps, tiles;
    bool is_whole;
  };

  /// Forgets what was recorded and records from now on.
  static void Start(const Request& request);
  static void Stop();
  static void Forget();
  /// The recorder while it is on, else null.
  static InstructionObserver* Active();
  static Summary Count();
  /// Valid until the next Start or Forget; null when there is none with that index. While the
  /// recorder is off.
  static const Step* GetStep(size_t index);
  static const Tile* GetTile(size_t index);
  static const std::byte* ValuesOf(const Operand& operand);

  /// What of memory an address lies in; must not fault.
  using FindMemory = GlobalMemory (*)(const void* context, const void* address);

  /// A launch of this thread, from before its first core begins until all have ended.
  class Launch {
   public:
    Launch(const char* kernel, FindMemory find_memory, const void* context);
    ~Launch();
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;

   private:
    std::unique_ptr<LaunchTrace> trace_;
  };

  /// The instruction that core names now starts to execute, or has ended.
  static void OnBegin(const Core& core);
  static void OnEnd(const Core& core);
  /// Others run until core goes on: what its scalar pipe wrote is there now.
  static void OnSuspend(const Core& core);

  void OnInstruction(const Core& core, const Instruction& instruction) override;
  void OnPlacement(const Core& core, const Placement& placement) override;
  void OnKernelEnd(const Core& core) override;
};

}  // namespace npu
