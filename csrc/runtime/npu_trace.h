/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of launches with their operands, behind the C11 interface of npu_runtime.h, to
 * which this is an addition.
 */
#pragma once

#include "npu_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is recorded. A count of 0 stands for all. */
typedef struct npuTraceConfig {
  int with_values;     /* of operands, too */
  uint64_t most_bytes; /* of records and values; then recording ends */
  const char* const* kernels;
  size_t kernel_count;
  const uint32_t* blocks;
  size_t block_count;
  const char* const* instructions;
  size_t instruction_count;
} npuTraceConfig;

/** An instruction of a core. The strings are valid until the next start or forget. */
typedef struct npuTraceStep {
  const char* name; /* "TADD" */
  const char* kernel;
  const char* core; /* "vector" or "cube" */
  const char* pipe; /* "PIPE_V" */
  uint32_t launch;  /* counts from 0, in the order in which launches start */
  uint32_t block;
  uint32_t sub_block;
  uint64_t number; /* of the instruction in its block, from 1; an access of the scalar unit to an
                      element has that of the instruction before it */
  uint64_t order;  /* of execution over all launches, from 1 (numbers may be missing); 0: it was
                      not executed */
  int has_results; /* 0: it faulted, or was not executed */
  const void* call_site;
  size_t operand_count;
} npuTraceStep;

/** Rows of row_bytes that lie pitch_bytes apart. */
typedef struct npuTracePart {
  int64_t offset; /* from the start of the space, or of the memory, in bytes; where nobody knows
                     the memory, the address */
  uint64_t rows;
  uint64_t row_bytes;
  int64_t pitch_bytes;
} npuTracePart;

/** What an instruction reads, or may write. */
typedef struct npuTraceOperand {
  const char* space; /* "UB", "GM" */
  int is_write;
  int is_atomic;
  size_t part_count;
  const uint32_t* tiles; /* those that hold all of it, the one that was placed last first; where
                            they are compact, those that begin before it does */
  size_t tile_count;
  uint32_t
      compact_rows; /* of a compact tile: the extent in which its elements lie; 0: of another */
  uint32_t compact_cols;
  const void* values;   /* all parts, one after the other; NULL: none were recorded. What the
                           instruction found, or with is_write what it left */
  uint64_t value_bytes; /* 0 also where nobody knows the memory */
} npuTraceOperand;

/** A tile as TASSIGN placed it. */
typedef struct npuTraceTile {
  const char* kind;  /* "Vec" */
  const char* dtype; /* "half" */
  int rows;
  int cols;
  uint64_t address; /* bytes from the start of the space */
  uint64_t bytes;
  const void* call_site;
  const char* layout; /* "ND", "DN", "NZ", "ZN", "ZZ" or "NN" */
  int is_compact;     /* its elements lie in its valid region, up to whole boxes */
} npuTraceTile;

/** Forgets what was recorded and records all launches of the process that start from now on. */
NPU_API npuError_t npuTraceStart(const npuTraceConfig* config);
NPU_API npuError_t npuTraceStop(void);
/** Frees what was recorded. */
NPU_API npuError_t npuTraceForget(void);
/** Numbers of steps and tiles; is_whole: 0 when most_bytes were used up. The functions below are
 * for the time when recording has stopped. */
NPU_API npuError_t npuTraceCount(size_t* steps, size_t* tiles, int* is_whole);
NPU_API npuError_t npuTraceGetStep(size_t index, npuTraceStep* step);
NPU_API npuError_t npuTraceGetOperand(size_t step, size_t index, npuTraceOperand* operand);
NPU_API npuError_t npuTraceGetPart(size_t step, size_t operand, size_t index, npuTracePart* part);
NPU_API npuError_t npuTraceGetTile(size_t index, npuTraceTile* tile);

#ifdef __cplusplus
}
#endif
