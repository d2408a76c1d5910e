// SPDX-License-Identifier: Apache-2.0
// What a launch in brackets, kernel<<<blocks, l2, stream>>>(arguments), is rewritten to.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <typeinfo>
#include <utility>

#include "npu/core_layout.hpp"
#include "npu/stream.hpp"
#include "npu_runtime.h"

namespace npu {

// A source for both kinds of core is compiled once for each, both with all its host code. The
// object file of the vector pass is compiled with NPU_VECTOR_PASS_ONLY and its symbols are hidden,
// so that the linker does not take its functions for those of the cube pass; what it has to offer
// is found by the type of the lambda that stands for a launch, which has one name in both.
#ifndef NPU_SOURCE_KEY
#define NPU_SOURCE_KEY __BASE_FILE__
#endif

/// Vector passes of launches in brackets.
class VectorPasses {
 public:
  struct Entry {
    const char* source;
    const char* body;  // name of the type of its lambda
    const npuKernelPass* pass;
    Entry* next;
  };

  static void Add(Entry* entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entry->next = first_;
    first_ = entry;
  }
  static void Remove(Entry* entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Entry** at = &first_; *at != nullptr; at = &(*at)->next) {
      if (*at != entry) continue;
      *at = entry->next;
      return;
    }
  }
  /// That of the object file that was loaded last, or nullptr.
  static const npuKernelPass* Find(const char* source, const char* body) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Entry* entry = first_; entry != nullptr; entry = entry->next) {
      if (std::strcmp(entry->source, source) == 0 && std::strcmp(entry->body, body) == 0) {
        return entry->pass;
      }
    }
    return nullptr;
  }

 private:
  __attribute__((visibility("default"))) static inline std::mutex mutex_;
  __attribute__((visibility("default"))) static inline Entry* first_ = nullptr;
};

/// The pass of this object file that calls the kernel of a launch.
template <class Body>
inline const npuKernelPass kPassOf = {
    [](const void* args) { (**static_cast<Body* const*>(args))(); }, sizeof(Body*), kCoreLayout};

#ifdef NPU_VECTOR_PASS_ONLY
template <class Body>
class VectorPassOf {
 public:
  VectorPassOf() { VectorPasses::Add(&entry_); }
  ~VectorPassOf() { VectorPasses::Remove(&entry_); }
  static const VectorPassOf kInstance;

 private:
  VectorPasses::Entry entry_ = {NPU_SOURCE_KEY, typeid(Body).name(), &kPassOf<Body>, nullptr};
};
template <class Body>
const VectorPassOf<Body> VectorPassOf<Body>::kInstance;
#endif

/// The kernel of a launch in brackets.
template <class Body>
inline npuKernel KernelOf(const char* name) {
#if defined(__DAV_CUBE__) && !defined(__DAV_VEC__)
  return {name, VectorPasses::Find(NPU_SOURCE_KEY, typeid(Body).name()), &kPassOf<Body>};
#else
  return {name, &kPassOf<Body>, nullptr};
#endif
}

/// Enqueues blocks runs of body, which calls a kernel, on stream (nullptr: the default stream). A
/// launch in brackets has no result: why it was refused goes to stderr, too.
template <class Body>
npuError_t LaunchBody(const char* name, uint32_t blocks, void* stream, Body body) {
#ifdef NPU_VECTOR_PASS_ONLY
  static_cast<void>(&VectorPassOf<Body>::kInstance);
#endif
  static const npuKernel kKernel = KernelOf<Body>(name);
  auto owned = std::make_unique<Body>(std::move(body));
  Body* pointer = owned.get();
  npuLaunchConfig config = {};
  config.kernel = &kKernel;
  config.block_dim = blocks;
  config.args = &pointer;
  config.args_bytes = sizeof(pointer);
  npuError_t error = ResolveStream(stream, &config.stream);
  if (error == NPU_SUCCESS) {
    config.release = [](void* owner) { delete static_cast<Body*>(owner); };
    config.owner = owned.release();
    error = npuLaunchKernelWithConfig(&config);
  }
  if (error != NPU_SUCCESS) {
    std::fprintf(stderr, "%s<<<>>>: expected a launch, got: %s\n", name, npuGetLastErrorMessage());
  }
  return error;
}

}  // namespace npu
