// SPDX-License-Identifier: Apache-2.0
// Writes down what a kernel does, in order of execution: for the oracle, which shares nothing with
// the lookers-on of the runtime. It stands before the text of a kernel, RECORDED(kernel) behind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <pto/pto-inst.hpp>
#include <utility>
#include <vector>

#define RECORDER_EXPORT __attribute__((visibility("default")))

namespace recorder {

enum Kind : int64_t {
  kBegin,  // of a core; its accesses are its spaces
  kInstruction,
  kSetFlag,
  kWaitFlag,
  kBarrier,
  kSetCrossCore,
  kWaitCrossCore,
  kArrive,
  kLeave,
  kPlacement,
  kInnerFlag  // set and awaited by an instruction itself
};

struct Event {
  int64_t kind, is_cube, block, sub_block;
  int64_t pipe, other;  // of a flag: source and destination
  int64_t id;           // of a flag; of a meeting its counter
  int64_t scope;        // of a flag between cores, of a meeting its group
  int64_t name;         // a string
  int64_t call_site;
  int64_t keeps_order;  // an instruction of auto mode: that of the text
  int64_t first_access, access_count;
  int64_t written;  // to global memory: a number that stands for the bytes
};

struct Touch {
  int64_t space, is_write, is_atomic;
  int64_t begin, rows, row_bytes, pitch_bytes;
};

struct Tape {
  bool is_on = false;
  std::vector<Event> events;
  std::vector<Touch> touches;
};

/// Where this library writes to: a tape of its own, or that of another pass of the kernel.
inline Tape*& TheTape() {
  static Tape* tape = new Tape;
  return tape;
}

class Recorder final : public npu::InstructionObserver {
 public:
  ~Recorder() { FinishLast(); }
  void Begin(const npu::Core& core) {
    Event& event = Add(core, kBegin, npu::Pipe::kS, nullptr);
    for (int space = 0; space < npu::kOnChipSpaces; ++space) {
      const auto bytes = static_cast<int64_t>(core.arch->capacity[space]);
      if (core.scratchpad[space] != nullptr) {
        Append(event, {space, 0, 0, Address(core.scratchpad[space]), 1, bytes, bytes});
      }
    }
  }
  void OnInstruction(const npu::Core& core, const npu::Instruction& instruction) override {
    Event& event = Add(core, kInstruction, instruction.pipe, instruction.call_site);
    last_ = TheTape()->events.size() - 1;
    event.name = Address(instruction.name);
    event.keeps_order = std::any_of(std::begin(core.auto_blocks), std::end(core.auto_blocks),
                                    [](const npu::AutoBlock* block) { return block != nullptr; });
    for (size_t i = 0; i < instruction.access_count; ++i) {
      const npu::Access& access = instruction.accesses[i];
      Append(event,
             {static_cast<int64_t>(access.space), access.is_write, access.is_atomic,
              Address(access.begin), static_cast<int64_t>(access.rows),
              static_cast<int64_t>(access.row_bytes), static_cast<int64_t>(access.pitch_bytes)});
    }
  }
  void OnSetFlag(const npu::Core& core, npu::Pipe source, npu::Pipe destination, int id,
                 const void* call_site) override {
    AddFlag(core, kSetFlag, source, destination, id, call_site);
  }
  void OnWaitFlag(const npu::Core& core, npu::Pipe source, npu::Pipe destination, int id,
                  const void* call_site) override {
    AddFlag(core, kWaitFlag, source, destination, id, call_site);
  }
  void OnInnerFlag(const npu::Core& core, npu::Pipe source, npu::Pipe destination) override {
    AddFlag(core, kInnerFlag, source, destination, 0, nullptr);
  }
  void OnBarrier(const npu::Core& core, npu::Pipe pipe, const void* call_site) override {
    Add(core, kBarrier, pipe, call_site);
  }
  void OnPlacement(const npu::Core& core, const npu::Placement& placement) override {
    Add(core, kPlacement, npu::Pipe::kS, placement.call_site);
  }
  void OnSetCrossCoreFlag(const npu::Core& core, npu::Pipe pipe, npu::FlagScope scope, int id,
                          const void* call_site) override {
    Event& event = Add(core, kSetCrossCore, pipe, call_site);
    event.scope = static_cast<int64_t>(scope);
    event.id = id;
  }
  void OnWaitCrossCoreFlag(const npu::Core& core, npu::Pipe pipe, int id,
                           const void* call_site) override {
    Add(core, kWaitCrossCore, pipe, call_site).id = id;
  }
  void OnArrive(const npu::Core& core, const npu::SyncPoint& point,
                const void* call_site) override {
    AddMeeting(core, kArrive, point, call_site);
  }
  void OnLeave(const npu::Core& core, const npu::SyncPoint& point, const void* call_site) override {
    AddMeeting(core, kLeave, point, call_site);
  }

 private:
  static constexpr size_t kNone = ~size_t{0};

  static int64_t Address(const void* pointer) { return reinterpret_cast<int64_t>(pointer); }

