// SPDX-License-Identifier: Apache-2.0
// Tile programs as data: steps of one core, each an instruction of the table, a flag or a barrier.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numbers.hpp"

namespace fuzz {

/// The values are those of the PIPE_ constants that kernels pass.
enum class Pipe : uint8_t { kS, kV, kM, kMte1, kMte2, kMte3, kFix, kAll };
inline constexpr int kPipes = 7;

enum class Space : uint8_t { kUb, kL1, kL0A, kL0B, kL0C, kGlobal };
inline constexpr int kOnChip = 5;
inline constexpr int kSpaces = 6;

enum class Order : uint8_t { kNd, kDn, kNz, kZn, kZz };

/// What a step does with its tiles, tile 0 first.
enum class Form : uint8_t {
  kTiles,           // 0 = f(1, 2)
  kScalar,          // 0 = f(1, scalar)
  kScalarFirst,     // 0 = f(scalar, 1)
  kUnary,           // 0 = f(1)
  kFill,            // 0 = scalar
  kCompare,         // bits of 0 = 1 <mode> 2
  kCompareScalar,   // bits of 0 = 1 <mode> scalar
  kSelect,          // 0 = bits of 1 ? 2 : 3
  kSelectScalar,    // 0 = bits of 1 ? 2 : scalar
  kReduceRows,      // 0[i, 0] = f over row i of 1
  kReduceColumns,   // 0[0, j] = f over column j of 1
  kExpandRows,      // 0[i, j] = 1[i, 0]
  kExpandColumns,   // 0[i, j] = 1[0, j]
  kExpandRowsWith,  // 0[i, j] = f(1[i, j], 2[i, 0])
  kExpandColsWith,  // 0[i, j] = f(1[i, j], 2[0, j])
  kConvert,         // 0 = 1 in the type of 0
  kTranspose,       // 0[j, i] = 1[i, j]
  kExtract,         // 0 = 1 from row, col on
  kInsert,          // 0 from row, col on = 1
  kConcat,          // 0 = columns of 1, then of 2
  kPart,            // 0 = f(1, 2) where both are valid, else the one
  kTriangle,        // 0 = ones and zeros
  kCount,           // 0[0, j] = scalar + j
  kMove,            // 0 = 1, the bytes
  kLoad,            // 0 = global
  kStore,           // global = 0
  kStoreAdd,        // global += 0
  kOperand,         // 0 (L0A, L0B) = 1 (L1) from row, col on, whole
  kProduct,         // 0 = 1 * 2
  kProductAdd       // 0 += 1 * 2
};

enum class Fn : uint8_t {
  kNone,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kAbs,
  kNeg,
  kNot,
  kRelu,
  kSqrt,
  kRecip,
  kLeaky,
  kAxpy
};

/// How elements lie in global memory: rows or columns a pitch apart, or rows in five dimensions.
enum class Global : uint8_t { kNone, kRows, kColumns, kFive };

struct TileType {
  Space space;
  Order order;
  Dtype dtype;
  int rows, cols;
};

inline constexpr int kMostTiles = 4;

/// What is drawn when a program runs.
struct Operands {
  uint64_t address[kMostTiles];
  int valid_rows[kMostTiles];
  int valid_cols[kMostTiles];
  int64_t global;  // offset in bytes
  void* memory;    // where global memory starts
  int64_t shape[5];
  int64_t stride[5];
  uint32_t scalar;  // bits
  int mode;         // comparison, rounding, diagonal
  int row, col;
};

/// An instruction, compiled for these types of tiles.
struct Instantiation {
  Form form;
  Fn fn;
  const char* name;
  Pipe pipe;
  bool only_a5;
  Global global;
  Dtype out;  // element type in global memory
  int count;
  TileType tiles[kMostTiles];
  void (*run)(const Operands& operands);
};

enum class StepKind : uint8_t { kInstruction, kSetFlag, kWaitFlag, kBarrier };

struct Step {
  StepKind kind;
  const Instantiation* instruction;
  Operands operands;
  Pipe source, destination;  // of a flag; a barrier's is source
  int id;
};

struct Program {
  uint64_t seed = 0;
  bool is_cube = false;
  bool is_a5 = false;
  std::vector<Step> steps;
};

/// All instructions, those of a family by its own file.
const std::vector<Instantiation>& Table();

const char* NameOf(Pipe pipe);
const char* NameOf(Space space);
/// A line of text.
std::string Describe(const Step& step);
std::string Describe(const Program& program);

/// Elements of tile from its start to element (row, col).
int64_t OffsetOf(const TileType& tile, int row, int col);
inline uint64_t BytesOf(const TileType& tile) {
  return static_cast<uint64_t>(tile.rows) * static_cast<uint64_t>(tile.cols) * BytesOf(tile.dtype);
}
/// Bytes of a space on the chip.
uint64_t CapacityOf(Space space, bool is_a5);
inline constexpr uint64_t kGlobalBytes = 64 * 1024;

}  // namespace fuzz
