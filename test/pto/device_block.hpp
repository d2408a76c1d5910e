// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>

#include "npu_runtime.h"

namespace test {

/// A block of npuMalloc: memory that transfers find.
template <class T>
class Block {
 public:
  explicit Block(size_t bytes) { EXPECT_EQ(npuMalloc(&data_, bytes), NPU_SUCCESS); }
  ~Block() { EXPECT_EQ(npuFree(data_), NPU_SUCCESS); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  T* data() const { return static_cast<T*>(data_); }

 private:
  void* data_ = nullptr;
};

}  // namespace test
