// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/fixpipe.hpp"
#include "pto/fixpipe_params.hpp"
#include "pto/global_range.hpp"

/// Instructions of the chip on plain addresses that kernels use beside tiles.

namespace pto::detail {

/// Bytes on the chip or in global memory, as a range to check.
struct RawRange {
  const char* op;
  npu::Space space;
  char* data;
  int64_t bytes;
};

/// Where an address of space lies: kernels pass what data() of a tile gave, or an offset.
inline char* RawPlace(const npu::Core& core, npu::Space space, const void* address) {
  char* data = const_cast<char*>(static_cast<const char*>(address));
  const std::byte* base = core.scratchpad[static_cast<int>(space)];
  if (npu::IsPlace(address) || base == nullptr) return data;
  return const_cast<char*>(reinterpret_cast<const char*>(base)) +
         reinterpret_cast<uintptr_t>(address);
}

/// Faults unless the range lies within its space, where it starts at a block, or its allocation.
NPU_ONE_BODY(void CheckRawRange(npu::Core& core, const RawRange& range)) {
  if (range.space == npu::Space::kGm) {
    return CheckGlobalBytes(core, range.op, range.data, range.bytes);
  }
  const auto space = static_cast<int>(range.space);
  const std::byte* base = core.scratchpad[space];
  const int64_t offset = range.data - reinterpret_cast<const char*>(base);
  const auto capacity = static_cast<int64_t>(core.arch->capacity[space]);
  const bool inside = base != nullptr && npu::IsPlace(range.data) && offset >= 0 &&
                      offset <= capacity && range.bytes <= capacity - offset;
  if (inside && (offset % npu::kTileAlignment == 0 || !core.check_limits)) return;
  if (inside) {
    npu::RaiseFault(range.op,
                    "an address of " + npu::Text(npu::SpaceName(range.space)) +
                        " of a multiple of " + npu::TextOf(npu::kTileAlignment) + " bytes",
                    npu::TextOf(offset));
  }
  npu::RaiseFault(range.op,
                  "an address of " + npu::Text(npu::SpaceName(range.space)) + " with " +
                      npu::TextOf(range.bytes) + " bytes up to its end",
                  base == nullptr ? npu::Text("a core without it") : npu::TextOf(offset));
}

/// Fields of copy_matrix_cc_to_gm.
struct RawAccStore {
  int64_t rows, cols, to_pitch, from_rows;
  uint64_t quant;
  bool has_relu, splits, to_nd;
};

NPU_ONE_BODY(void CheckRawAccStore(const RawAccStore& store, uint64_t expected_quant)) {
  constexpr const char* kOp = "copy_matrix_cc_to_gm";
  if (!store.to_nd || store.splits) {
    npu::RaiseFault(kOp, "a store into rows of a matrix (others only by TSTORE)",
                    store.splits ? "channels that are split" : "boxes");
  }
  if (store.quant != expected_quant) {
    npu::RaiseFault(kOp,
                    "quantization mode " + npu::TextOf(expected_quant) +
                        " for these element types (others only by TSTORE)",
                    npu::TextOf(store.quant));
  }
}

/// Each row of a matrix from its runs of 16 in the boxes of an accumulator.
template <class Out, class In>
inline void PutRawAcc(Out* to, const In* from, const RawAccStore& store) {
  const int64_t rows = store.rows, cols = store.cols;
  for (int64_t col = 0; col < cols; col += 16) {
    const auto count = static_cast<size_t>(std::min<int64_t>(16, cols - col));
    for (int64_t row = 0; row < rows; ++row) {
      const In* run = from + col * store.from_rows + row * 16;
      Out* line = to + row * store.to_pitch + col;
      if (store.has_relu) {
        ConvertRun<ReluPreMode::NormalRelu>(line, run, count);
      } else {
        ConvertRun<ReluPreMode::NoRelu>(line, run, count);
      }
    }
  }
}

template <class Out, class In>
[[gnu::noinline]] void StoreRawAcc(Out* to, const In* from, const RawAccStore& store) {
  constexpr const char* kOp = "copy_matrix_cc_to_gm";
  constexpr bool kPlain = std::is_same_v<Out, In>;
  constexpr bool kNarrows = std::is_same_v<In, float> && npu::simd::kIsHalf<Out>;
  const void* call_site = __builtin_return_address(0);
  const npu::Core& core = npu::RunningCore(kOp);
  const int64_t boxes = (store.cols + 15) / 16, rows = store.rows, cols = store.cols;
  const bool is_empty = rows <= 0 || cols <= 0;
  const int64_t read = is_empty ? 0 : ((boxes - 1) * store.from_rows + rows) * 16;
  const int64_t written = is_empty ? 0 : (rows - 1) * store.to_pitch + cols;
  const RawRange source = {kOp, npu::Space::kL0C, RawPlace(core, npu::Space::kL0C, from),
                           read * static_cast<int64_t>(sizeof(In))};
  const RawRange target = {kOp, npu::Space::kGm, reinterpret_cast<char*>(to),
                           written * static_cast<int64_t>(sizeof(Out))};
  const auto operands = [&](auto report) {
    const auto area = static_cast<uint64_t>(rows * cols);
    const npu::Access written = {npu::Space::kGm,
                                 true,
                                 target.data,
                                 is_empty ? 0 : static_cast<size_t>(rows),
                                 static_cast<size_t>(cols) * sizeof(Out),
                                 static_cast<size_t>(store.to_pitch) * sizeof(Out)};
    npu::AccessList read;
    for (int64_t col = 0; !is_empty && col < cols; col += 16) {
      const auto count = static_cast<size_t>(std::min<int64_t>(16, cols - col));
      read.AddRows({npu::Space::kL0C, false,
                    reinterpret_cast<const In*>(source.data) + col * store.from_rows,
                    static_cast<size_t>(rows), count * sizeof(In), 16 * sizeof(In)});
    }
    report(npu::Work{area, area * sizeof(Out), 0}, written, read);
  };
  npu::Issue(kOp, npu::Pipe::kFix, call_site, operands, [&] {
    constexpr uint64_t kCast = std::is_same_v<Out, half> ? F322F16 : F322BF16;
    if (is_empty) return;
    CheckRawAccStore(store, kPlain ? uint64_t{NoQuant} : kNarrows ? kCast : ~uint64_t{0});
    CheckRawRange(*npu::current_core, source);
    CheckRawRange(*npu::current_core, target);
    if constexpr (kPlain || kNarrows) {
      PutRawAcc(to, reinterpret_cast<const In*>(source.data), store);
    }
  });
}

NPU_ONE_BODY(void SetNdPara(uint64_t value)) {
  npu::CountInstruction(npu::RunningCore("set_nd_para"));
  const uint64_t matrices = value & 0xffff;
  if (matrices > 1) npu::RaiseFault("set_nd_para", "one matrix", npu::TextOf(matrices));
}

}  // namespace pto::detail

/// Stores rows x cols elements of an accumulator of from_rows rows into a matrix, to_pitch elements
/// from row to row; float to float, half or bfloat16, int32 to int32. Other modes of quantization,
/// and boxes, only by TSTORE. Pipe FIX. Source: CCE intrinsics.
template <class Out, class In>
[[gnu::always_inline]] inline void copy_matrix_cc_to_gm(Out* to, In* from, uint8_t, uint16_t cols,
                                                        uint16_t rows, uint32_t to_pitch,
                                                        uint16_t from_rows, uint8_t, uint64_t quant,
                                                        uint8_t relu, bool splits, bool to_nd) {
  pto::detail::StoreRawAcc(to, from,
                           {rows, cols, to_pitch, from_rows, quant, relu != 0, splits, to_nd});
  npu::KeepCallSite();
}

/// How many matrices copy_matrix_cc_to_gm writes: one.
inline void set_nd_para(uint64_t value) { pto::detail::SetNdPara(value); }
