/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulated device behind a C11 interface: devices, memory, streams, events, launches. No
 * framework in it.
 *
 * Every function returns NPU_SUCCESS or an error whose sentence npuGetLastErrorMessage gives, but
 * for NPU_ERROR_NOT_READY of a query, which has none and leaves the last one; none throws, aborts
 * or hangs. Work on a stream runs in order. It is queued and runs when somebody waits for it (in
 * the waiting thread), or in the background once npuStreamQuery or npuEventQuery has found it
 * pending. A fault of a kernel is stored on its stream and returned, once, by the next call that
 * waits for that stream; work queued behind the fault is dropped, events excepted.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "npu/kernel.h"

#if defined(__GNUC__)
#define NPU_API __attribute__((visibility("default")))
#else
#define NPU_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum npuError {
  NPU_SUCCESS = 0,
  NPU_ERROR_INVALID_VALUE = 1,
  NPU_ERROR_OUT_OF_MEMORY = 2,
  NPU_ERROR_NOT_READY = 3,    /* from a query: work is pending; no failure, and no message */
  NPU_ERROR_KERNEL_FAULT = 4, /* a kernel broke a rule; the message tells which */
  NPU_ERROR_DEADLOCK = 5,     /* every core waits, or one polls without progress */
  NPU_ERROR_INTERRUPTED = 6,  /* the interrupt callback asked to stop; what was queued on the stream
                                 then is dropped, what is queued later runs */
  NPU_ERROR_FORKED = 7,       /* this process was forked after the device was used */
  NPU_ERROR_HAZARD = 8 /* npuHazardsStart: a launch ran to its end, but accesses of it have no
                          order that a chip would keep, or the like; what is queued behind
                          runs */
} npuError_t;

typedef struct npuStream* npuStream_t;
typedef struct npuEvent* npuEvent_t;

/** Message of this thread's last failed call; valid until its next call. A query that finds work
 * pending has not failed. */
NPU_API const char* npuGetLastErrorMessage(void);
/** Makes message (copied) that of this thread's last failed call: for interfaces over this one that
 * refuse a call themselves. */
NPU_API npuError_t npuSetLastErrorMessage(const char* message);

/** NPU_ERROR_FORKED in the forked child of a process that used the device, where every other
 * function fails, too. */
NPU_API npuError_t npuProcessCheck(void);
/** Whether this process, or the one it was forked from, has used the device: called a function that
 * is about its memory, streams or events, or that sets the current device. */
NPU_API npuError_t npuProcessIsUser(int* is_user);

/* --- devices
 * -------------------------------------------------------------------------------------------------
 */

/** Number of devices: NPU_DEVICE_COUNT, 2 when unset. */
NPU_API npuError_t npuGetDeviceCount(int* count);
/** Makes device the current one of this thread. */
NPU_API npuError_t npuSetDevice(int device);
NPU_API npuError_t npuGetDevice(int* device);
/** Name of the emulated system on chip: NPU_SOC, Ascend910B1 when unset. Valid for the life of the
 * process. */
NPU_API npuError_t npuGetSocName(const char** name);
/** Cores of the emulated system on chip. */
NPU_API npuError_t npuGetCoreCount(int* cube_cores, int* vector_cores);
/** Address, and bytes there, that kernels are told as the one of the flags between cores; nothing
 * is stored there. */
NPU_API npuError_t npuGetCrossCoreAddress(uint64_t* address, uint32_t* bytes);
/** Waits for all streams of the current device. */
NPU_API npuError_t npuDeviceSynchronize(void);
/** NPU_SUCCESS where npuDeviceSynchronize would return at once and without a fault, else
 * NPU_ERROR_NOT_READY, which sets no message. Starts nothing. */
NPU_API npuError_t npuDeviceQuery(void);

/* --- memory
 * --------------------------------------------------------------------------------------------------
 */

/** Allocates bytes on the current device, 64-byte aligned; from 2 MiB up 2 MiB aligned with huge
 * pages advised. */
NPU_API npuError_t npuMalloc(void** pointer, size_t bytes);
/** Frees pointer (or NULL). The caller sees to it that no queued work uses it. */
NPU_API npuError_t npuFree(void* pointer);
/** Makes bytes from begin on, which somebody else has allocated, known to transfers as memory of
 * npuMalloc is, until npuMemoryDisown. Windows that processes share are such. */
