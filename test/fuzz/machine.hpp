// SPDX-License-Identifier: Apache-2.0
// The model's memory: bytes of each space, what is known of them, and who touches them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "program.hpp"

namespace fuzz {

/// What is known of a byte: all of it, nothing, or that it belongs to a NaN of a type, whose other
/// bits are nobody's business.
inline constexpr uint8_t kKnown = 0, kUnknown = 1, kNanOf = 2;

struct Memory {
  std::vector<uint8_t> bytes, marks, written;
};

/// Bytes of a space from begin up to end.
struct Interval {
  Space space;
  uint64_t begin, end;
};

/// What a step touches, each list sorted and without neighbours that touch.
struct Touched {
  std::vector<Interval> reads, writes;
  bool reads_unwritten = false;  // of a space on the chip
};

/// An element: its bits, and what is known of them.
struct Element {
  uint32_t bits = 0;
  uint8_t mark = kKnown;
};

struct Machine {
  Memory spaces[kSpaces];

  Memory& operator[](Space space) { return spaces[static_cast<int>(space)]; }
  const Memory& operator[](Space space) const { return spaces[static_cast<int>(space)]; }
};

/// Elements of one operand of a step: reads and writes them, and notes where.
class View {
 public:
  View(Machine& machine, Space space, uint64_t base)
      : memory_(machine[space]), space_(space), base_(base) {}

  Element Get(uint64_t offset, size_t bytes);
  void Put(uint64_t offset, size_t bytes, const Element& element);
  /// Adds to touched what was read and written.
  void Tell(Touched& touched, Pipe pipe) const;

 private:
  void Note(std::vector<Interval>& list, uint64_t begin, uint64_t end) {
    if (!list.empty() && list.back().begin <= begin && begin <= list.back().end) {
      list.back().end = std::max(list.back().end, end);
    } else {
      list.push_back({space_, begin, end});
    }
  }

  Memory& memory_;
  Space space_;
  uint64_t base_;
  std::vector<Interval> reads_, writes_;
  bool reads_written_ = false, reads_unwritten_ = false;
};

/// A tile as operand.
class TileView : public View {
 public:
  TileView(Machine& machine, const TileType& tile, uint64_t address)
      : View(machine, tile.space, address), tile_(tile), bytes_(BytesOf(tile.dtype)) {}

  Element At(int row, int col) { return Get(Place(row, col), bytes_); }
  void Set(int row, int col, const Element& element) { Put(Place(row, col), bytes_, element); }
  const TileType& tile() const { return tile_; }

 private:
  uint64_t Place(int row, int col) const {
    return static_cast<uint64_t>(OffsetOf(tile_, row, col)) * bytes_;
  }

  const TileType& tile_;
  size_t bytes_;
};

/// Sorts, and joins what touches.
void Join(std::vector<Interval>& list);

}  // namespace fuzz
