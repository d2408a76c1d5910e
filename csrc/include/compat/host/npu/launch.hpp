// SPDX-License-Identifier: Apache-2.0
// What a launch in brackets, kernel<<<blocks, l2, stream>>>(arguments), is rewritten to, and what
// the functions aclrtlaunch_<kernel> call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
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

/// Whether the machine code of pass is a return and nothing before it, as the optimizer leaves of a
/// kernel that a source makes empty for the kind of core that it is not for.
inline bool ReturnsAtOnce(const npuKernelPass& pass) {
#if defined(__x86_64__)
  constexpr unsigned char kLanding[] = {0xf3, 0x0f, 0x1e, 0xfa};  // endbr64
  constexpr unsigned char kReturn[] = {0xc3};                     // ret
#elif defined(__aarch64__)
  constexpr unsigned char kLanding[] = {0x5f, 0x24, 0x03, 0xd5};  // bti c
  constexpr unsigned char kReturn[] = {0xc0, 0x03, 0x5f, 0xd6};   // ret
#endif
  const auto* code = reinterpret_cast<const unsigned char*>(pass.run);
  if (std::memcmp(code, kLanding, sizeof(kLanding)) == 0) code += sizeof(kLanding);
  return std::memcmp(code, kReturn, sizeof(kReturn)) == 0;
}

/// The kinds of core that a kernel says it is for; kNotEmpty: it says nothing.
enum class Cores { kNotEmpty, kVector, kCube, kBoth };

/// A kernel with two passes (or one of them nullptr). If it names no kind of core, an empty pass
/// counts as none: a block is then one core, as where the chip's compiler finds the kernel to be
/// for one kind of core.
inline npuKernel OfPasses(const char* name, const npuKernelPass* vector, const npuKernelPass* cube,
                          Cores cores) {
  if (cores == Cores::kVector) return {name, vector, nullptr};
  if (cores == Cores::kCube) return {name, nullptr, cube};
  if (cores == Cores::kBoth || vector == nullptr || cube == nullptr) return {name, vector, cube};
  if (ReturnsAtOnce(*cube)) return {name, vector, nullptr};
  return {name, ReturnsAtOnce(*vector) ? nullptr : vector, cube};
}

/// The kernel of a launch in brackets.
template <class Body>
inline npuKernel KernelOf(const char* name, Cores cores) {
#if defined(__DAV_CUBE__) && !defined(__DAV_VEC__)
  return OfPasses(name, VectorPasses::Find(NPU_SOURCE_KEY, typeid(Body).name()), &kPassOf<Body>,
                  cores);
#else
  return OfPasses(name, &kPassOf<Body>, nullptr, cores);
#endif
}

/// Enqueues what config says on stream (nullptr: the default stream). Why it was refused goes to
/// stderr, too: callers of both kinds of launch rarely look at a result. call: the kernel's name
/// and what follows it.
inline npuError_t Enqueue(npuLaunchConfig config, void* stream, const char* call) {
  npuError_t error = ResolveStream(stream, &config.stream);
  if (error == NPU_SUCCESS) {
    error = npuLaunchKernelWithConfig(&config);
  } else if (config.release != nullptr) {
    config.release(config.owner);
  }
  if (error != NPU_SUCCESS) {
    std::fprintf(stderr, "%s: expected a launch, got: %s\n", call, npuGetLastErrorMessage());
  }
  return error;
}

/// Enqueues blocks runs of body, which calls a kernel, on stream (nullptr: the default stream). A
/// launch in brackets has no result.
template <class Body>
npuError_t LaunchBody(const char* name, uint32_t blocks, void* stream, Body body,
                      Cores cores = Cores::kNotEmpty) {
#ifdef NPU_VECTOR_PASS_ONLY
  static_cast<void>(&VectorPassOf<Body>::kInstance);
#endif
  static const npuKernel kKernel = KernelOf<Body>(name, cores);
  auto owned = std::make_unique<Body>(std::move(body));
  Body* pointer = owned.get();
  npuLaunchConfig config = {};
  config.kernel = &kKernel;
  config.block_dim = blocks;
  config.args = &pointer;
  config.args_bytes = sizeof(pointer);
  config.release = [](void* owner) { delete static_cast<Body*>(owner); };
  config.owner = owned.release();
  return Enqueue(config, stream, (std::string(name) + "<<<>>>").c_str());
}

/// Enqueues blocks runs of kernel on stream with arguments, of the types of its parameters: what a
/// function aclrtlaunch_<kernel> does.
template <class... Arguments>
uint32_t LaunchWithArguments(const npuKernel& kernel, uint32_t blocks, void* stream,
                             Arguments... arguments) {
  alignas(std::max_align_t) std::byte bytes[(size_t{1} + ... + (2 * sizeof(Arguments)))] = {};
  size_t end = 0;
  const auto write = [&](const auto& argument) {
    end = (end + alignof(decltype(argument)) - 1) / alignof(decltype(argument)) *
          alignof(decltype(argument));
    std::memcpy(bytes + end, &argument, sizeof(argument));
    end += sizeof(argument);
  };
  (write(arguments), ...);
  npuLaunchConfig config = {};
  config.kernel = &kernel;
  config.block_dim = blocks;
  config.args = bytes;
  config.args_bytes = end;
  return Enqueue(config, stream, (std::string("aclrtlaunch_") + kernel.name).c_str());
}

}  // namespace npu
