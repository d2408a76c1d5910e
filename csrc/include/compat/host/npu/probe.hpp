// SPDX-License-Identifier: Apache-2.0
// Runs single instructions on arguments that are made of their types alone, to see which chips take
// them: what op_extension/portable.py compiles behind the instructions of a kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "npu/arch.hpp"
#include "npu/core_layout.hpp"
#include "npu_runtime.h"

namespace npu::probe {

template <class T, class = void>
inline constexpr bool kIsTile = false;
template <class T>
inline constexpr bool kIsTile<T, std::void_t<decltype(T::ValidRow), decltype(T::ValidCol)>> = true;

template <class T, class = void>
inline constexpr bool kIsGlobal = false;
template <class T>
inline constexpr bool kIsGlobal<T, std::void_t<typename T::Shape, typename T::Stride>> = true;

/// Zeros that stand for all global memory. The system gives pages when they are touched.
inline void* GlobalMemory() {
  static void* const kMemory = [] {
    void* memory = nullptr;
    return npuMalloc(&memory, size_t{256} << 20) == NPU_SUCCESS ? memory : nullptr;
  }();
  return kMemory;
}

/// Whether all tiles of a trial have as many valid rows and columns as the smallest of them.
inline bool same_extent_in_trial = false;

/// Rows and columns of the first tile among arguments, or of the smallest: views of global memory
/// get them, too.
struct Extent {
  int rows = 1;
  int cols = 1;
  bool is_set = false;

  template <class T>
  bool Take() {
    using Value = std::remove_cv_t<std::remove_reference_t<T>>;
    if constexpr (kIsTile<Value>) {
      const int own_rows = Value::ValidRow < 0 ? Value::Rows : Value::ValidRow;
      const int own_cols = Value::ValidCol < 0 ? Value::Cols : Value::ValidCol;
      rows = is_set ? std::min(rows, own_rows) : own_rows;
      cols = is_set ? std::min(cols, own_cols) : own_cols;
      is_set = true;
    }
    return kIsTile<Value> && !same_extent_in_trial;
  }
  template <class... T>
  static Extent Of() {
    Extent extent;
    static_cast<void>((extent.template Take<T>() || ...));
    return extent;
  }
};

/// What stands for a number: 1, such as a count or a factor, or 0, such as an address or an offset.
inline int number_of_trial = 1;

/// A tile at the start of its space, with all of it valid; a view of global memory of the size of
/// the tile; a number; nothing in particular for other types.
template <class Value>
class Argument {
 public:
  explicit Argument(const Extent& extent) {
    if constexpr (kIsTile<Value>) {
      const bool same = same_extent_in_trial;
      if constexpr (Value::ValidRow < 0) value_.SetValidRow(same ? extent.rows : Value::Rows);
      if constexpr (Value::ValidCol < 0) value_.SetValidCol(same ? extent.cols : Value::Cols);
      TASSIGN(value_, 0);
    } else if constexpr (kIsGlobal<Value>) {
      SetGlobal(extent);
    } else if constexpr (std::is_pointer_v<Value>) {
      value_ = static_cast<Value>(GlobalMemory());
    } else if constexpr (std::is_arithmetic_v<Value>) {
      value_ = static_cast<Value>(number_of_trial);
    }
  }
  Value& Get() { return value_; }

 private:
  void SetGlobal(const Extent& extent) {
    constexpr int kDims = 5;
    const int64_t sizes[kDims] = {1, 1, 1, extent.rows, extent.cols};
    int64_t distance = 1;
    value_.data() = static_cast<decltype(+value_.data())>(GlobalMemory());
    SetDims(sizes, distance, std::make_index_sequence<kDims>{});
  }
  template <size_t... kIndex>
  void SetDims(const int64_t* sizes, int64_t distance, std::index_sequence<kIndex...>) {
    (SetDim<sizeof...(kIndex) - 1 - kIndex>(sizes, distance), ...);  // the innermost first
  }
  template <size_t kDim>
  void SetDim(const int64_t* sizes, int64_t& distance) {
    if constexpr (Value::staticShape[kDim] < 0) value_.template SetShape<kDim>(sizes[kDim]);
    if constexpr (Value::staticStride[kDim] < 0) value_.template SetStride<kDim>(distance);
    distance *= value_.GetShape(kDim);
  }