  /// What the last instruction of this core has written, now that it is executed.
  void FinishLast() {
    if (last_ == kNone) return;
    Tape& tape = *TheTape();
    Event& event = tape.events[last_];
    uint64_t sum = 14695981039346656037u;
    for (int64_t i = event.first_access; i < event.first_access + event.access_count; ++i) {
      const Touch& touch = tape.touches[i];
      if (touch.space != static_cast<int64_t>(npu::Space::kGm) || touch.is_write == 0) continue;
      for (int64_t row = 0; row < touch.rows; ++row) {
        const auto* bytes = reinterpret_cast<const uint8_t*>(touch.begin + row * touch.pitch_bytes);
        for (int64_t at = 0; at < touch.row_bytes; ++at) sum = (sum ^ bytes[at]) * 1099511628211u;
      }
    }
    event.written = static_cast<int64_t>(sum);
    last_ = kNone;
  }
  static void Append(Event& event, const Touch& touch) {
    TheTape()->touches.push_back(touch);
    ++event.access_count;
  }
  Event& Add(const npu::Core& core, Kind kind, npu::Pipe pipe, const void* call_site) {
    FinishLast();
    Tape& tape = *TheTape();
    Event event = {};
    event.kind = kind;
    event.is_cube = core.type == npu::CoreType::kCube;
    event.block = core.block_idx;
    event.sub_block = core.sub_block_id;
    event.pipe = static_cast<int64_t>(pipe);
    event.call_site = Address(call_site);
    event.first_access = static_cast<int64_t>(tape.touches.size());
    tape.events.push_back(event);
    return tape.events.back();
  }
  void AddFlag(const npu::Core& core, Kind kind, npu::Pipe source, npu::Pipe destination, int id,
               const void* call_site) {
    Event& event = Add(core, kind, source, call_site);
    event.other = static_cast<int64_t>(destination);
    event.id = id;
  }
  void AddMeeting(const npu::Core& core, Kind kind, const npu::SyncPoint& point,
                  const void* call_site) {
    Event& event = Add(core, kind, npu::Pipe::kAll, call_site);
    event.scope = static_cast<int64_t>(point.group);
    event.id = Address(point.counter);
  }

  size_t last_ = kNone;  // the event of an instruction
};

/// While it lives, the running core is recorded, if recording is on.
class Recording {
 public:
  Recording() {
    if (!TheTape()->is_on) return;
    core_ = npu::current_core;
    before_ = core_->observer;
    core_->observer = &recorder_;
    recorder_.Begin(*core_);
  }
  ~Recording() {
    if (core_ != nullptr) core_->observer = before_;
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  Recorder recorder_;
  npu::Core* core_ = nullptr;
  npu::InstructionObserver* before_ = nullptr;
};

template <auto* kKernel>
struct Recorded;
template <class... Params, void (*kKernel)(Params...)>
struct Recorded<kKernel> {
  static void Run(Params... params) {
    const Recording recording;
    kKernel(params...);
  }
};

enum Change : int64_t { kNone, kLeftOut, kMovedBy32, kMovedByTile };

/// Of calls by number: what they do instead.
inline std::vector<std::pair<int64_t, int64_t>>& TheChanges() {
  static std::vector<std::pair<int64_t, int64_t>> changes;
  return changes;
}

inline int64_t ChangeOf(int64_t call) {
  for (const auto& [changed, change] : TheChanges()) {
    if (changed == call) return change;
  }
  return kNone;
}

inline bool IsLeftOut(int64_t call) { return ChangeOf(call) == kLeftOut; }

/// Elements of a tile, and of an image; of what is neither, no address is changed.
template <class TileT>
constexpr auto ElementsOf(const TileT&, int) -> decltype(int64_t{TileT::Rows} * TileT::Cols) {
  return int64_t{TileT::Rows} * TileT::Cols;
}
template <class TileT>
constexpr auto ElementsOf(const TileT&, int) -> decltype(int64_t{TileT::bufferSize}) {
  return TileT::bufferSize;
}
template <class Global>
constexpr int64_t ElementsOf(const Global&, long) {  // the worse match
  return 0;
}

/// How far behind its address call puts tile.
template <class TileT>
inline int64_t Distance(int64_t call, const TileT& tile) {
  const int64_t change = ChangeOf(call);
  const int64_t bytes = ElementsOf(tile, 0) * sizeof(typename TileT::DType);
  return change == kMovedBy32 ? 32 : change == kMovedByTile ? bytes : 0;
}

}  // namespace recorder

extern "C" {
RECORDER_EXPORT recorder::Tape* recorder_tape() { return recorder::TheTape(); }
RECORDER_EXPORT void recorder_use(recorder::Tape* tape) { recorder::TheTape() = tape; }
RECORDER_EXPORT void recorder_restore() { recorder::TheChanges().clear(); }
RECORDER_EXPORT void recorder_change(int64_t call, int64_t change) {
  recorder::TheChanges().emplace_back(call, change);
}
RECORDER_EXPORT void recorder_switch(bool is_on) {
  recorder::Tape& tape = *recorder::TheTape();
  tape.is_on = is_on;
  if (!is_on) return;
  tape.events.clear();
  tape.touches.clear();
}
RECORDER_EXPORT const void* recorder_events(int64_t* count) {
  *count = static_cast<int64_t>(recorder::TheTape()->events.size());
  return recorder::TheTape()->events.data();
}
RECORDER_EXPORT const void* recorder_touches(int64_t* count) {
  *count = static_cast<int64_t>(recorder::TheTape()->touches.size());
  return recorder::TheTape()->touches.data();
}
}

/// The kernel, or one of a template, recorded, under the name recorded_kernel.
#define RECORDED(...) inline constexpr auto& recorded_kernel = recorder::Recorded<&__VA_ARGS__>::Run
