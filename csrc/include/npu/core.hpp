// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/arch.hpp"
#include "npu/instruction.hpp"

namespace npu {

class InstructionObserver;
struct AutoBlock;
struct Core;

/// Bytes of global memory from begin up to end: memory that the runtime or the launch knows, or a
/// gap between such, of which nothing is known.
struct GlobalMemory {
  const void* begin;
  const void* end;
  bool is_known;
};
inline constexpr int kMemoriesAtHand = 4;

/// What a core asks of whoever runs it. Implemented by the runtime; every call may switch to
/// another core or throw.
class CoreScheduler {
 public:
  /// Sets cross-core flag id for the cores in scope, once pipe has ended its earlier instructions;
  /// of kIntraBlock id is from kIntraBlockFlag on.
  virtual void SetCrossCoreFlag(Core& core, Pipe pipe, FlagScope scope, int id) = 0;
  /// Holds pipe, or with kS or kAll the core, until flag id (0 to kFlagIdsOfCore - 1) of this core
  /// is set, and takes one count off it.
  virtual void WaitCrossCoreFlag(Core& core, Pipe pipe, int id) = 0;
  /// Returns once every core of group has arrived.
  virtual void SyncAll(Core& core, SyncGroup group) = 0;
  /// Lets other cores run; where says what the core polls ("dcci", "TTEST").
  virtual void Yield(Core& core, const char* where) = 0;
  /// Looks for an interrupt. Called every kPollInterval instructions.
  virtual void Poll(Core& core) = 0;
  /// The memory or the gap that address lies in, where instruction op starts a transfer. Faults
  /// where the launch may start none.
  virtual GlobalMemory FindGlobalMemory(const char* op, const void* address) = 0;
  /// UB of vector core index of the block of core; null if that core has ended, or the kernel has
  /// no vector cores.
  virtual std::byte* VectorBuffer(Core& core, uint32_t index) = 0;
  /// L1 of the cube core of the block of core; null as above.
  virtual std::byte* CubeBuffer(Core& core) = 0;
  /// A number that no other core of the kind of core has while this one runs, below their number.
  virtual uint32_t CoreId(Core& core) = 0;
  /// A fault of core is about to be thrown: the calls that lead to it are still there to be read.
  virtual void OnFault(Core&) {}

  // Asked only while core.observer is set: the order of execution is then the scheduler's to say.
  // A scheduler that runs a core in the order of its text has nothing to do here.

  /// The next instruction is one of pipe. Whether its place in the text is the time to execute it;
  /// else this returns a second time, false first, and true on a copy of the stack when its turn
  /// has come. With has_result the text reads what it finds: always true.
  virtual bool BeginInstruction(Core&, Pipe, bool /*has_result*/) { return true; }
  /// It has been executed. Does not return on a copy of the stack.
  virtual void EndInstruction(Core&) {}
  virtual void SetFlag(Core&, Pipe /*source*/, Pipe /*destination*/, int /*id*/) {}
  virtual void WaitFlag(Core&, Pipe /*source*/, Pipe /*destination*/, int /*id*/) {}
  /// Holds pipe to until all that comes before in the text of pipe from has been executed.
  virtual void InnerFlag(Core&, Pipe /*from*/, Pipe /*to*/) {}
  /// Returns once all pipes of core have executed what comes before in its text. Throws nothing.
  virtual void AwaitPipes(Core&) {}

 protected:
  ~CoreScheduler() = default;
};

inline constexpr uint64_t kPollInterval = 16;  // instructions

/// Whether float operands of products lose the low bits of their mantissa, and where ties go.
enum class Tf32 : uint8_t { kOff, kTiesAway, kTiesEven };

/// Registers that TIMG2COL reads: the image and what surrounds it. Source: PTO ISA, SETFMATRIX.
struct Img2colRegisters {
  bool has_image = false;
  uint16_t height = 0, width = 0;
  uint8_t left = 0, right = 0, top = 0, bottom = 0;  // rows and columns of padding
  uint16_t repeat_time = 0;
  uint32_t padding = 0;  // the element that pads, in the lowest bytes
};

/// One emulated AI core while it runs one block of a kernel.
struct Core {
  CoreScheduler* scheduler = nullptr;
  InstructionObserver* observer = nullptr;  // null unless somebody listens
  const Arch* arch = nullptr;
  const char* kernel = nullptr;
  CoreType type = CoreType::kVector;
  bool check_limits = true;    // NPU_CHECK is not off
  bool allow_float64 = false;  // the launch asked for the float64 extension
  uint32_t block_idx = 0;
  uint32_t block_num = 0;
  uint32_t sub_block_id = 0;
  uint32_t sub_block_num = 1;
  uint64_t instruction = 0;                       // instructions of this block so far
  std::byte* scratchpad[kOnChipSpaces] = {};      // base of each space, arch->capacity bytes
  uint8_t flags[kPipes][kPipes][kEventIds] = {};  // set_flag counts, [source][destination][id]
  uint8_t next_event_id[kPipes][kPipes] = {};     // of Event objects, in turn
  Pipe unit_flag = Pipe::kS;  // the pipe, kM or kFix, that changed it last; kS: none has
  bool has_state = false;     // it keeps something for later without having run an instruction
  GlobalMemory memories[kMemoriesAtHand] = {};  // what transfers of this launch found last
  uint8_t next_memory = 0;                      // the one to replace
  Tf32 tf32 = Tf32::kOff;                       // of float products
  uint64_t control = 0;                         // of set_ctrl
  uint64_t vector_mask[2] = {~uint64_t{0}, ~uint64_t{0}};  // of set_vector_mask, low half first
  bool mask_counts = false;                                // it is a number of elements
  uint64_t flag_base = 0;                                  // of set_ffts_base_addr
  uint64_t quant_word = 0;                                 // of SET_QUANT_SCALAR
  uint64_t quant_table = 0;                    // of SET_QUANT_VECTOR: bytes from the start of FB
  Img2colRegisters img2col[2] = {};            // of A and B
  uint64_t unknown_transfers = 0;              // whose global memory nobody knows
  AutoBlock* auto_blocks[kOnChipSpaces] = {};  // of tiles of auto mode
};

/// Tiles of a space that the running core has not, but another core of its block, get their plain
/// address instead of a place: less than this. So do, with 0, tiles without any.
inline constexpr uintptr_t kLowestPlace = 1024 * kKiB;

inline bool IsPlace(const void* data) { return reinterpret_cast<uintptr_t>(data) >= kLowestPlace; }

/// The core whose kernel this thread runs; null outside a kernel. Lives in libnpu_runtime.so alone:
/// a variable of a header becomes two once a kernel library is built with hidden visibility. Each
/// instruction reads it: the initial-exec model spares a call.
extern
    __attribute__((visibility("default"), tls_model("initial-exec"))) __thread Core* current_core;

/// The core of this thread that host code's call of instruction op runs on, the current one from
/// here on. A fault unless EnableHostCores() (npu/host_core.hpp) was called.
__attribute__((visibility("default"))) Core& CoreOfHostCode(const char* op);

/// Whether core has the memory of all cores of a block, as that of host code has.
inline bool IsWhole(const Core& core) {
  return core.scratchpad[static_cast<int>(Space::kUb)] != nullptr &&
         core.scratchpad[static_cast<int>(Space::kL1)] != nullptr;
}

/// Whether core takes forms of instructions that no chip has, each of whose elements still has one
/// right value: only where host code calls kernels, as programs for simulators do. Sizes of spaces,
/// addresses, valid regions and bounds are the chip's there too.
inline bool TakesHostForms(const Core& core) { return IsWhole(core); }

}  // namespace npu
