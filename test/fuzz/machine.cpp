// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <cstring>
#include <tuple>

namespace fuzz {
namespace {

/// Whether mark is that of a NaN of more than so many bytes.
bool IsWider(uint8_t mark, size_t bytes) {
  return mark >= kNanOf && BytesOf(static_cast<Dtype>(mark - kNanOf)) > bytes;
}

}  // namespace

Element View::Get(uint64_t offset, size_t bytes) {
  const uint64_t at = base_ + offset;
  Element element;
  std::memcpy(&element.bits, &memory_.bytes[at], bytes);
  element.mark = memory_.marks[at];
  for (size_t i = 1; i < bytes; ++i) {
    if (memory_.marks[at + i] != element.mark) element.mark = kUnknown;
  }
  if (IsWider(element.mark, bytes)) element.mark = kUnknown;
  if (space_ != Space::kGlobal) {
    for (size_t i = 0; i < bytes; ++i) {
      const bool is_written = memory_.written[at + i] != 0;
      (is_written ? reads_written_ : reads_unwritten_) = true;
    }
  }
  Note(reads_, at, at + bytes);
  return element;
}

void View::Put(uint64_t offset, size_t bytes, const Element& element) {
  const uint64_t at = base_ + offset;
  std::memcpy(&memory_.bytes[at], &element.bits, bytes);
  for (uint64_t near = at / 4 * 4; near < at / 4 * 4 + 4 && bytes < 4; ++near) {
    if (IsWider(memory_.marks[near], bytes)) memory_.marks[near] = kUnknown;  // of what is left
  }
  std::memset(&memory_.marks[at], element.mark, bytes);
  if (space_ != Space::kGlobal) std::memset(&memory_.written[at], 1, bytes);
  Note(writes_, at, at + bytes);
}

void View::Tell(Touched& touched, Pipe pipe) const {
  touched.reads.insert(touched.reads.end(), reads_.begin(), reads_.end());
  touched.writes.insert(touched.writes.end(), writes_.begin(), writes_.end());
  // What pipe MTE1 brings along with written bytes, as it does in whole boxes, nobody multiplies.
  const bool comes_along = pipe == Pipe::kMte1 && reads_written_;
  touched.reads_unwritten = touched.reads_unwritten || (reads_unwritten_ && !comes_along);
}

void Join(std::vector<Interval>& list) {
  std::sort(list.begin(), list.end(), [](const Interval& a, const Interval& b) {
    return std::tuple(a.space, a.begin) < std::tuple(b.space, b.begin);
  });
  size_t kept = 0;
  for (const Interval& next : list) {
    if (kept != 0 && list[kept - 1].space == next.space && next.begin <= list[kept - 1].end) {
      list[kept - 1].end = std::max(list[kept - 1].end, next.end);
    } else {
      list[kept++] = next;
    }
  }
  list.resize(kept);
}

}  // namespace fuzz
