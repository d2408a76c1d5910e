// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <memory_resource>
#include <vector>

#include "observe/hazard_clock.hpp"

namespace npu {

/// Place of a tile on the chip, from address to address. Null: nobody placed it.
struct TileExtent {
  uint64_t begin = 0, end = 0;

  bool operator==(const TileExtent&) const = default;
  bool Holds(const TileExtent& other) const { return begin <= other.begin && other.end <= end; }
  /// Whether they share bytes and neither holds the other.
  bool PartlyOverlaps(const TileExtent& other) const {
    return begin < other.end && other.begin < end && (begin < other.begin) == (end < other.end) &&
           begin != other.begin && end != other.end;
  }
};

/// What is known of bytes that have one history: their last plain write, and the reads and atomic
/// writes since then, one of each for each pipe.
struct AccessRecord {
  uint64_t end = 0;
  HazardStamp writer;                // of task kNobody: none
  HazardStamp reader;                // the first of those since; of task kNobody: none
  std::vector<HazardStamp> readers;  // the others
  TileExtent extent;                 // of the tile of writer
  TileExtent hidden;                 // of a tile that writer has overwritten in part, and more

  bool SameHistory(const AccessRecord& other) const {
    return writer == other.writer && reader == other.reader && readers == other.readers &&
           extent == other.extent && hidden == other.hidden;
  }
  void AddReader(const HazardStamp& stamp);
  void SetWriter(const HazardStamp& stamp) {
    writer = stamp;
    reader = HazardStamp();
    readers.clear();
  }
  /// Calls visit(stamp) for each reader.
  template <class Visit>
  void ForReaders(const Visit& visit) const {
    if (reader.task == kNobody) return;
    visit(reader);
    for (const HazardStamp& stamp : readers) visit(stamp);
  }
};

/// Bytes by address, in records that do not overlap.
class AccessMap {
 public:
  using Records = std::pmr::map<uint64_t, AccessRecord>;

  AccessMap() : records_(&pool_) {}
  AccessMap(const AccessMap&) = delete;
  AccessMap& operator=(const AccessMap&) = delete;

  size_t size() const { return records_.size(); }
  Records& records() { return records_; }

  /// Calls visit(begin, record) for records that make up the bytes from begin up to end, made where
  /// there are none, and split where they reach beyond.
  template <class Visit>
  void ForRange(uint64_t begin, uint64_t end, const Visit& visit) {
    auto at = FirstFrom(begin);
    while (begin < end) {
      at = PieceAt(at, begin, end);
      visit(begin, at->second);
      begin = at->second.end;
      ++at;
    }
  }
  /// Makes one record of those of the bytes from begin up to end where their histories agree.
  void Unite(uint64_t begin, uint64_t end);
  void Erase(uint64_t begin, uint64_t end);

 private:
  using Place = Records::iterator;

  /// The first record that ends behind begin.
  Place FirstFrom(uint64_t begin) {
    auto next = records_.lower_bound(begin);
    if (next != records_.end() && next->first == begin) return next;
    if (next != records_.begin() && std::prev(next)->second.end > begin) return std::prev(next);
    return next;
  }
  /// The record that starts at begin and ends at end at the latest; at: the first that ends behind
  /// begin.
  Place PieceAt(Place at, uint64_t begin, uint64_t end) {
    if (at != records_.end() && at->first == begin && at->second.end <= end) return at;
    return MakePiece(at, begin, end);
  }
  Place MakePiece(Place at, uint64_t begin, uint64_t end);
  /// Cuts the record at address, which lies within it; returns the second part.
  Place Cut(Place at, uint64_t address);

  std::pmr::unsynchronized_pool_resource pool_;
  Records records_;
};

}  // namespace npu