NPU_API npuError_t npuMemoryAdopt(void* begin, size_t bytes);
NPU_API npuError_t npuMemoryDisown(void* begin);
/** Free and total bytes of the current device: the memory of the system on chip, bounded by that of
 * the host; what is allocated is not free. */
NPU_API npuError_t npuMemGetInfo(size_t* free_bytes, size_t* total_bytes);

/* --- streams
 * -------------------------------------------------------------------------------------------------
 */

/** Creates a stream on the current device. */
NPU_API npuError_t npuStreamCreate(npuStream_t* stream);
/** Waits for stream, then frees it. The default stream cannot be destroyed. */
NPU_API npuError_t npuStreamDestroy(npuStream_t stream);
/** The default stream of device; it exists always. */
NPU_API npuError_t npuStreamGetDefault(int device, npuStream_t* stream);
/** The device of stream. An address that is no stream is an error here; elsewhere it is not looked
 * up. */
NPU_API npuError_t npuStreamGetDevice(npuStream_t stream, int* device);
/** Waits for all work of stream; runs it in this thread if nobody does yet. */
NPU_API npuError_t npuStreamSynchronize(npuStream_t stream);
/** NPU_SUCCESS, or NPU_ERROR_NOT_READY (without a message); pending work then goes on in the
 * background. */
NPU_API npuError_t npuStreamQuery(npuStream_t stream);
/** Work queued on stream after this call starts when event (as recorded by now) has happened. */
NPU_API npuError_t npuStreamWaitEvent(npuStream_t stream, npuEvent_t event);

/* --- events
 * --------------------------------------------------------------------------------------------------
 */

NPU_API npuError_t npuEventCreate(npuEvent_t* event);
NPU_API npuError_t npuEventDestroy(npuEvent_t event);
/** Records event behind the work that is now on stream; the newest record counts. */
NPU_API npuError_t npuEventRecord(npuEvent_t event, npuStream_t stream);
/** NPU_SUCCESS when the newest record has happened or there is none, else NPU_ERROR_NOT_READY
 * (without a message). */
NPU_API npuError_t npuEventQuery(npuEvent_t event);
NPU_API npuError_t npuEventSynchronize(npuEvent_t event);
/** Milliseconds from start to end; both must have been recorded and have happened. */
NPU_API npuError_t npuEventElapsedTime(float* milliseconds, npuEvent_t start, npuEvent_t end);

/* --- launches
 * ------------------------------------------------------------------------------------------------
 */

/** Launch flag: the kernel computes in float64, which no Ascend vector core does. */
#define NPU_LAUNCH_FLOAT64 1u
/** Launch flag: transfers of the kernel must start within the ranges of the launch; one that starts
 * elsewhere is a fault. */
#define NPU_LAUNCH_ONLY_RANGES 2u

/** Most blocks of a launch. */
#define NPU_MAX_BLOCK_DIM 65535u

/** Memory from begin up to end. */
typedef struct npuMemoryRange {
  const void* begin;
  const void* end;
  const void* requested_end; /* of what somebody asked for; NULL: end. What lies behind is there,
                                but no kernel should count on it: NPU_HAZARD_RANGE */
} npuMemoryRange;

typedef struct npuLaunchConfig {
  npuKernel_t kernel;
  uint32_t block_dim; /* blocks, 1 to NPU_MAX_BLOCK_DIM */
  uint32_t flags;     /* NPU_LAUNCH_... */
  const void* args;   /* copied */
  size_t args_bytes;
  npuStream_t stream;
  void (*release)(void* owner); /* called once when the work has run or was dropped, also when the
                                   launch is refused */
  void* owner;                  /* what keeps the memory alive that the kernel uses */
  const npuMemoryRange*
      ranges; /* copied: memory that the kernel may use, beside that of npuMalloc. A transfer that
                 starts in known memory must end there; one that starts elsewhere is not checked */
  size_t range_count;
} npuLaunchConfig;

/** Enqueues block_dim runs of kernel on stream; returns before they finish. */
NPU_API npuError_t npuLaunchKernel(npuKernel_t kernel, uint32_t block_dim, const void* args,
                                   size_t args_bytes, npuStream_t stream);
/** The same with all options. */
NPU_API npuError_t npuLaunchKernelWithConfig(const npuLaunchConfig* config);
/** Enqueues function(argument) on stream. It must not call functions of this file that wait. */
NPU_API npuError_t npuLaunchHostFunction(npuStream_t stream, void (*function)(void* argument),
                                         void* argument);

