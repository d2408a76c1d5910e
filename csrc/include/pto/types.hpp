// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/float8.hpp"
#include "npu/half.hpp"
#include "npu/instruction.hpp"

// What the chip's compiler spells as address spaces and function kinds. On the host all memory is
// one.
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __in__
#define __out__
#define __tf__
#define AICORE
#define __aicore__
#define aicore [maybe_unused]  // kernels spell it [aicore], too
#define __global__
// Kinds of core of a kernel: read by what makes its launches.
#define __vector__
#define __cube__
#define __mix__(...)
#define GM_ADDR __gm__ uint8_t*
#if defined(__x86_64__) && !defined(__clang__)
using __fp16 = half;  // a keyword of the chip's compiler, as on aarch64
#endif
#define PTO_INTERNAL AICORE inline
#define PTO_INST AICORE inline
#define PTO_INLINE inline

/// Pipes of a core, for set_flag, wait_flag and pipe_barrier.
enum pipe_t {
  PIPE_S = static_cast<int>(npu::Pipe::kS),
  PIPE_V = static_cast<int>(npu::Pipe::kV),
  PIPE_M = static_cast<int>(npu::Pipe::kM),
  PIPE_MTE1 = static_cast<int>(npu::Pipe::kMte1),
  PIPE_MTE2 = static_cast<int>(npu::Pipe::kMte2),
  PIPE_MTE3 = static_cast<int>(npu::Pipe::kMte3),
  PIPE_FIX = static_cast<int>(npu::Pipe::kFix),
  PIPE_ALL = static_cast<int>(npu::Pipe::kAll),
};

/// Event ids of a pair of pipes. Kernels cast integers to it.
enum event_t : int {
  EVENT_ID0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7,
};

/// Two 4-bit integers, the first in the low half. A tile of them counts each as an element and
/// keeps a row's pairs in the first half of the row. Source: PTO ISA, TCVT.
struct int4b_t {
  uint8_t pair;
#ifdef __CPU_SIM
  explicit operator float() const { return static_cast<float>(((pair & 0xf) ^ 8) - 8); }
#endif
};

