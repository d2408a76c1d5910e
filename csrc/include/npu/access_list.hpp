// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/instruction.hpp"
#include "npu/one_body.hpp"

namespace npu {

/// What an instruction touches, for whoever looks on.
class AccessList {
 public:
  AccessList() = default;
  AccessList(const AccessList&) = delete;
  AccessList& operator=(const AccessList&) = delete;
  AccessList(AccessList&& other) noexcept : size_(other.size_), room_(other.room_) {
    for (size_t i = 0; i < kInPlace; ++i) in_place_[i] = other.in_place_[i];
    if (other.list_ != other.in_place_) list_ = other.list_;
    other.list_ = other.in_place_;
    other.size_ = 0;
    other.room_ = kInPlace;
  }
  AccessList& operator=(AccessList&&) = delete;
  ~AccessList() { Free(); }

  const Access* begin() const { return list_; }
  size_t size() const { return size_; }

  /// More bytes of an operand: of the access before them where they lie behind it, or as its rows.
  NPU_ONE_BODY(void AddBytes(Space space, bool is_write, const void* first, size_t bytes)) {
    if (size_ != 0 && Lengthens(list_[size_ - 1], first, bytes)) return;
    AddLine(space, is_write, first, bytes);
  }

  /// One more line of an operand: a row of the access before it where it lies as its rows do.
  NPU_ONE_BODY(void AddLine(Space space, bool is_write, const void* first, size_t bytes)) {
    if (bytes == 0) return;
    if (size_ != 0 && Repeats(list_[size_ - 1], first, bytes)) return;
    Append({space, is_write, first, 1, bytes, bytes});
  }

  void AddRows(const Access& rows) {
    if (rows.rows != 0 && rows.row_bytes != 0) Append(rows);
  }

  /// The same operand in another place.
  void Extend(const AccessList& other) {
    for (size_t i = 0; i < other.size(); ++i) Append(other.begin()[i]);
  }

  /// All of one operand.
  NPU_ONE_BODY(void AddOperand(const Access* accesses, size_t count)) {
    const size_t first = size_;
    for (size_t i = 0; i < count; ++i) {
      if (accesses[i].rows == 0 || accesses[i].row_bytes == 0) continue;
      Append(accesses[i]);
      list_[size_ - 1].goes_on = size_ - 1 != first;
    }
  }
  void AddOperand(const Access& access) { AddOperand(&access, 1); }
  void AddOperand(const AccessList& list) { AddOperand(list.begin(), list.size()); }
  /// part.AddTo(list) adds it, as one operand.
  template <class Part>
  void AddOperand(const Part& part) {
    part.AddTo(*this);
  }

  /// The same list, of elements of a compact tile that lie in this extent.
  AccessList&& InCompact(uint32_t rows, uint32_t cols) && {
    for (size_t i = 0; i < size_; ++i) {
      list_[i].compact_rows = rows;
      list_[i].compact_cols = cols;
    }
    return static_cast<AccessList&&>(*this);
  }

  /// The same list of atomic stores.
  AccessList&& Atomic(bool is_atomic) && {
    for (size_t i = 0; i < size_; ++i) list_[i].is_atomic = is_atomic;
    return static_cast<AccessList&&>(*this);
  }

 private:
  static constexpr size_t kInPlace = 4;

  /// Makes what starts at first a part of last; false where it lies otherwise.
  static bool Lengthens(Access& last, const void* first, size_t bytes) {
    const auto from = reinterpret_cast<uintptr_t>(last.begin);
    if (last.rows != 1 || reinterpret_cast<uintptr_t>(first) != from + last.row_bytes) return false;
    last.row_bytes += bytes;
    last.pitch_bytes = last.row_bytes;
    return true;
  }
  static bool Repeats(Access& last, const void* first, size_t bytes) {
    const auto from = reinterpret_cast<uintptr_t>(last.begin);
    const auto to = reinterpret_cast<uintptr_t>(first);
    if (bytes != last.row_bytes || to <= from) return false;
    if (last.rows == 1) last.pitch_bytes = to - from;
    if (to != from + last.rows * last.pitch_bytes || last.pitch_bytes < bytes) return false;
    ++last.rows;
    return true;
  }

  void Append(const Access& access) {
    if (size_ == room_) Grow();
    list_[size_++] = access;
  }
  NPU_ONE_BODY(void Free()) {
    if (list_ != in_place_) delete[] list_;
  }
  void Grow() {
    auto* list = new Access[2 * room_];
    for (size_t i = 0; i < size_; ++i) list[i] = list_[i];
    Free();
    list_ = list;
    room_ *= 2;
  }

  Access in_place_[kInPlace];
  Access* list_ = in_place_;
  size_t size_ = 0;
  size_t room_ = kInPlace;
};

}  // namespace npu
