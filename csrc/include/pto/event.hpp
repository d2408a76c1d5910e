// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pto/cross_core.hpp"
#include "pto/types.hpp"

namespace pto {

/// Operations that an Event stands between, grouped by the pipe that executes them. Source: PTO
/// ISA, Event.
enum class Op : uint16_t {
  // PIPE_S
  SCALAR,
  TRESHAPE,
  TCI,
  SETFMATRIX,
  SET_IMG2COL_RPT,
  SET_IMG2COL_PADDING,
  // PIPE_MTE2
  TLOAD,
  TPREFETCH,
  TEXPANDS_MAT,
  TFILLPAD_MAT,
  MGATHER_MAT,
  // PIPE_MTE3
  TSTORE_VEC,
  TSTORE_MAT,
  // PIPE_MTE1
  TMOV_M2B,
  TMOV_M2L,
  TMOV_M2R,
  TEXTRACT_M2LR,
  TIMG2COL,
  // PIPE_M
  TMATMUL,
  TGEMV,
  // PIPE_FIX
  TMOV_V2M,
  TEXTRACT_V2M,
  TMOV_M2S,
  TMOV_A2V,
  TMOV_A2M,
  TSTORE_ACC,
  TEXTRACT_A2M,
  TINSERT_A2M,
  // PIPE_V
  VECTOR,
  TADD,
  TADDS,
  TAXPY,
  TSUB,
  TSUBS,
  TMUL,
  TMULS,
  TDIV,
  TDIVS,
  TMIN,
  TMINS,
  TMAX,
  TMAXS,
  TAND,
  TANDS,
  TOR,
  TORS,
  TXOR,
  TXORS,
  TNOT,
  TSHL,
  TSHLS,
  TSHR,
  TSHRS,
  TABS,
  TNEG,
  TEXP,
  TLOG,
  TSQRT,
  TRSQRT,
  TRECIP,
  TRELU,
  TLRELU,
  TPRELU,
  TREM,
  TREMS,
  TFMOD,
  TFMODS,
  TPOW,
  TPOWS,
  TEXPANDS,
  TCVT,
  TCMP,
  TCMPS,
  TSEL,
  TSELS,
  TPARTADD,
  TPARTMUL,
  TPARTMAX,
  TPARTMIN,
  TPARTARGMAX,
  TPARTARGMIN,
  TMRGSORT,
  TSORT32,
  TGATHER,
  TGATHERB,
  TSCATTER,
  TROWSUM,
  TROWPROD,
  TROWMAX,
  TROWMIN,
  TROWARGMAX,
  TROWARGMIN,
  TROWEXPAND,
  TROWEXPANDADD,
  TROWEXPANDSUB,
  TROWEXPANDMUL,
  TROWEXPANDDIV,
  TROWEXPANDMAX,
  TROWEXPANDMIN,
  TROWEXPANDEXPDIF,
  TCOLSUM,
  TCOLPROD,
  TCOLMAX,
  TCOLMIN,
  TCOLARGMAX,
  TCOLARGMIN,
  TCOLEXPAND,
  TCOLEXPANDADD,
  TCOLEXPANDSUB,
  TCOLEXPANDMUL,
  TCOLEXPANDDIV,
  TCOLEXPANDMAX,
  TCOLEXPANDMIN,
  TCOLEXPANDEXPDIF,
  TRANDOM,
  TTRANS,
  TTRI,
  TMOV_V2V,
  TCONCAT,
  TDEQUANT,
  TADDDEQRELU,
  TPAIRREDUCESUM,
  TSUBRELUCONV,
  TADDRELUCONV,
  TFUSEDMULADD,
  TFUSEDMULADDRELU,
  TMULADDDST,
  TSUBRELU,
  TFILLPAD_VEC,
  MGATHER_VEC,
  MSCATTER,
  TQUANT,
  THISTOGRAM,
  TINTERLEAVE,
  TDEINTERLEAVE,
  OP_COUNT,
};

/// The pipe that executes op.
constexpr pipe_t PipeOf(Op op) {
  if (op < Op::TLOAD) return PIPE_S;
  if (op < Op::TSTORE_VEC) return PIPE_MTE2;
  if (op < Op::TMOV_M2B) return PIPE_MTE3;
  if (op < Op::TMATMUL) return PIPE_MTE1;
  if (op < Op::TMOV_V2M) return PIPE_M;
  if (op < Op::VECTOR) return PIPE_FIX;
  return op < Op::OP_COUNT ? PIPE_V : PIPE_ALL;
}

namespace detail {

/// Sets flag id for the other side of the block: on A5 a flag within the block, of the cube core
/// for both vector cores.
[[gnu::always_inline]] inline void RecordBetweenCores(pipe_t pipe, int id) {
  const npu::Core& core = npu::RunningCore("Event");
  if (core.arch->generation == npu::Generation::kA3) {
    return ffts_cross_core_sync(pipe, getFFTSMsg(2, static_cast<uint16_t>(id)));
  }
  set_intra_block(pipe, id);
  if (core.type == npu::CoreType::kCube) set_intra_block(pipe, id + 16);
}

[[gnu::always_inline]] inline void WaitBetweenCores(pipe_t pipe, int id) {
  const npu::Core& core = npu::RunningCore("Event");
  if (core.arch->generation == npu::Generation::kA3) return wait_flag_dev(id);  // no pipe there
  wait_intra_block(pipe, id);
}

}  // namespace detail

/// An order between an operation and a later one: assigning the RecordEvent of the first sets a
/// flag from its pipe to the pipe of the second; Wait(), which the second calls when it is passed
/// the event, waits for that flag. Operations of one pipe are parted by a barrier instead.
///   kAutoToken  takes the next of the 8 event ids of the pair of pipes, in turn; else kId
/// From TMOV_A2V to an operation of the pipe V, and from TMOV_V2M or TEXTRACT_V2M to one of MTE1,
/// it stands between the cube core and the vector cores of the block: Record<id>() sets cross-core
/// flag id there, Wait<id>() waits for it; on A5 the cube core waits for vector core 0 by id, for
/// vector core 1 by id + 16, as the chip's library does.
/// Source: PTO ISA, Event.
template <Op kSrc, Op kDst, bool kAutoToken = true, event_t kId = EVENT_ID0>
class Event {
 public:
  static constexpr pipe_t SrcPipe = PipeOf(kSrc);
  static constexpr pipe_t DstPipe = PipeOf(kDst);

