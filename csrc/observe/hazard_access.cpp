// SPDX-License-Identifier: Apache-2.0
// Accesses of a launch: which of them nothing orders.
#include <algorithm>
#include <cstring>

#include "observe/hazard_launch.hpp"
#include "observe/text_order.hpp"

namespace npu {
namespace {

/// Beyond this an access is none: its instruction is about to be refused.
constexpr int64_t kMostBytes = int64_t{1} << 46;
/// From so many readers of a record on those that nobody can know of are dropped.
constexpr size_t kManyReaders = 64;

/// Instructions with which cores hand on, in global memory, that they have got so far.
bool IsSignal(const Instruction& instruction) {
  return instruction.pipe == Pipe::kS && instruction.access_count == 1 &&
         (std::strcmp(instruction.name, "TNOTIFY") == 0 ||
          std::strcmp(instruction.name, "TWAIT") == 0 ||
          std::strcmp(instruction.name, "TTEST") == 0);
}

/// Accesses of the scalar pipe to global memory past its caches, by which cores do the same.
bool IsUncached(const Instruction& instruction) {
  return instruction.pipe == Pipe::kS && instruction.access_count == 1 &&
         instruction.accesses[0].is_atomic;
}

/// From the first to the last byte; false where that is no size.
bool SpanOf(const Access& access, uint64_t* begin, uint64_t* end) {
  if (access.rows == 0 || access.row_bytes == 0) return false;
  int64_t span = 0;
  const auto pitch = static_cast<int64_t>(access.pitch_bytes);
  if (access.rows > kMostBytes || access.row_bytes > kMostBytes ||
      __builtin_mul_overflow(static_cast<int64_t>(access.rows - 1), pitch, &span) ||
      span > kMostBytes || span < -kMostBytes) {
    return false;
  }
  const auto first = reinterpret_cast<uint64_t>(access.begin);
  *begin = first + static_cast<uint64_t>(std::min<int64_t>(span, 0));
  *end = first + static_cast<uint64_t>(std::max<int64_t>(span, 0)) + access.row_bytes;
  return *begin < *end;
}

/// The same of all of the operand that begins with the access at index.
TileExtent UsedBy(const Instruction& instruction, size_t index) {
  TileExtent used, more;
  do {
    if (!SpanOf(instruction.accesses[index], &more.begin, &more.end)) continue;
    used = used.end == 0
               ? more
               : TileExtent{std::min(used.begin, more.begin), std::max(used.end, more.end)};
  } while (++index < instruction.access_count && instruction.accesses[index].goes_on);
  return used;
}

}  // namespace

void LaunchHazards::OnInstruction(const Core& core, const Instruction& instruction) {
  if (!repetitions_.empty()) JudgeRepetitions();
  HazardCore& here = CoreOf(core);
  if (KeepsTextOrder(core)) here.MeetAll();
  if (IsSignal(instruction)) return HandOnSignal(here, instruction);
  const Pipe pipe = instruction.pipe == Pipe::kAll ? Pipe::kS : instruction.pipe;
  const HazardClock& clock = here.ClockOf(pipe);
  const uint32_t site = sites_.NumberOf(instruction.name, instruction.call_site);
  Touch touch = {here, clock, {here.task, clock.own[static_cast<int>(pipe)], site, pipe}};
  for (const bool is_write : {false, true}) {
    touch.stamp.is_write = is_write;
    for (size_t i = 0; i < instruction.access_count; ++i) {
      const Access& access = instruction.accesses[i];
      if (access.is_write != is_write) continue;
      if (!access.goes_on) {
        if (!conflicts_.empty()) ReportConflicts(touch);
        reads_written_ = false;
        touch.used = UsedBy(instruction, i);
      }
      if (Clip(touch, access)) TouchAll(touch, access);
    }
    if (!conflicts_.empty()) ReportConflicts(touch);
  }
  if (IsUncached(instruction)) HandOnSignal(here, instruction);
  if (global_.size() > settle_at_) SettleGlobal();
}

/// Fills in touch; false where access touches nothing that can be told.
bool LaunchHazards::Clip(Touch& touch, const Access& access) const {
  uint64_t begin = 0, end = 0;
  if (!SpanOf(access, &begin, &end)) return false;
  const bool goes_on = access.goes_on && touch.end != 0;
  touch.begin = goes_on ? std::min(touch.begin, begin) : begin;
  touch.end = goes_on ? std::max(touch.end, end) : end;
  touch.space = access.space;
  touch.stamp.is_atomic = access.is_atomic;
  if (!goes_on) touch.extent = {};
  if (access.space == Space::kGm) return true;
  if (!IsPlace(access.begin)) return false;
  const SpaceBytes& own = touch.core.spaces[static_cast<int>(access.space)];
  if (own.begin <= begin && end <= own.end) {
    if (!goes_on && Wants(kHazardOverlap)) touch.extent = touch.core.extents.At(begin);
    return true;
  }
  const bool overhangs = own.begin <= begin && begin < own.end;
  return !overhangs && end - begin <= LargestCapacity(access.space);
}

void LaunchHazards::TouchAll(const Touch& touch, const Access& access) {
  if (touch.space == Space::kGm && Wants(kHazardRange)) CheckRange(touch);
  const auto pitch = static_cast<int64_t>(access.pitch_bytes);
  const auto row_bytes = static_cast<int64_t>(access.row_bytes);
  auto row = reinterpret_cast<uint64_t>(access.begin);
  if (access.rows == 1 || pitch == row_bytes) {
    return TouchBytes(touch, row, row + access.rows * access.row_bytes);
  }
  for (size_t i = 0; i < access.rows; ++i, row += static_cast<uint64_t>(pitch)) {
    TouchBytes(touch, row, row + access.row_bytes);
  }
}

void LaunchHazards::TouchBytes(const Touch& touch, uint64_t begin, uint64_t end) {
  AccessMap& map = touch.space == Space::kGm ? global_ : chip_;
  if (!touch.stamp.is_write) {
    map.ForRange(begin, end, [&](uint64_t at, AccessRecord& record) { Read(touch, at, record); });
    return;
  }
  size_t pieces = 0;
  map.ForRange(begin, end, [&](uint64_t at, AccessRecord& record) {
    Write(touch, at, record);
    ++pieces;
  });
  if (pieces > 1) map.Unite(begin, end);
}

/// Whether nothing orders the access behind an earlier one, of which at least one writes; then the
/// conflict is noted.
bool LaunchHazards::Conflicts(const Touch& touch, const HazardStamp& first, uint64_t begin,
                              uint64_t end) {
  const HazardStamp& second = touch.stamp;
  if (first.task == kNobody || !(first.is_write || second.is_write)) return false;
  if (first.is_atomic && second.is_atomic) return false;
  const HazardKind kind = !second.is_write ? HazardKind::kReadAfterWrite
                          : first.is_write ? HazardKind::kWriteAfterWrite
                                           : HazardKind::kWriteAfterRead;
  if (!touch.clock.Knows(touch.core.task, first)) {
    if (Wants(kHazardOrder)) Note(kind, first, {begin, end}, begin, end);
    return true;
  }
  const bool of_vector = first.pipe == Pipe::kV && second.pipe == Pipe::kV &&
                         first.task == second.task && Wants(kHazardVectorOrder);
  // Of its own accesses an instruction knows the order.
  if (!of_vector || first.epoch <= touch.core.barrier_of_vector || first.site == second.site) {
    return false;
  }
  Note(HazardKind::kVectorOrder, first, {begin, end}, begin, end);
  return true;
}

void LaunchHazards::Read(const Touch& touch, uint64_t begin, AccessRecord& record) {
  if (record.writer.task == kNobody) {
    const bool unwritten = touch.space != Space::kGm && Wants(kHazardUnwritten);
    if (unwritten) Note(HazardKind::kUnwrittenRead, {}, {}, begin, record.end);
  } else {
    reads_written_ = true;
    const bool conflicts = Conflicts(touch, record.writer, begin, record.end);
    if (!conflicts && record.hidden.end != 0 && record.hidden == touch.extent &&
        touch.SticksOutOf(record.extent)) {
      Note(HazardKind::kOverlap, record.writer, record.extent, begin, record.end);
    }
  }
  record.ForReaders([&](const HazardStamp& stamp) { Conflicts(touch, stamp, begin, record.end); });
  AddReader(touch, record);
}

void LaunchHazards::Write(const Touch& touch, uint64_t begin, AccessRecord& record) {
  Conflicts(touch, record.writer, begin, record.end);
  record.ForReaders([&](const HazardStamp& stamp) { Conflicts(touch, stamp, begin, record.end); });
  if (touch.stamp.is_atomic) return AddReader(touch, record);
  if (touch.SticksOutOf(record.extent)) {
    record.hidden = record.extent;
  } else if (record.hidden.end != 0 && !touch.SticksOutOf(record.hidden)) {
    record.hidden = {};
  }
  record.extent = touch.extent;
  record.SetWriter(touch.stamp);
}

void LaunchHazards::AddReader(const Touch& touch, AccessRecord& record) {
  record.AddReader(touch.stamp);
  if (record.readers.size() < kManyReaders) return;
  const auto same_call = [](const HazardStamp& a, const HazardStamp& b) {
    return a.site == b.site && a.is_write == b.is_write && a.is_atomic == b.is_atomic;
  };
  const auto is_lost = [this](const HazardStamp& stamp) {
    return tasks_[stamp.task].core == nullptr && !tasks_[stamp.task].is_known;
  };
  std::vector<HazardStamp> kept, lost;
  for (const HazardStamp& stamp : record.readers) {
    std::vector<HazardStamp>& to = is_lost(stamp) ? lost : kept;
    const bool is_there = &to == &lost && std::any_of(to.begin(), to.end(), [&](const auto& other) {
      return same_call(other, stamp);
    });
    if (!is_there) to.push_back(stamp);
  }
  kept.insert(kept.end(), lost.begin(), lost.end());
  record.readers = std::move(kept);
}

void LaunchHazards::CheckRange(const Touch& touch) {
  const GlobalMemory& memory = MemoryOf(touch.begin);
  const auto begin = reinterpret_cast<uint64_t>(memory.begin);
  const auto end = reinterpret_cast<uint64_t>(memory.end);
  if (!memory.is_known || touch.end <= end) return;
  Hazard hazard;
  hazard.kind = HazardKind::kOutOfRange;
  hazard.space = Space::kGm;
  hazard.begin = std::max(touch.begin, end) - begin;
  hazard.end = touch.end - begin;
  hazard.limit = end - begin;
  hazard.second = SideOf(touch.stamp, touch.begin - begin, touch.end - begin);
  Report(hazard);
}

const GlobalMemory& LaunchHazards::MemoryOf(uint64_t address) {
  for (const GlobalMemory& memory : memories_) {
    if (reinterpret_cast<uint64_t>(memory.begin) <= address &&
        address < reinterpret_cast<uint64_t>(memory.end)) {
      return memory;
    }
  }
  GlobalMemory& memory = memories_[next_memory_];
  next_memory_ = static_cast<uint8_t>((next_memory_ + 1) % kMemoriesAtHand);
  memory = facts_.find_memory(facts_.context, reinterpret_cast<const void*>(address));
  return memory;
}

}  // namespace npu
