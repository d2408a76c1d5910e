// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/atomic.hpp"
#include "pto/fixpipe.hpp"
#include "pto/traits.hpp"
#include "pto/transfer.hpp"

namespace pto {

namespace detail {

/// Faults where a store of an accumulator does not fit into the fields of its instruction.
NPU_ONE_BODY(void CheckAccStore(const TransferFacts& facts, size_t out_bytes, bool is_float)) {
  const TileFacts& tile = facts.tile;
  if (facts.layout == Layout::DN || facts.order != TileOrder::kNz) {
    npu::RaiseFault("TSTORE", "layout ND or NZ of global for an accumulator of layout NZ",
                    NameOf(facts.layout) + " and " + NameOf(facts.order));
  }
  CheckRange("TSTORE", "columns of an Acc tile", 1, 4095, tile.cols);
  if (facts.layout == Layout::ND) {
    CheckRange("TSTORE", "product of shape[0], [1] and [2] for an accumulator", 0, 1,
               facts.shape[0] * facts.shape[1] * facts.shape[2]);
    CheckRange("TSTORE", "rows of an Acc tile", 1, 8192, tile.rows);
    return;
  }
  CheckRange("TSTORE", "rows of an Acc tile", 1, 65535, tile.rows);
  CheckRange("TSTORE", "shape[3] of layout NZ", 16, 16, facts.shape[3]);
  const int64_t last = facts.shape[4];
  const bool is_word = out_bytes == 4;  // int32: 16; float: 8, or 16 for boxes as they are
  const bool good = is_word ? last == 16 || (is_float && last == 8)
                            : last * static_cast<int64_t>(out_bytes) == C0_SIZE_BYTE;
  if (good && tile.valid_cols % 16 == 0) return;
  npu::RaiseFault("TSTORE",
                  "layout NZ with a last dimension of 16 (float also 8; narrower types 32 bytes) "
                  "and columns of a multiple of 16",
                  std::to_string(last) + " and " + std::to_string(tile.valid_cols));
}

template <class TileT, class Global>
inline void CheckStore(npu::Core& core, const TileT& tile, const Global& global,
                       AtomicType atomic) {
  constexpr uint32_t kAddable = kInt8 | kInt16 | kInt32 | kHalf | kBfloat16 | kFloat;
  using Out = typename Global::RawDType;
  CheckTile(core, "TSTORE", "the tile", tile);
  if (atomic == AtomicType::AtomicAdd) CheckType<Out>(core, "TSTORE", {kAddable, kAddable});
  if (!core.check_limits) return;
  const GlobalOrder<Global> order(global);
  const TransferFacts facts("TSTORE", tile, order);
  CheckGlobalShape(facts);
  if constexpr (TileT::Loc == TileType::Acc) {
    CheckAccStore(facts, sizeof(Out), std::is_same_v<Out, float>);
  } else {
    CheckLayouts(facts, false);
    CheckBursts(facts, true);
  }
  CheckGlobalMemory(core, "TSTORE", global.data(), order.shape, order.stride, sizeof(Out));
}

/// Writes a run of elements that have the type of global memory.
template <AtomicType kAtomic, size_t kWholeRun, class Out, class In>
inline void PutRun(Out* to, int64_t step, const In* from, size_t count) {
  if constexpr (kAtomic == AtomicType::AtomicAdd) {
    static_assert(std::is_same_v<Out, In>, "TSTORE: expected one element type to add");
    for (size_t i = 0; i < count; ++i) AtomicAdd(to + static_cast<int64_t>(i) * step, from[i]);
  } else {
    CopyRun<kWholeRun>(to, step, from, 1, count);
  }
}

template <AtomicType kAtomic, class Global, class TileT, class Stage>
inline void StoreAcc(const Global& global, const TileT& tile, const Stage& stage) {
  using Out = typename Global::RawDType;
  using In = typename TileT::DType;
  constexpr size_t kRun = Order<TileT>::kRun;
  static_assert(kRun <= 16 && Order<TileT>::kLinesAreRows,
                "TSTORE: expected an Acc tile of layout NZ");
  Transfer<TileT, Global>::ForEachPiece(
      tile, global, [&](size_t, size_t at, const In* from, Out* to, int64_t step, size_t count) {
        if (kAtomic == AtomicType::AtomicNone && step == 1) {
          stage(at, to, from, count);
        } else {
          Out out[kRun];
          stage(at, out, from, count);
          PutRun<kAtomic, kRun>(to, step, static_cast<const Out*>(out), count);
        }
      });
}

template <AtomicType kAtomic, class Global, class TileT, class Stage>
[[gnu::noinline]] void Store(Global& global, TileT& tile, const Stage& stage) {
  const void* call_site = __builtin_return_address(0);
  using T = typename TileT::DType;
  using Out = typename Global::RawDType;
  using Move = Transfer<TileT, Global>;
  static_assert(
      TileT::Loc == TileType::Vec || TileT::Loc == TileType::Mat || TileT::Loc == TileType::Acc,
      "TSTORE: expected a Vec, Mat or Acc tile");
  static_assert(!std::is_const_v<typename Global::DType>,
                "TSTORE: expected a global tensor of elements that may be written");
  constexpr bool kFromAcc = TileT::Loc == TileType::Acc;
  static_assert(kFromAcc || sizeof(T) == sizeof(Out),
                "TSTORE: expected tile and global tensor of one element size");
  const auto operands = [&](auto report) {
    const auto lines = LinesOf(tile);
    const uint64_t elements = lines.count * lines.length;
    report(npu::Work{elements, elements * sizeof(Out), 0}, Move::GlobalAccess(tile, global, true),
           Reads(tile));
  };
  npu::Issue("TSTORE", kFromAcc ? npu::Pipe::kFix : npu::Pipe::kMte3, call_site, operands, [&] {
    CheckStore(*npu::current_core, tile, global, kAtomic);
    if constexpr (kFromAcc) {
      StoreAcc<kAtomic>(global, tile, stage);
    } else {
      Move::ForEachPiece(tile, global,
                         [](size_t, size_t, const T* from, Out* to, int64_t step, size_t count) {
                           PutRun<kAtomic, Order<TileT>::kRun>(to, step, from, count);
                         });
    }
  });
}

template <AtomicType kAtomic, ReluPreMode kRelu, class Global, class TileT, class Fp>
[[gnu::noinline]] void StoreWithWords(Global& global, TileT& tile, Fp& fp) {
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    const auto lines = LinesOf(tile);
    const uint64_t elements = lines.count * lines.length;
    report(npu::Work{elements, elements * sizeof(typename Global::DType), 0},
           Transfer<TileT, Global>::GlobalAccess(tile, global, true), Reads(tile), Reads(fp));
  };
  npu::Issue("TSTORE_FP", npu::Pipe::kFix, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckStore(core, tile, global, kAtomic);
    CheckWords(core, "TSTORE_FP", fp, tile.GetValidCol());
    using Word = typename Fp::DType;
    StoreAcc<kAtomic>(global, tile, VectorStage<kRelu, Word>{fp.data()});
  });
}

}  // namespace detail

