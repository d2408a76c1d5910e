// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/atomic.hpp"
#include "pto/fixpipe.hpp"
#include "pto/inner_flags.hpp"
#include "pto/instr/load_conv.hpp"
#include "pto/pairs_on_host.hpp"
#include "pto/straight.hpp"
#include "pto/traits.hpp"
#include "pto/transfer.hpp"
#include "pto/view_on_host.hpp"

namespace pto {

namespace detail {

/// Writes count elements of a tile at from to global memory, step elements apart; at: index of the
/// first in its line. stage: how they change on the way.
using PutElements = void (*)(const void* stage, size_t at, void* to, int64_t step, const void* from,
                             size_t count);

/// A store apart from its tile and global tensor.
struct StoreMode {
  const char* op;
  uint32_t added_type;   // of an atomic add, as in TypeSet; 0 for a plain store
  const char* out_type;  // name of the type of global memory
  bool out_is_float;
  PutElements put;  // nullptr: the bytes as they are
  const void* stage;
  const TileFacts* words;  // of quantization, or nullptr
};

/// Faults where a store of an accumulator does not fit into the fields of its instruction.
NPU_ONE_BODY(void CheckAccStore(const TransferFacts& facts, bool out_is_float)) {
  const int64_t* shape = facts.global.shape;
  if (facts.layout == Layout::DN || facts.order != TileOrder::kNz) {
    npu::RaiseFault(facts.op,
                    "layout ND, NZ, NC1HWC0 or NDC1HWC0 of global for an accumulator of layout NZ",
                    NameOf(facts.layout) + " and " + NameOf(facts.order));
  }
  CheckRange(facts.op, "columns of an Acc tile", 1, 4095, facts.kind.cols);
  if (facts.layout == Layout::ND) {
    CheckRange(facts.op, "product of shape[0], [1] and [2] for an accumulator", 0, 1,
               shape[0] * shape[1] * shape[2]);
    CheckRange(facts.op, "rows of an Acc tile", 1, 8192, facts.kind.rows);
    return;
  }
  CheckRange(facts.op, "rows of an Acc tile", 1, 65535, facts.kind.rows);
  if (facts.layout == Layout::NZ) CheckRange(facts.op, "shape[3] of layout NZ", 16, 16, shape[3]);
  const int64_t last = shape[4];
  const auto out_bytes = static_cast<int64_t>(facts.global.element_bytes);
  // 32-bit words: 16; float: 8, or 16 for boxes as they are
  const bool good =
      out_bytes == 4 ? last == 16 || (out_is_float && last == 8) : last * out_bytes == C0_SIZE_BYTE;
  const int64_t cols = facts.layout == Layout::NZ ? facts.tile.valid_cols : facts.kind.cols;
  if (good && cols % 16 == 0) return;
  npu::RaiseFault(facts.op,
                  "layout " + NameOf(facts.layout) +
                      " with a last dimension of 16 (float also 8; narrower types 32 bytes) and "
                      "columns of a multiple of 16",
                  npu::TextOf(last) + " and " + npu::TextOf(cols));
}

/// Faults where a store would take lines from behind a tile, unless its valid region has all of the
/// tile's lines and is shorter than these: masks of bits are stored so.
NPU_ONE_BODY(void CheckStoredShape(const TransferFacts& facts)) {
  CheckGlobalShape(facts);
  const bool by_rows = facts.kind.order == TileOrder::kNd;
  const int64_t all = by_rows ? facts.global.Rows() : facts.global.Cols();
  const int lines = by_rows ? facts.kind.rows : facts.kind.cols;
  const bool has_all = (by_rows ? facts.tile.valid_rows : facts.tile.valid_cols) == lines;
  const bool is_shorter =
      by_rows ? facts.tile.valid_cols < facts.kind.cols : facts.tile.valid_rows < facts.kind.rows;
  if (__builtin_expect(all <= lines || (has_all && is_shorter), 1)) return;
  RaiseGlobalShape(facts.op, facts.tile.valid_rows, facts.tile.valid_cols, facts.global.Rows(),
                   facts.global.Cols());
}

/// moved, to: what the chip moves of tile and global tensor.
NPU_ONE_BODY(void CheckStore(const TransferFacts& facts, const StoreMode& mode,
                             const TileFacts& moved, const GlobalFacts& to)) {
  constexpr uint32_t kAddable = kInt8 | kInt16 | kInt32 | kHalf | kBfloat16 | kFloat;
  npu::Core& core = *npu::current_core;
  CheckTile(core, facts.op, "the tile", facts.tile);
  CheckEnd(facts, moved);
  if (mode.added_type != 0) {
    CheckType(core, facts.op, {kAddable, kAddable}, mode.added_type, mode.out_type);
  }
  if (mode.words != nullptr) {
    const bool by_rows = facts.kind.lines.lines_are_rows;
    CheckWords(core, facts.op, *mode.words,
               by_rows ? facts.tile.valid_cols : facts.tile.valid_rows);
  }
  if (!core.check_limits) return;
  if (npu::TakesHostForms(core)) {
    CheckStoredShape(facts);
  } else if (facts.kind.loc == TileType::Acc) {
    CheckGlobalShape(facts);
    CheckAccStore(facts, mode.out_is_float);
  } else {
    CheckStoredShape(facts);
    CheckLayouts(facts, false);
    CheckBursts(facts, true);
  }
  CheckGlobalMemory(core, facts.op, to);
}

/// tile with a valid region in whole boxes, where layout NZ asks for them: columns are stored so.
/// In one column of boxes, whose bursts have no gaps, rows (rows_too) may lack in the last box.
NPU_ONE_BODY(TileFacts InWholeBoxes(const TileFacts& tile, const GlobalFacts& global,
                                    bool rows_too)) {
  TileFacts whole = tile;
  const bool is_nz = global.layout == Layout::NZ && tile.kind->order == TileOrder::kNz &&
                     tile.kind->loc != TileType::Acc && tile.ValidRegionFits();
  if (!is_nz || global.shape[4] <= 0) return whole;
  const auto up = [](int64_t size, int64_t box) { return (size + box - 1) / box * box; };
  const int64_t cols = up(tile.valid_cols, global.shape[4]), rows = up(tile.valid_rows, 16);
  if (cols == global.Cols() && cols <= tile.kind->cols) whole.valid_cols = static_cast<int>(cols);
  const bool one_column = global.shape[0] * global.shape[1] == 1;
  if (rows_too && one_column && rows == global.Rows()) whole.valid_rows = static_cast<int>(rows);
  return whole;
}

NPU_ONE_BODY(void MoveToGlobal(const TileFacts& from, const GlobalFacts& to,
                               const StoreMode& mode)) {
  if (mode.put == nullptr) return CopyToGlobal(from, to);
  ForEachPiece(from, to, [&](const Piece& piece) {
    mode.put(mode.stage, piece.at, piece.global, piece.step, piece.tile, piece.count);
  });
}

NPU_ONE_BODY(void StoreTile(const void* call_site, const GlobalFacts& view, const TileFacts& part,
                            const StoreMode& mode)) {
  const auto move = [&](const TileFacts& tile, const GlobalFacts& global) {
    const auto operands = [&](auto report) {
      const uint64_t elements = tile.Lines() * tile.Length();
      const npu::Work work = {elements, elements * global.element_bytes, 0};
      const npu::AccessList written = GlobalAccess(tile, global, true).Atomic(mode.added_type != 0);
      const npu::AccessList read = AccessOf(tile, false);
      if (mode.words == nullptr) {
        report(work, written, read);
      } else {
        report(work, written, read, AccessOf(*mode.words, {0, 0, 1, tile.Length()}, false));
      }
    };
    const auto pipe = tile.kind->loc == TileType::Acc ? npu::Pipe::kFix : npu::Pipe::kMte3;
    npu::Issue(mode.op, pipe, call_site, operands, [&] {
      CheckStore({mode.op, InWholeBoxes(part, view, true), view}, mode, tile, global);
      MoveToGlobal(tile, global, mode);
    });
  };
  InShapeOfChip(InWholeBoxes(part, view, false), view, move);
}

template <class Out>
inline void AddRun(Out* to, int64_t step, const Out* from, size_t count) {
  for (size_t i = 0; i < count; ++i) AtomicAdd(to + static_cast<int64_t>(i) * step, from[i]);
}

/// PutElements of an atomic add.
template <class T>
void AddElements(const void*, size_t, void* to, int64_t step, const void* from, size_t count) {
  AddRun(static_cast<T*>(to), step, static_cast<const T*>(from), count);
}

/// PutElements of an accumulator.
template <bool kAdds, class Out, class In, class Stage>
void PutStaged(const void* stage, size_t at, void* to, int64_t step, const void* from,
               size_t count) {
  constexpr size_t kRun = 16;  // of its boxes
  const auto& convert = *static_cast<const Stage*>(stage);
  const auto* in = static_cast<const In*>(from);
  auto* target = static_cast<Out*>(to);
  if (!kAdds && step == 1) return convert(at, target, in, count);
  for (size_t done = 0; done < count; done += kRun) {
    const size_t length = std::min(count - done, kRun);
    Out* place = target + static_cast<int64_t>(done) * step;
    Out out[kRun];
    convert(at + done, out, in + done, length);
    if constexpr (kAdds) {
      AddRun(place, step, static_cast<const Out*>(out), length);
    } else {
      CopySpaced<sizeof(Out)>(reinterpret_cast<char*>(place), step,
                              reinterpret_cast<const char*>(out), 1, length);
    }
  }
}

/// Whether elements change on their way, as those of an accumulator do.
template <class TileT, class Stage>
inline constexpr bool kIsStaged =
    TileT::Loc == TileType::Acc ||
    (kForHost && !std::is_same_v<Stage, PlainStage<ReluPreMode::NoRelu>>);

/// How elements of TileT are staged.
template <class TileT, class Stage>
decltype(auto) StageOf(const Stage& stage) {
  if constexpr (kForHost && TileT::Loc != TileType::Acc) {
    return StageOnHost(stage);
  } else {
    return (stage);
  }
}

/// The short way of rows; false where they have to go the long one.
NPU_ONE_BODY(bool StoreRows(const char* op, const void* call_site, const StraightRows& rows,
                            size_t element_bytes)) {
  if (__builtin_expect(!IsInMemory(op, rows), 0)) return false;
  const auto operands = [&](auto report) {
    report(WorkOf(rows, element_bytes), GlobalAccess(rows, true), TileAccess(rows, false));
  };
  npu::Issue(op, npu::Pipe::kMte3, call_site, operands, [&] {
    if (reinterpret_cast<char*>(rows.tile) == rows.global) return;  // see view.hpp
    CopyRows(rows.global, rows.global_pitch, reinterpret_cast<const char*>(rows.tile),
             rows.tile_pitch, rows.rows, rows.bytes);
  });
  return true;
}

template <AtomicType kAtomic, class Stage, class Global, class TileT>
[[gnu::noinline]] void Store(const char* op, Global& global, TileT& tile, const Stage& stage,
                             const TileFacts* words) {
  using T = typename TileT::DType;
  using Out = typename Global::RawDType;
  constexpr bool kAdds = kAtomic == AtomicType::AtomicAdd;
  const void* call_site = __builtin_return_address(0);
  static_assert(kForHost || TileT::Loc == TileType::Vec || TileT::Loc == TileType::Mat ||
                    TileT::Loc == TileType::Acc,
                "TSTORE: expected a Vec, Mat or Acc tile");
  static_assert(!std::is_const_v<typename Global::DType>,
                "TSTORE: expected a global tensor of elements that may be written");
  if constexpr (!kAdds && kMayBeStraight<TileT, Global> && !kIsStaged<TileT, Stage>) {
    const StraightRows rows = PlainRows(tile, global);
    if (__builtin_expect(rows.tile != nullptr && StoreRows(op, call_site, rows, sizeof(T)), 1)) {
      return;
    }
  }
  const auto& host_stage = StageOf<TileT>(stage);
  using Staged = std::decay_t<decltype(host_stage)>;
  constexpr bool kOutIsFloat = std::is_same_v<Out, float>;
  StoreMode mode = {
      op, kAdds ? kTypeBit<Out> : 0, kTypeName<Out>, kOutIsFloat, nullptr, &host_stage, words};
  if constexpr (kIsStaged<TileT, Stage>) {
    static_assert(kForHost || (Order<TileT>::kRun <= 16 && Order<TileT>::kLinesAreRows),
                  "TSTORE: expected an Acc tile of layout NZ");
    mode.put = PutStaged<kAdds, Out, T, Staged>;
  } else {
    static_assert(sizeof(T) == sizeof(Out),
                  "TSTORE: expected tile and global tensor of one element size");
    static_assert(!kAdds || std::is_same_v<Out, T>, "TSTORE: expected one element type to add");
    if constexpr (kAdds) mode.put = AddElements<T>;
  }
  if constexpr (kForHost && kPacked<T> != 1 && kPacked<Out> != 1 && !kAdds) {
    if (MovesPairsOnHost(op, tile, global))
      return MovePairsOnHost<true>(op, call_site, tile, global);
  }
  if constexpr (kForHost) {
    StoreTile(call_site, ViewOnHost(tile, global), TileFacts(tile), mode);
  } else {
    StoreTile(call_site, AsRuns(GlobalFacts(global), TileT::Loc), TileFacts(tile), mode);
  }
}

}  // namespace detail

/// global = tile over the valid region of tile.
///   global  layouts of global and tile: ND and ND, DN and DN, NZ and NZ. From an Acc tile ND, NZ,
///           NC1HWC0 (rows are N, H and W, columns C1 and C0; several N lie within each C1) or
///           NDC1HWC0 (columns D, C1 and C0): float goes to float, half or bfloat16 (nearest even,
///           infinity beyond the range), int32 to int32.
///   tile    Vec, Mat or Acc tile; its valid region has the shape of global. NZ: boxes are stored
///           whole, so columns may lack in the last one, and rows where it is the only column of
///           boxes. Of an un-boxed Vec tile it may have another shape, as in a load; no more lines
///           than the tile has, but where all of these are valid and cut short
///   kAtomic AtomicAdd adds to global memory instead, element by element, in the order of blocks:
///           int8, int16, int32, half, bfloat16, float
///   kRelu   NormalRelu replaces what is not positive by 0 (Acc tiles)
///   phase   with any the store waits for the unit flag, which a product of phase Final sets; Final
///           clears it
/// Pipe MTE3, from an Acc tile FIX. Source: PTO ISA, TSTORE.
template <class TileT, class Global, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  (events.Wait(), ...);
  if constexpr (is_conv_tile_v<TileT>) {
    detail::StoreConvOnHost(global, tile);
  } else {
    detail::Store<AtomicType::AtomicNone>("TSTORE", global, tile,
                                          detail::PlainStage<ReluPreMode::NoRelu>{}, nullptr);
  }
  npu::KeepCallSite();
  return {};
}

