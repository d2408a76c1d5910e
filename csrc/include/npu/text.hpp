// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/one_body.hpp"

namespace npu {

/// Text of the length of a sentence; what does not fit is cut. std::string would serve as well, but
/// a kernel that is compiled while a program runs pays 40 ms for its header.
class Text {
 public:
  NPU_ONE_BODY(Text(const char* text = "")) : size_(0) {  // NOLINT(google-explicit-constructor)
    Append(text);
  }
  /// Of a std::string, where its header is at hand.
  template <class String, class = decltype(static_cast<const String*>(nullptr)->c_str())>
  Text(const String& text) : Text(text.c_str()) {}  // NOLINT(google-explicit-constructor)

  const char* c_str() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  Text& operator+=(const Text& other) {
    Append(other.data_);
    return *this;
  }
  friend Text operator+(Text left, const Text& right) { return left += right; }

 private:
  NPU_ONE_BODY(void Append(const char* text)) {
    while (*text != '\0' && size_ + 1 < kCapacity) data_[size_++] = *text++;
    data_[size_] = '\0';
  }

  static constexpr size_t kCapacity = 1000;  // bytes with the final 0; sentences have some 300

  size_t size_;
  char data_[kCapacity];
};

/// Decimal digits of value.
NPU_ONE_BODY(Text TextOf(int64_t value)) {
  char digits[24];
  char* at = digits + sizeof(digits) - 1;
  *at = '\0';
  uint64_t rest = value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  do {
    *--at = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (value < 0) *--at = '-';
  return Text(at);
}

}  // namespace npu