/// global = tile over the valid region of tile.
///   global  layouts of global and tile: ND and ND, DN and DN, NZ and NZ. From an Acc tile ND or
///           NZ: float goes to float, half or bfloat16 (nearest even, infinity beyond the range),
///           int32 to int32.
///   tile    Vec, Mat or Acc tile; its valid region has the shape of global
///   kAtomic AtomicAdd adds to global memory instead, element by element, in the order of blocks:
///           int8, int16, int32, half, bfloat16, float
///   kRelu   NormalRelu replaces what is not positive by 0 (Acc tiles)
///   phase   of the unit flag; nothing depends on it here
/// Pipe MTE3, from an Acc tile FIX. Source: PTO ISA, TSTORE.
template <class TileT, class Global, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  (events.Wait(), ...);
  detail::Store<AtomicType::AtomicNone>(global, tile, detail::PlainStage<ReluPreMode::NoRelu>{});
  npu::KeepCallSite();
  return {};
}

template <STPhase kPhase, class TileT, class Global, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  return TSTORE(global, tile, events...);
}

template <class TileT, class Global, AtomicType kAtomic, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  (events.Wait(), ...);
  detail::Store<kAtomic>(global, tile, detail::PlainStage<ReluPreMode::NoRelu>{});
  npu::KeepCallSite();
  return {};
}

template <STPhase kPhase, class TileT, class Global, AtomicType kAtomic, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  return TSTORE<TileT, Global, kAtomic>(global, tile, events...);
}

template <class TileT, class Global, AtomicType kAtomic, ReluPreMode kRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  static_assert(TileT::Loc == TileType::Acc, "TSTORE: expected an Acc tile with a relu mode");
  (events.Wait(), ...);
  detail::Store<kAtomic>(global, tile, detail::PlainStage<kRelu>{});
  npu::KeepCallSite();
  return {};
}

template <STPhase kPhase, class TileT, class Global, AtomicType kAtomic, ReluPreMode kRelu,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  return TSTORE<TileT, Global, kAtomic, kRelu>(global, tile, events...);
}

/// The same for an Acc tile with quantization: float to int8 or uint8, int32 to int8, uint8 or
/// half.
///   quant  bits 0 to 31: a float, scale; 37 to 45: offset; 46: set for int8, clear for uint8
/// To integers: round(x * scale), ties to even, held to -256 .. 255, plus offset, held to the range
/// of 8 bits; to half: x * scale held to -65504 .. 65504. Then the relu.
template <class TileT, class Global, AtomicType kAtomic = AtomicType::AtomicNone,
          ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, uint64_t quant,
                                                 Events&... events) {
  static_assert(TileT::Loc == TileType::Acc, "TSTORE: expected an Acc tile to quantize");
  (events.Wait(), ...);
  detail::Store<kAtomic>(global, tile, detail::ScalarStage<kRelu>(quant));
  npu::KeepCallSite();
  return {};
}

template <STPhase kPhase, class TileT, class Global, AtomicType kAtomic = AtomicType::AtomicNone,
          ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, uint64_t quant,
                                                 Events&... events) {
  return TSTORE<TileT, Global, kAtomic, kRelu>(global, tile, quant, events...);
}

/// The same with a quantization word for each column.
///   fp  Scaling tile of 64-bit words; of scale only the upper 19 bits count
/// Pipe FIX. Source: PTO ISA, TSTORE_FP.
template <class TileT, class Global, class Fp, AtomicType kAtomic = AtomicType::AtomicNone,
          ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE_FP(Global& global, TileT& tile, Fp& fp,
                                                    Events&... events) {
  (events.Wait(), ...);
  detail::StoreWithWords<kAtomic, kRelu>(global, tile, fp);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