template <STPhase kPhase, class TileT, class Global, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  return TSTORE(global, tile, events...);
}

template <class TileT, class Global, AtomicType kAtomic, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  (events.Wait(), ...);
  detail::Store<kAtomic>("TSTORE", global, tile, detail::PlainStage<ReluPreMode::NoRelu>{},
                         nullptr);
  npu::KeepCallSite();
  return {};
}

template <STPhase kPhase, class TileT, class Global, AtomicType kAtomic, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  return TSTORE<TileT, Global, kAtomic>(global, tile, events...);
}

template <class TileT, class Global, AtomicType kAtomic, ReluPreMode kRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  static_assert(detail::kForHost || TileT::Loc == TileType::Acc,
                "TSTORE: expected an Acc tile with a relu mode");
  (events.Wait(), ...);
  detail::Store<kAtomic>("TSTORE", global, tile, detail::PlainStage<kRelu>{}, nullptr);
  npu::KeepCallSite();
  return {};
}

template <STPhase kPhase, class TileT, class Global, AtomicType kAtomic, ReluPreMode kRelu,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
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
  static_assert(detail::kForHost || TileT::Loc == TileType::Acc,
                "TSTORE: expected an Acc tile to quantize");
  (events.Wait(), ...);
  detail::Store<kAtomic>("TSTORE", global, tile, detail::ScalarStage<kRelu>(quant), nullptr);
  npu::KeepCallSite();
  return {};
}

template <STPhase kPhase, class TileT, class Global, AtomicType kAtomic = AtomicType::AtomicNone,
          ReluPreMode kRelu = ReluPreMode::NoRelu, class... Events>
[[gnu::always_inline]] inline RecordEvent TSTORE(Global& global, TileT& tile, uint64_t quant,
                                                 Events&... events) {
  detail::TakeUnitFlag<kPhase>();
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
  static_assert(
      detail::kForHost || (Fp::Loc == TileType::Scaling && sizeof(typename Fp::DType) == 8),
      "TSTORE_FP: expected a Scaling tile of 64-bit words");
  const detail::TileFacts words(fp);
  detail::Store<kAtomic>("TSTORE_FP", global, tile, detail::StageOfWords<kRelu>(fp), &words);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
