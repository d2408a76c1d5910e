// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "npu/issue.hpp"
#include "pto/tile_facts.hpp"

/// Rules of the chip that an instruction's operands must keep. Each fault names the instruction and
/// both values.
namespace pto::detail {

/// Whether this is compiled for programs that call kernels from host code: forms of instructions
/// that no chip has compile there alone. At run time npu::TakesHostForms() says so.
#ifdef __CPU_SIM
inline constexpr bool kForHost = true;
#else
inline constexpr bool kForHost = false;
#endif

/// Sets of element types.
enum TypeSet : uint32_t {
  kInt8 = 1 << 0,
  kUint8 = 1 << 1,
  kInt16 = 1 << 2,
  kUint16 = 1 << 3,
  kInt32 = 1 << 4,
  kUint32 = 1 << 5,
  kInt64 = 1 << 6,
  kUint64 = 1 << 7,
  kHalf = 1 << 8,
  kBfloat16 = 1 << 9,
  kFloat = 1 << 10,
  kDouble = 1 << 11,
  kInt4 = 1 << 12,
  kE4m3 = 1 << 13,
  kE5m2 = 1 << 14,
  kE8m0 = 1 << 15,
  kHif8 = 1 << 16,
  kE2m1x2 = 1 << 17,
  kE1m2x2 = 1 << 18,
};

template <class T>
inline constexpr uint32_t kTypeBit = 0;
template <>
inline constexpr uint32_t kTypeBit<int4b_t> = kInt4;
template <>
inline constexpr uint32_t kTypeBit<int8_t> = kInt8;
template <>
inline constexpr uint32_t kTypeBit<uint8_t> = kUint8;
template <>
inline constexpr uint32_t kTypeBit<int16_t> = kInt16;
template <>
inline constexpr uint32_t kTypeBit<uint16_t> = kUint16;
template <>
inline constexpr uint32_t kTypeBit<int32_t> = kInt32;
template <>
inline constexpr uint32_t kTypeBit<uint32_t> = kUint32;
template <>
inline constexpr uint32_t kTypeBit<int64_t> = kInt64;
template <>
inline constexpr uint32_t kTypeBit<uint64_t> = kUint64;
template <>
inline constexpr uint32_t kTypeBit<half> = kHalf;
template <>
inline constexpr uint32_t kTypeBit<bfloat16_t> = kBfloat16;
template <>
inline constexpr uint32_t kTypeBit<float> = kFloat;
template <>
inline constexpr uint32_t kTypeBit<double> = kDouble;
template <>
inline constexpr uint32_t kTypeBit<float8_e4m3_t> = kE4m3;
template <>
inline constexpr uint32_t kTypeBit<float8_e5m2_t> = kE5m2;
template <>
inline constexpr uint32_t kTypeBit<float8_e8m0_t> = kE8m0;
template <>
inline constexpr uint32_t kTypeBit<hifloat8_t> = kHif8;
template <>
inline constexpr uint32_t kTypeBit<float4_e2m1x2_t> = kE2m1x2;
template <>
inline constexpr uint32_t kTypeBit<float4_e1m2x2_t> = kE1m2x2;

/// Element types of an instruction, by generation.
struct TypeRule {
  uint32_t a3;
  uint32_t a5;
};

/// What reductions, and expansions with arithmetic, compute.
inline constexpr TypeRule kLaneArithmetic = {kInt16 | kInt32 | kHalf | kFloat,
                                             kInt16 | kInt32 | kHalf | kBfloat16 | kFloat};
inline constexpr uint32_t kInts8To32 = kInt8 | kUint8 | kInt16 | kUint16 | kInt32 | kUint32;
inline constexpr uint32_t kInts16And32 = kInt16 | kUint16 | kInt32 | kUint32;
inline constexpr uint32_t kAny8To32 = kInts8To32 | kHalf | kBfloat16 | kFloat;
inline constexpr uint32_t kLeftRightTypes = kInt8 | kHalf | kBfloat16 | kFloat;
inline constexpr uint32_t kAny16And32 = kAny8To32 & ~(kInt8 | kUint8);

/// Of 8 and 16-bit floats, the largest finite one.
template <class T>
inline constexpr float kLargest = std::is_same_v<T, half> ? 65504.0f : 0x1.fep127f;
template <>
inline constexpr float kLargest<float8_e4m3_t> = 448.0f;
template <>
inline constexpr float kLargest<float8_e5m2_t> = 57344.0f;
template <>
inline constexpr float kLargest<hifloat8_t> = 32768.0f;

/// "int16, int32, half or float".
NPU_ONE_BODY(npu::Text TypeNames(uint32_t set)) {
  constexpr const char* kNames[] = {"int8",     "uint8",         "int16",        "uint16",
                                    "int32",    "uint32",        "int64",        "uint64",
                                    "half",     "bfloat16",      "float",        "double",
                                    "int4",     "float8_e4m3",   "float8_e5m2",  "float8_e8m0",
                                    "hifloat8", "float4_e2m1x2", "float4_e1m2x2"};
  npu::Text text;
  for (int i = 0; i < 19; ++i) {
    if ((set >> i & 1) == 0) continue;
    const bool last = (set >> i) == 1;
    if (!text.empty()) text += last ? " or " : ", ";
    text += kNames[i];
  }
  return text;
}

NPU_ONE_BODY(NPU_RAISES void RaiseType(const npu::Core& core, const char* op, uint32_t allowed,
                                       const char* got)) {
  npu::RaiseFault(op, "elements of type " + TypeNames(allowed) + " on " + core.arch->soc, got);
}

/// Faults unless the running SoC computes op on elements of type (of TypeSet, with its name).
/// double is an extension that a launch asks for. Host code may take what any chip computes, and
/// host_types.
inline void CheckType(const npu::Core& core, const char* op, TypeRule rule, uint32_t type,
                      const char* name, uint32_t host_types = 0) {
  const uint32_t allowed = core.arch->generation == npu::Generation::kA3 ? rule.a3 : rule.a5;
  if (__builtin_expect((type & allowed) != 0 || !core.check_limits, 1)) return;
  if (type == kDouble && core.allow_float64) return;
  if (npu::TakesHostForms(core) && (type & (rule.a3 | rule.a5 | host_types)) != 0) return;
  RaiseType(core, op, allowed, name);
}

template <class T>
inline void CheckType(const npu::Core& core, const char* op, TypeRule rule,
                      uint32_t host_types = 0) {
  CheckType(core, op, rule, kTypeBit<T>, kTypeName<T>, host_types);
}

NPU_ONE_BODY(NPU_RAISES void RaiseOperandType(const npu::Core& core, const char* op,
                                              const char* operand, uint32_t allowed,
                                              const char* got)) {
  npu::RaiseFault(
      op, npu::Text(operand) + " of type " + TypeNames(allowed) + " on " + core.arch->soc, got);
}

/// The same for one operand, such as the indexes of a gather.
template <class T>
inline void CheckOperandType(const npu::Core& core, const char* op, const char* operand,
                             TypeRule rule) {
  const uint32_t allowed = core.arch->generation == npu::Generation::kA3 ? rule.a3 : rule.a5;
  if (__builtin_expect((kTypeBit<T> & allowed) != 0 || !core.check_limits, 1)) return;
  if (npu::TakesHostForms(core) && (kTypeBit<T> & (rule.a3 | rule.a5)) != 0) return;
  RaiseOperandType(core, op, operand, allowed, kTypeName<T>);
}

NPU_ONE_BODY(NPU_RAISES void RaiseGeneration(const npu::Core& core, const char* op)) {
  npu::RaiseFault(op, "a chip of generation A5", core.arch->soc);
}

/// Faults on A2/A3, which lacks op.
inline void CheckIsA5(const npu::Core& core, const char* op) {
  const bool lacks = core.arch->generation == npu::Generation::kA3 && core.check_limits;
  if (__builtin_expect(lacks, 0) && !npu::TakesHostForms(core)) RaiseGeneration(core, op);
}

/// Whether an instruction that fills a tile of L1 is the cube core's: a vector core of A5 passes
/// over it in a kernel of both kinds of core, whose text is one. Source: PTO ISA, tests of TLOAD
/// (A5).
template <class TileT>
inline bool IsOfCubeCore() {
  if constexpr (TileT::Loc == TileType::Mat) {
    const npu::Core* core = npu::current_core;
    return core != nullptr && core->type == npu::CoreType::kVector && core->sub_block_num != 1 &&
           core->arch->generation == npu::Generation::kA5;
  } else {
    return false;
  }
}

NPU_ONE_BODY(NPU_RAISES void RaiseOdd(const char* op, const char* what, int64_t got)) {
  npu::RaiseFault(op, npu::Text("an even ") + what + " of elements of 4 bits", npu::TextOf(got));
}

/// Faults where a tile of elements of 4 bits is taken from within a byte.
template <class TileT>
inline void CheckPairs(const npu::Core& core, const char* op, int row, int col) {
  if constexpr (kPacked<typename TileT::DType> != 1) {
    const int at = kLinesAreRows<TileT> ? col : row;
    if (at % 2 != 0 && core.check_limits) RaiseOdd(op, kLinesAreRows<TileT> ? "column" : "row", at);
  }
}

NPU_ONE_BODY(NPU_RAISES void RaiseTile(const char* op, const char* operand,
                                       const TileFacts& tile)) {
  const npu::Core& core = *npu::current_core;
  const npu::Space space = SpaceOf(tile.kind->loc);
  if (core.scratchpad[static_cast<int>(space)] == nullptr) {
    npu::RaiseFault(
        op, npu::Text("a core with ") + npu::SpaceName(space) + " for the " + tile.Describe(),
        core.type == npu::CoreType::kCube ? "a cube core" : "a vector core");
  }
  if (!npu::IsPlace(tile.data)) {
    npu::RaiseFault(op, npu::Text(operand) + " with an address from TASSIGN",
                    "a " + tile.Describe() + " without one");
  }
  npu::RaiseFault(op,
                  npu::Text("a valid region of ") + operand + " from 0x0 to " +
                      TileFacts::Extent(tile.kind->rows, tile.kind->cols),
                  TileFacts::Extent(tile.valid_rows, tile.valid_cols));
}

NPU_ONE_BODY(NPU_RAISES void RaiseCompact(const char* op, const char* operand,
                                          const TileFacts& tile, size_t end)) {
  const npu::Core& core = *npu::current_core;
  const npu::Space space = SpaceOf(tile.kind->loc);
  npu::RaiseFault(
      op,
      npu::Text("a valid region of ") + operand + ", a compact " + tile.Describe() +
          ", that ends within the " +
          npu::TextOf(static_cast<int64_t>(core.arch->capacity[static_cast<int>(space)])) +
          " bytes of " + npu::SpaceName(space) + " on " + core.arch->soc,
      TileFacts::Extent(tile.valid_rows, tile.valid_cols) + ", end " +
          npu::TextOf(static_cast<int64_t>(end)));
}

/// Whether a tile lies in another space than its own, or in memory of the host, where programs for
/// simulators put some.
inline bool LiesElsewhere(const npu::Core& core, const TileFacts& tile) {
  const npu::Space space = SpaceOf(tile.kind->loc);
  const auto offset = static_cast<size_t>(tile.data - core.scratchpad[static_cast<int>(space)]);
  return npu::TakesHostForms(core) && offset >= npu::LargestCapacity(space);
}

/// Faults unless a compact tile, whose valid region may have grown since TASSIGN, ends within its
/// space. Holds with checks off too.
NPU_ONE_BODY(void CheckCompact(const npu::Core& core, const char* op, const char* operand,
                               const TileFacts& tile)) {
  const auto space = static_cast<int>(SpaceOf(tile.kind->loc));
  const auto offset = static_cast<size_t>(tile.data - core.scratchpad[space]);
  const size_t end = offset + tile.Bytes();
  if (end > core.arch->capacity[space] && !LiesElsewhere(core, tile))
    RaiseCompact(op, operand, tile, end);
}

NPU_ONE_BODY(NPU_RAISES void RaiseEnd(const char* op, const char* operand, const TileFacts& tile,
                                      size_t rows, size_t cols, size_t end)) {
  const npu::Core& core = *npu::current_core;
  const npu::Space space = SpaceOf(tile.kind->loc);
  npu::RaiseFault(
      op,
      TileFacts::Extent(static_cast<int64_t>(rows), static_cast<int64_t>(cols)) + " elements of " +
          operand + ", a " + tile.Describe() + ", that end within the " +
          npu::TextOf(static_cast<int64_t>(core.arch->capacity[static_cast<int>(space)])) +
          " bytes of " + npu::SpaceName(space) + " on " + core.arch->soc,
      "end " + npu::TextOf(static_cast<int64_t>(end)));
}

/// Faults unless the first rows x cols elements of an accumulator end within its space: TASSIGN
/// asks for the room of a window alone, whose extent may end behind it. Holds with checks off too.
NPU_ONE_BODY(void CheckEnds(const npu::Core& core, const char* op, const char* operand,
                            const TileFacts& tile, size_t rows, size_t cols)) {
  if (rows == 0 || cols == 0) return;
  const auto space = static_cast<int>(SpaceOf(tile.kind->loc));
  const LineOrder order = tile.Order();
  const size_t last =
      order.lines_are_rows ? order.Offset(rows - 1, cols - 1) : order.Offset(cols - 1, rows - 1);
  const auto offset = static_cast<size_t>(tile.data - core.scratchpad[space]);
  const size_t end = offset + (last + 1) * tile.kind->element_bytes;
  if (end > core.arch->capacity[space]) RaiseEnd(op, operand, tile, rows, cols, end);
}

/// Faults unless tile has an address and a valid region within its extent. operand names the tile
/// in the message.
inline void CheckTile(const npu::Core& core, const char* op, const char* operand,
                      const TileFacts& tile) {
  const bool good = npu::IsPlace(tile.data) && (tile.ValidRegionFits() || !core.check_limits);
  if (__builtin_expect(!good, 0)) RaiseTile(op, operand, tile);
  if (__builtin_expect(tile.kind->is_compact, 0)) {
    CheckCompact(core, op, operand, tile);
  } else if (tile.kind->loc == TileType::Acc) {
    CheckEnds(core, op, operand, tile, tile.ValidRows(), tile.ValidCols());
  }
}

template <class TileT>
inline void CheckTile(const npu::Core& core, const char* op, const char* operand,
                      const TileT& tile) {
  CheckTile(core, op, operand, TileFacts(tile));
}

/// The same before the instruction issues.
template <class TileT>
inline void CheckNext(const char* op, const char* operand, const TileT& tile) {
  const npu::NextInstruction next(op);
  CheckTile(*npu::current_core, op, operand, tile);
}

template <class TileT>
inline void CheckNextPairs(const char* op, int row, int col) {
  if constexpr (kPacked<typename TileT::DType> != 1) {
    const npu::NextInstruction next(op);
    CheckPairs<TileT>(*npu::current_core, op, row, col);
  }
}

NPU_ONE_BODY(NPU_RAISES void RaiseValidShape(const char* op, const char* operand, int dst_rows,
                                             int dst_cols, int rows, int cols)) {
  npu::RaiseFault(op,
                  npu::Text(operand) + " of valid shape " + TileFacts::Extent(dst_rows, dst_cols) +
                      " (that of dst)",
                  TileFacts::Extent(rows, cols));
}

/// Faults unless src has the valid shape of dst.
template <class Dst, class Src>
inline void CheckSameValidShape(const npu::Core& core, const char* op, const char* operand,
                                const Dst& dst, const Src& src) {
  const bool same =
      src.GetValidRow() == dst.GetValidRow() && src.GetValidCol() == dst.GetValidCol();
  if (__builtin_expect(same || !core.check_limits, 1)) return;
  RaiseValidShape(op, operand, dst.GetValidRow(), dst.GetValidCol(), src.GetValidRow(),
                  src.GetValidCol());
}

}  // namespace pto::detail
