// SPDX-License-Identifier: Apache-2.0
#include "observe/hazard_map.hpp"

#include <algorithm>

namespace npu {

void AccessRecord::AddReader(const HazardStamp& stamp) {
  const auto same = [&stamp](const HazardStamp& other) {
    return other.task == stamp.task && other.pipe == stamp.pipe &&
           other.is_write == stamp.is_write && other.is_atomic == stamp.is_atomic;
  };
  if (reader.task == kNobody || same(reader)) {
    reader = stamp;  // what waits for the later of two of a pipe waits for both
    return;
  }
  const auto found = std::find_if(readers.begin(), readers.end(), same);
  if (found != readers.end()) {
    *found = stamp;
  } else {
    readers.push_back(stamp);
  }
}

AccessMap::Place AccessMap::Cut(Place at, uint64_t address) {
  AccessRecord behind = at->second;
  at->second.end = address;
  return records_.emplace_hint(std::next(at), address, std::move(behind));
}

AccessMap::Place AccessMap::MakePiece(Place at, uint64_t begin, uint64_t end) {
  if (at == records_.end() || at->first >= end || at->first > begin) {
    AccessRecord record;
    record.end = at == records_.end() ? end : std::min(end, at->first);
    return records_.emplace_hint(at, begin, std::move(record));
  }
  if (at->first < begin) at = Cut(at, begin);
  if (at->second.end > end) Cut(at, end);
  return at;
}

void AccessMap::Unite(uint64_t begin, uint64_t end) {
  auto at = records_.find(begin);
  for (auto next = std::next(at); next != records_.end() && next->first < end;) {
    if (at->second.end == next->first && at->second.SameHistory(next->second)) {
      at->second.end = next->second.end;
      next = records_.erase(next);
    } else {
      at = next++;
    }
  }
}

void AccessMap::Erase(uint64_t begin, uint64_t end) {
  records_.erase(records_.lower_bound(begin), records_.lower_bound(end));
}

}  // namespace npu
