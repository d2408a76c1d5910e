// SPDX-License-Identifier: Apache-2.0
// What the tests of the runtime share.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "npu_runtime.h"

/// Kernels of test/runtime/kernels.
extern "C" {
extern const npuKernel npu_kernel_append;
extern const npuKernel npu_kernel_block_leaves;
extern const npuKernel npu_kernel_builtin_trap;
extern const npuKernel npu_kernel_cross_wait;
extern const npuKernel npu_kernel_cube_asks_for_vector_pair;
extern const npuKernel npu_kernel_cube_flag_without_cube;
extern const npuKernel npu_kernel_cube_leaves;
extern const npuKernel npu_kernel_divide;
extern const npuKernel npu_kernel_empty;
extern const npuKernel npu_kernel_exceptions;
extern const npuKernel npu_kernel_fault_among_waiting;
extern const npuKernel npu_kernel_fault_in_block;
extern const npuKernel npu_kernel_fault_in_destructor;
extern const npuKernel npu_kernel_first_event_id;
extern const npuKernel npu_kernel_leave_flag_set;
extern const npuKernel npu_kernel_leave_tf32;
extern const npuKernel npu_kernel_meet_at_flag;
extern const npuKernel npu_kernel_misaligned_tile;
extern const npuKernel npu_kernel_ping_pong;
extern const npuKernel npu_kernel_poll;
extern const npuKernel npu_kernel_random_work;
extern const npuKernel npu_kernel_recurse_for_ever;
extern const npuKernel npu_kernel_store_at;
extern const npuKernel npu_kernel_sum_large;
extern const npuKernel npu_kernel_swallow;
extern const npuKernel npu_kernel_swallow_once;
extern const npuKernel npu_kernel_sync_mix_without_cube;
extern const npuKernel npu_kernel_sync_mix;
extern const npuKernel npu_kernel_sync_vector;
extern const npuKernel npu_kernel_throw_int;
extern const npuKernel npu_kernel_throw_runtime_error;
extern const npuKernel npu_kernel_times_ten;
extern const npuKernel npu_kernel_too_many_sets;
extern const npuKernel npu_kernel_vector_pair;
extern const npuKernel npu_kernel_work;
}

#define EXPECT_OK(call) EXPECT_EQ(call, NPU_SUCCESS) << npuGetLastErrorMessage()
#define ASSERT_OK(call) ASSERT_EQ(call, NPU_SUCCESS) << npuGetLastErrorMessage()

/// The call returns code with a sentence that holds text.
#define EXPECT_ERROR(call, code, text)                                             \
  do {                                                                             \
    EXPECT_EQ(call, code) << npuGetLastErrorMessage();                             \
    EXPECT_NE(std::string(npuGetLastErrorMessage()).find(text), std::string::npos) \
        << npuGetLastErrorMessage();                                               \
  } while (false)

namespace npu_test {

/// Parameters of a kernel as the bytes of a launch.
template <class... Params>
struct Args {
  alignas(8) std::byte bytes[256] = {};
  size_t count = 0;

  explicit Args(Params... params) { (Append(params), ...); }

 private:
  template <class T>
  void Append(T value) {
    count = (count + alignof(T) - 1) / alignof(T) * alignof(T);
    std::memcpy(bytes + count, &value, sizeof(T));
    count += sizeof(T);
  }
};

inline npuStream_t DefaultStream(int device = 0) {
  npuStream_t stream = nullptr;
  EXPECT_OK(npuStreamGetDefault(device, &stream));
  return stream;
}

/// Enqueues kernel with params in the order of its parameters.
template <class... Params>
npuError_t Launch(npuStream_t stream, const npuKernel& kernel, uint32_t blocks, Params... params) {
  const Args<Params...> args(params...);
  return npuLaunchKernel(&kernel, blocks, args.bytes, args.count, stream);
}

/// A stream that the test owns.
class OwnStream {
 public:
  OwnStream() { EXPECT_OK(npuStreamCreate(&stream_)); }
  ~OwnStream() { EXPECT_OK(npuStreamDestroy(stream_)); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  operator npuStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)

 private:
  npuStream_t stream_ = nullptr;
};

/// The stream works: a launch on it gives the right result.
inline void ExpectGoodLaunch(npuStream_t stream) {
  uint32_t in[4] = {1, 2, 3, 4};
  uint32_t out[4] = {};
  ASSERT_OK(Launch(stream, npu_kernel_times_ten, 4, &out[0], &in[0]));
  ASSERT_OK(npuStreamSynchronize(stream));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], 10 * in[i]);
}

}  // namespace npu_test
