// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which sanitizer this library is built with.
#if defined(__has_feature)
#define NPU_HAS_FEATURE(feature) __has_feature(feature)
#else
#define NPU_HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || NPU_HAS_FEATURE(address_sanitizer)
#define NPU_ASAN 1
#else
#define NPU_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || NPU_HAS_FEATURE(thread_sanitizer)
#define NPU_TSAN 1
#else
#define NPU_TSAN 0
#endif