/** Launches of the kernel named name that have run to their end since the process started; 0 for an
 * unknown name. */
NPU_API npuError_t npuGetLaunchCount(const char* name, uint64_t* launches);
/** Transfers of kernels between tiles and memory that neither npuMalloc nor the launch had made
 * known, since the process started: those were not checked. Launches count when they end. */
NPU_API npuError_t npuGetUnknownTransferCount(uint64_t* transfers);

/* --- other processes
 * -------------------------------------------------------------------------------------------------
 */

/** Asks owner about processes that kernels of this one wait for: NULL, or a sentence about one that
 * has ended, valid until the next call in this thread. Called by threads that run kernels. */
typedef const char* (*npuPeerWatch)(void* owner);

/** From here on kernels may wait for those of other processes: what is launched runs at once in the
 * background, since others may wait for it; a core that polls memory goes on for
 * NPU_PEER_TIMEOUT_MS, unless a watch has something to tell, which ends the launch. */
NPU_API npuError_t npuPeerWatchAdd(npuPeerWatch watch, void* owner);
NPU_API npuError_t npuPeerWatchRemove(void* owner);

/* --- interrupts and counting
 * ----------------------------------------------------------------------------------- */

/** callback is polled by callers' threads that run or await work, each at most every 50 ms;
 * non-zero stops the work, also when it runs in the background. It must not call functions of this
 * file that wait. NULL: none. */
NPU_API npuError_t npuSetInterruptCallback(int (*callback)(void));

/** Starts or stops counting executed instructions by name, in all launches of the process. Starting
 * clears. */
NPU_API npuError_t npuInstructionCountStart(void);
NPU_API npuError_t npuInstructionCountStop(void);
/** What was counted for instruction name ("TADD"): executions, and elements over all of them. */
NPU_API npuError_t npuInstructionCountGet(const char* name, uint64_t* executions,
                                          uint64_t* elements);

/** A tile that kernels placed on the chip. The strings are valid until the next start. */
typedef struct npuPlacement {
  const char* kernel;
  const char* core;  /* "vector" or "cube" */
  const char* space; /* "UB" */
  const char* kind;  /* "Vec" */
  const char* dtype; /* "half" */
  int rows;
  int cols;
  uint64_t address; /* bytes from the start of the space */
  uint64_t bytes;
  uint64_t capacity; /* of the space, in bytes */
  const void* call_site;
  uint64_t times; /* over all blocks */
} npuPlacement;

/** A transfer of a tile to global memory: rows of row_bytes, pitch_bytes apart. */
typedef struct npuStore {
  uint32_t block;
  uint32_t sub_block;
  uint64_t instruction; /* of the block, from 1 */
  const void* begin;
  size_t rows;
  size_t row_bytes;
  size_t pitch_bytes;
  const void* call_site;
} npuStore;

/** Where the code at address lies: a library, "" where nobody knows, and an offset in it. The name
 * stays valid until the thread asks again. */
NPU_API npuError_t npuLocate(const void* address, const char** library, uint64_t* offset);
/** Lines ("add.cpp:12") of the code at count places, offsets in libraries ("": unknown): of the
 * kernel's own file, not of headers that were inlined into it. Where binutils' addr2line or line
 * tables are missing, the library and the offset. Texts stay valid until the thread asks again. */
NPU_API npuError_t npuSourceLines(size_t count, const char* const* libraries,
                                  const uint64_t* offsets, const char** lines);

/** Starts or stops recording the places of tiles, and stores, in all launches of the process.
 * Starting clears. */
NPU_API npuError_t npuMemoryMapStart(void);
NPU_API npuError_t npuMemoryMapStop(void);
/** Stores that are recorded; later ones are not. */
#define NPU_MAX_RECORDED_STORES 1000000u
/** Numbers of different placements and of recorded stores. */
NPU_API npuError_t npuMemoryMapCount(size_t* placements, size_t* stores);
NPU_API npuError_t npuMemoryMapPlacement(size_t index, npuPlacement* placement);
NPU_API npuError_t npuMemoryMapStore(size_t index, npuStore* store);

/* --- hazards
 * -------------------------------------------------------------------------------------------------
 */

/** Kinds of findings, to be added up. */
#define NPU_HAZARD_ORDER                                                                           \
  1u                            /* accesses of different pipes, cores or blocks to the same bytes, \
                                   of which one writes and nothing orders them */