  Value value_{};
};

/// Calls body with an argument for each of Params.
template <class... Params, class Body>
void With(Body body) {
  const Extent extent = Extent::Of<Params...>();
  std::tuple<Argument<std::remove_cv_t<std::remove_reference_t<Params>>>...> arguments{
      Argument<std::remove_cv_t<std::remove_reference_t<Params>>>(extent)...};
  std::apply([&](auto&... argument) { body(static_cast<Params>(argument.Get())...); }, arguments);
}

using Body = void (*)();

/// The core that runs a body: alone, or in a block with cores of the other kind, which do nothing.
enum class On : uint8_t { kVector, kCube, kVectorOfBlock, kCubeOfBlock };
inline constexpr const char* kCoreNames[] = {"vector", "cube", "vector-of-block", "cube-of-block"};

inline npuError_t Launch(Body body, On core, uint32_t flags) {
  static const npuKernelPass kBody = {[](const void* args) { (*static_cast<const Body*>(args))(); },
                                      sizeof(Body), kCoreLayout};
  static const npuKernelPass kNothing = {[](const void*) {}, sizeof(Body), kCoreLayout};
  static const npuKernel kKernels[] = {{"probe", &kBody, nullptr},
                                       {"probe", nullptr, &kBody},
                                       {"probe", &kBody, &kNothing},
                                       {"probe", &kNothing, &kBody}};
  npuLaunchConfig config = {};
  config.kernel = &kKernels[static_cast<int>(core)];
  config.block_dim = 1;
  config.flags = flags;
  config.args = &body;
  config.args_bytes = sizeof(body);
  npuError_t error = npuStreamGetDefault(0, &config.stream);
  if (error == NPU_SUCCESS) error = npuLaunchKernelWithConfig(&config);
  return error == NPU_SUCCESS ? npuStreamSynchronize(config.stream) : error;
}

/// The sentence that body ends with, of all arguments; empty where it runs to its end with some.
/// One that names the chip says more than others.
inline std::string SentenceOf(Body body, On core, uint32_t flags) {
  const char* soc = "";
  npuGetSocName(&soc);
  std::string sentence;
  for (const int trial : {0, 1, 2, 3}) {
    number_of_trial = trial % 2 == 0 ? 1 : 0;
    same_extent_in_trial = trial >= 2;
    if (Launch(body, core, flags) == NPU_SUCCESS) return "";
    if (sentence.find(soc) == std::string::npos) sentence = npuGetLastErrorMessage();
  }
  return sentence;
}

/// Runs a probe on each kind of core, with and without float64. Prints
/// "@probe <number> <core> <flags> <sentence>" for each, on a line of its own: a probe may print,
/// too.
inline void Run(int number, Body body) {
  for (const On core : {On::kVector, On::kCube, On::kVectorOfBlock, On::kCubeOfBlock}) {
    for (const uint32_t flags : {0u, NPU_LAUNCH_FLOAT64}) {
      std::printf("\n@probe %d %s %u %s\n", number, kCoreNames[static_cast<int>(core)], flags,
                  SentenceOf(body, core, flags).c_str());
      std::fflush(stdout);
    }
  }
}

/// Prints the names of all chips.
inline int PrintChips() {
  for (const Arch& arch : kArchTable) std::puts(arch.soc);
  return 0;
}

/// Main program of probes: runs those whose numbers are its arguments on the chip of NPU_SOC. With
/// the argument "chips" it prints their names instead.
template <size_t kCount>
int Main(const std::pair<int, Body> (&probes)[kCount], int count, char** arguments) {
  if (count > 1 && std::string("chips") == arguments[1]) return PrintChips();
  for (const auto& [number, body] : probes) {
    const std::string name = std::to_string(number);
    const bool is_asked = std::find(arguments + 1, arguments + count, name) != arguments + count;
    if (is_asked) Run(number, body);
  }
  return 0;
}

}  // namespace npu::probe