namespace pto {

inline constexpr int DYNAMIC = -1;  // a dimension that is given at run time

enum class TileType : uint8_t {
  Vec,
  Mat,
  Left,
  Right,
  Acc,
  Bias,
  Scaling,
  ScaleLeft,
  ScaleRight,
  Ctrl
};
enum class BLayout : uint8_t { RowMajor, ColMajor };
enum class SLayout : uint8_t { NoneBox, RowMajor, ColMajor };
/// What TLOAD and TFILLPAD write outside the valid region; a custom value is CustomBase plus its
/// bits.
enum class PadValue : uint64_t { Null, Zero, Max, Min, CustomBase = uint64_t{1} << 32 };
enum class CompactMode : uint8_t { Null, Normal, RowPlusOne, RowAlignedPadding };
/// Order of a GlobalTensor or ConvTile: letters name dimensions outermost first, C1 and C0 are
/// channels / C0 and channels within 32 bytes. Source: PTO ISA, Layout.
enum class Layout : uint8_t {
  ND,
  DN,
  NZ,
  SCALE,
  MX_A_ND,
  MX_A_DN,
  MX_A_ZZ,
  MX_B_ND,
  MX_B_DN,
  MX_B_NN,
  HIF4_A_ZZ,
  HIF4_B_NN,
  NC1HWC0,
  GNC1HWC0,
  NCHW,
  GNCHW,
  NHWC,
  NDC1HWC0,
  NCDHW,
  FRACTAL_Z,
  FRACTAL_Z_S16S8,
  FRACTAL_Z_3D,
  MAX,
};
/// The same of a tile, for code that asks GetTileLayoutCustom.
enum class TileLayoutCustom : uint8_t { ND, DN, NZ, ZN, ZZ, NONE };

enum class RoundMode : uint8_t {
  CAST_NONE,
  CAST_RINT,   // to nearest, ties to even
  CAST_ROUND,  // to nearest, ties away from zero
  CAST_FLOOR,
  CAST_CEIL,
  CAST_TRUNC,
  CAST_ODD,
};
enum class SaturationMode : uint8_t { ON, OFF };

enum class CmpMode : uint8_t { EQ, NE, LT, LE, GT, GE };
enum class ReluPreMode : uint8_t { NoRelu, NormalRelu };
enum class AtomicType : uint8_t { AtomicNone, AtomicAdd };
enum class AccToVecMode : uint8_t {
  SingleModeVec0,
  SingleModeVec1,
  DualModeSplitM,
  DualModeSplitN,
};
enum class AccPhase : uint8_t { Unspecified = 0, Unknown = Unspecified, Partial = 2, Final = 3 };
enum class STPhase : uint8_t { Unspecified = 0, Partial = 2, Final = 3 };
/// Parts that TINSERT moves a tile in.
enum class TInsertMode : uint8_t { SPLIT2 = 2, SPLIT4 = 3 };
/// Which registers TIMG2COL reads, and whether it sets them itself.
enum class SetFmatrixMode : uint8_t {
  FMATRIX_A_AUTO,
  FMATRIX_B_AUTO,
  FMATRIX_A_MANUAL,
  FMATRIX_B_MANUAL,
};

/// Which elements of a row, or rows of a tile, a gather takes: P0101 the even ones, P1010 the odd
/// ones, P0001 to P1000 every fourth from 0 to 3, P1111 all. Source: PTO ISA, MaskPattern.
enum class MaskPattern : uint8_t { P0101 = 1, P1010, P0001, P0010, P0100, P1000, P1111 };
enum class GatherAxis : uint8_t { GATHER_ROW, GATHER_COL };
enum class ScatterAxis : uint8_t { SCATTER_ROW, SCATTER_COL };
/// What MGATHER reads for an index behind the end of the table: what lies there, the last row or
/// element, the one that the remainder names, 0.
enum class GatherOOB : uint8_t { Undefined, Clamp, Wrap, Zero };
/// Which unit of A5 reads the table; the results are the same.
enum class GatherExec : uint8_t { Scalar, Simt };
/// What MSCATTER does with an index behind the end of the table: writes what lies there, nothing,
/// the last row or element, the one that the remainder names.
enum class ScatterOOB : uint8_t { Undefined, Skip, Clamp, Wrap };
enum class ScatterAtomicOp : uint8_t { None, Add, Max, Min };
/// Which of several elements with one index stays: the last, or any. Here always the last.
enum class ScatterConflict : uint8_t { Last, Default };
/// What an index of MGATHER and MSCATTER counts: rows of the table, or its elements.
enum class Coalesce : uint8_t { Row, Elem };
/// The byte of an element that THISTOGRAM counts; BYTE_0 is the lowest.
enum class HistByte : uint8_t { BYTE_0, BYTE_1, BYTE_2, BYTE_3 };
enum class QuantType : uint8_t { MXFP8, MXFP4_E2M1, INT8_SYM, INT8_ASYM };
/// How TQUANT stores what it makes of rows: row by row, or with exponents in boxes besides.
enum class VecStoreMode : uint8_t { ND, NZ };
/// Scales of microscaling formats: by the exponent of the largest number, or the least that hold
/// it.
enum class QuantScaleAlg : uint8_t { OCP, NV };
enum class MxQuantAlg : uint8_t { OcpMxFp8E4M3, NvMxFp8E4M3, OcpMxFp4E2M1, NvMxFp4E2M1, Hif4 };

enum class SyncAllMode : uint8_t { Hard, Soft };
enum class SyncCoreType : uint8_t { AIVOnly, AICOnly, Mix };

/// What an instruction returns, for Event objects to record.
struct RecordEvent {};

/// Name of an element type in messages.
template <class T>
inline constexpr const char* kTypeName = "an unknown type";
template <>
inline constexpr const char* kTypeName<int4b_t> = "int4";
template <>
inline constexpr const char* kTypeName<int8_t> = "int8";
template <>
inline constexpr const char* kTypeName<uint8_t> = "uint8";
template <>
inline constexpr const char* kTypeName<int16_t> = "int16";
template <>
inline constexpr const char* kTypeName<uint16_t> = "uint16";
template <>
inline constexpr const char* kTypeName<int32_t> = "int32";
template <>
inline constexpr const char* kTypeName<uint32_t> = "uint32";
template <>
inline constexpr const char* kTypeName<int64_t> = "int64";
template <>
inline constexpr const char* kTypeName<uint64_t> = "uint64";
template <>
inline constexpr const char* kTypeName<half> = "half";
template <>
inline constexpr const char* kTypeName<bfloat16_t> = "bfloat16";
template <>
inline constexpr const char* kTypeName<float> = "float";
template <>
inline constexpr const char* kTypeName<double> = "double";
template <>
inline constexpr const char* kTypeName<float8_e4m3_t> = "float8_e4m3";
template <>
inline constexpr const char* kTypeName<float8_e5m2_t> = "float8_e5m2";
template <>
inline constexpr const char* kTypeName<float8_e8m0_t> = "float8_e8m0";
template <>
inline constexpr const char* kTypeName<hifloat8_t> = "hifloat8";
template <>
inline constexpr const char* kTypeName<float4_e2m1x2_t> = "float4_e2m1x2";
template <>
inline constexpr const char* kTypeName<float4_e1m2x2_t> = "float4_e1m2x2";

}  // namespace pto