  static constexpr bool IsCrossCore =
      (kSrc == Op::TMOV_A2V && DstPipe == PIPE_V) ||
      ((kSrc == Op::TMOV_V2M || kSrc == Op::TEXTRACT_V2M) && DstPipe == PIPE_MTE1);
  static_assert(!IsCrossCore || !kAutoToken,
                "Event: expected AutoToken false for an event between cores");

  Event() = default;
  Event(RecordEvent) { Record(); }  // NOLINT(google-explicit-constructor)
  Event& operator=(RecordEvent) {
    Record();
    return *this;
  }

  /// The address of set_ffts_base_addr, for events between cores.
  Event& InitAddr(uint64_t address) {
    static_assert(IsCrossCore, "InitAddr: expected an event between cores");
    set_ffts_base_addr(address);
    return *this;
  }

  template <uint8_t kCrossCoreId = 0xff>
  [[gnu::always_inline]] inline Event& Record() {
    if constexpr (IsCrossCore) {
      static_assert(kCrossCoreId != 0xff,
                    "Record: expected Record<id>() of an event between cores");
      // What goes from Vec to Mat goes by MTE3.
      detail::RecordBetweenCores(kSrc == Op::TMOV_A2V ? SrcPipe : PIPE_MTE3, kCrossCoreId);
      npu::KeepCallSite();
    } else if constexpr (SrcPipe != DstPipe) {
      id_ = kAutoToken ? NextId() : kId;
      set_flag(SrcPipe, DstPipe, id_);
    }
    return *this;
  }
  template <uint8_t kCrossCoreId = 0xff>
  [[gnu::always_inline]] inline Event& Init() {
    return Record<kCrossCoreId>();
  }

  template <uint8_t kCrossCoreId = 0xff>
  [[gnu::always_inline]] inline Event& Wait() {
    if constexpr (IsCrossCore) {
      static_assert(kCrossCoreId != 0xff, "Wait: expected Wait<id>() of an event between cores");
      detail::WaitBetweenCores(DstPipe, kCrossCoreId);
      npu::KeepCallSite();
    } else if constexpr (SrcPipe == DstPipe) {
      pipe_barrier(SrcPipe);
    } else {
      wait_flag(SrcPipe, DstPipe, id_);
    }
    return *this;
  }

 private:
  static event_t NextId() {
    npu::Core& core = npu::CoreToClear("Event");
    uint8_t& next = core.next_event_id[SrcPipe][DstPipe];
    const event_t id = static_cast<event_t>(next);
    next = (next + 1) % npu::kEventIds;
    return id;
  }

  event_t id_ = kId;
};

/// Waits for all events.
template <class... Events>
inline void TSYNC(Events&... events) {
  (events.Wait(), ...);
}

/// Holds the pipe of kOp until its earlier instructions have ended.
template <Op kOp>
inline void TSYNC() {
  pipe_barrier(PipeOf(kOp));
#ifdef PTO_CPU_SIM_TRACE_MODE  // an instruction to traces, see cpu/trace.hpp
  npu::Issue("TSYNC", npu::Pipe::kS, nullptr, [](auto report) { report(npu::Work{}); }, [] {});
#endif
}

}  // namespace pto
