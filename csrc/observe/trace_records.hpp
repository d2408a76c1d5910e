// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "observe/trace_recorder.hpp"

namespace npu {

/// What TraceRecorder has recorded. Threads that run launches hold mutex.
struct TraceRecords {
  static TraceRecords& Get();

  bool Wants(const char* kernel) const;
  bool Wants(uint32_t block) const;
  bool WantsInstruction(const char* name) const;
  const char* Keep(const char* text) { return texts.insert(text).first->c_str(); }
  uint32_t NumberOf(const TraceRecorder::Tile& tile);
  /// Its index, with room for its values; SIZE_MAX where the room for records is used up.
  size_t Add(TraceRecorder::Step step);
  /// Copies what step reads (or, with is_write, has written) from memory.
  void Copy(size_t step, bool is_write);
  void Clear();

  std::mutex mutex;
  TraceRecorder::Request request;
  uint64_t start = 0;  // counts starts
  bool is_on = false;
  bool is_whole = true;
  uint32_t launches = 0;
  uint64_t executed = 0;
  size_t used_bytes = 0;
  std::vector<TraceRecorder::Step> steps;
  std::vector<TraceRecorder::Tile> tiles;
  std::vector<std::byte> values;
  std::set<std::string> texts;  // a kernel library may be gone when somebody asks

 private:
  using TileKey = std::tuple<const char*, const char*, int, int, Space, uint64_t, uint64_t,
                             const void*, const char*, bool>;
  std::map<TileKey, uint32_t> tile_numbers_;
};

}  // namespace npu
