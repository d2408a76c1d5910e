// SPDX-License-Identifier: Apache-2.0
// The cube core and the vector cores of a block, each through the same template.
#include <pto/pto-inst.hpp>

namespace {

#ifdef __DAV_CUBE__
constexpr bool kIsCube = true;
#else
constexpr bool kIsCube = false;
#endif

}  // namespace

/// Of both passes, under one name: a linker that kept one of them would break the other.
template <class T>
[[gnu::noinline]] AICORE void Visit(__gm__ T* cells) {
#ifdef __DAV_CUBE__
  cells[0] = 100 + static_cast<T>(block_idx);
#else
  cells[1 + get_subblockid()] =
      200 + 10 * static_cast<T>(get_subblockid()) + static_cast<T>(block_idx);
#endif
}

extern "C" __global__ AICORE void visit(__gm__ int32_t* cells) { Visit(cells + 3 * block_idx); }

extern "C" __global__ AICORE void cross_wait(__gm__ int32_t*) { wait_flag_dev(kIsCube ? 5 : 6); }

extern "C" __global__ AICORE void which_core(__gm__ int32_t* cells) { cells[0] = kIsCube ? 1 : 2; }

#ifdef __DAV_CUBE__
extern "C" __global__ AICORE void cube_only(__gm__ int32_t* cells) { cells[0] = 3; }
extern "C" __global__ AICORE void unlike(__gm__ int32_t* cells, float) { cells[0] = 4; }
#else
extern "C" __global__ AICORE void unlike(__gm__ int32_t* cells, int64_t) { cells[0] = 4; }
#endif