#define NPU_HAZARD_UNWRITTEN 2u /* reads of on-chip bytes that nothing has written */
#define NPU_HAZARD_OVERLAP 4u   /* tiles that partly overlap while both are in use */
#define NPU_HAZARD_FLAG 8u      /* flags left set at the end, or set again before their wait */
#define NPU_HAZARD_RANGE 16u    /* global accesses outside of the size that was asked for */
#define NPU_HAZARD_VECTOR_ORDER 32u /* vector to vector without pipe_barrier(PIPE_V) */
#define NPU_HAZARD_DEFAULT 31u      /* all but the last */
/** Beside kinds: launches with findings end well; who asks for the findings gets them. */
#define NPU_HAZARD_QUIET 0x80000000u

/** One of the two calls of a finding: what it is, where it ran, and the bytes of the space that it
 * touches, offsets as those of the finding. */
typedef struct npuFindingSide {
  const char* instruction; /* "TLOAD"; NULL: the finding has no such side */
  const char* pipe;        /* "PIPE_MTE2" */
  const char* core;        /* "vector" or "cube" */
  uint32_t block;
  uint32_t sub_block;
  uint64_t begin;
  uint64_t end;
  const void* call_site;
} npuFindingSide;

/** What the checker found: once per kind and pair of calls. The strings are valid until the next
 * start. */
typedef struct npuFinding {
  const char* kind; /* "read-after-write", "write-after-read", "write-after-write",
                       "unwritten-read", "overlap", "flag-left-set", "flag-set-again",
                       "out-of-range", "vector-order" */
  const char* kernel;
  const char* space; /* "UB"; of flags "" */
  uint64_t begin;    /* bytes in conflict: offsets in the space, in GM from the start of the
                        allocation; addresses where nobody knows it. Of flags none */
  uint64_t end;
  npuFindingSide first;  /* in program order of a core; of different cores in that of execution */
  npuFindingSide second; /* of a flag-left-set, an unwritten-read and an out-of-range there is only
                            one side: the first is the set_flag, the second the access */
  const char* mend;      /* the line of code to add: "set_flag(...); wait_flag(...);" */
  uint64_t times;        /* how often it was met */
} npuFinding;

/** Forgets findings and checks for kinds (NPU_HAZARD_...) in all launches of the process that start
 * from now on. A launch with new findings stores NPU_ERROR_HAZARD, with a sentence about the first,
 * on its stream. NPU_CHECK=hazards starts the kinds of NPU_HAZARD_KINDS with the process, and again
 * with each stop, which then forgets findings, too. */
NPU_API npuError_t npuHazardsStart(uint32_t kinds);
NPU_API npuError_t npuHazardsStop(void);
NPU_API npuError_t npuHazardsCount(size_t* findings);
NPU_API npuError_t npuHazardsFinding(size_t index, npuFinding* finding);

/* --- steps
 * -------------------------------------------------------------------------------------------------
 */

/** What a core of the recorded block has done, in the order of its text. The strings are valid
 * until the next start. */
typedef struct npuStep {
  const char* kind; /* "instruction", "set_flag", "wait_flag", "barrier", "set_cross_core_flag",
                       "wait_cross_core_flag", "meet" */
  const char* name; /* "TADD" */
  const char* kernel;
  const char* core; /* "vector" or "cube" */
  uint32_t sub_block;
  const char* pipe;        /* "PIPE_V"; of a flag its source */
  const char* destination; /* of a flag within a core; else the same as pipe */
  int id;                  /* of a flag */
  const void* call_site;
} npuStep;

/** Steps that are recorded; later ones are not. */
#define NPU_MAX_RECORDED_STEPS 10000u
/** Starts or stops recording what the cores of one block do, at its first execution by each kernel,
 * in all launches of the process. Starting clears. */
NPU_API npuError_t npuStepsStart(uint32_t block);
NPU_API npuError_t npuStepsStop(void);
NPU_API npuError_t npuStepsCount(size_t* steps);
NPU_API npuError_t npuStepsStep(size_t index, npuStep* step);
/** Launches that start between the two, which do not nest, execute the pipes of their kernels in a
 * random order that flags and barriers allow, which is a function of seed and kernel: a kernel
 * without a flag that it needs computes something else, a right one the same. Not for measuring:
 * each instruction waits with a copy of the kernel's stack. */
NPU_API npuError_t npuRandomOrderStart(uint64_t seed);
NPU_API npuError_t npuRandomOrderStop(void);

#ifdef __cplusplus
}
#endif
