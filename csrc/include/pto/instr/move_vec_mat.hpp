// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/copy_tile.hpp"
#include "pto/traits.hpp"

/// Vec tiles that go from a vector core straight to L1 of the cube core of its block.
namespace pto::detail {

NPU_ONE_BODY(void CheckVecToMat(const char* op, const TileFacts& dst)) {
  const npu::Core& core = *npu::current_core;
  if (npu::IsWhole(core)) return;
  if (core.arch->generation == npu::Generation::kA3 && core.check_limits) {
    npu::RaiseFault(op, "a chip that moves a Vec tile to a Mat tile (A5)", core.arch->soc);
  }
  if (core.type != npu::CoreType::kVector || core.sub_block_num == 1) {
    npu::RaiseFault(
        op, "a vector core of a kernel with cube and vector cores, for a Mat dst",
        core.type == npu::CoreType::kVector ? "one without a cube core" : "a cube core");
  }
  if (!dst.ValidRegionFits()) RaiseTile(op, "dst", dst);
}

/// What a vector core writes to region of dst on the cube core, for observers; where there is none
/// it is a fault, or nobody reads it.
template <class Dst>
inline npu::AccessList WritesOnCube(const Dst& dst, const Region& region) {
  npu::Core& core = *npu::current_core;
  Dst there = dst;
  if (!npu::IsPlace(dst.data())) {
    std::byte* buffer =
        core.type == npu::CoreType::kVector ? core.scheduler->CubeBuffer(core) : nullptr;
    if (buffer == nullptr) return {};
    there.data() = AddressIn(buffer, dst.data());
  }
  return RegionAccess(there, region, true);
}

/// part of src, a Vec tile, to row and col of dst, a Mat tile of the same layout.
template <class Dst, class Src>
inline void MoveVecToMat(const char* op, const void* call_site, Dst& dst, int row, int col,
                         Src& src, const Region& part) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<T, typename Src::DType>,
                "expected a Vec and a Mat tile of one element type");
  static_assert(Dst::BFractal == Src::BFractal && Dst::SFractal == Src::SFractal,
                "expected a Vec and a Mat tile of one layout");
  const auto operands = [&](auto report) {
    const Region to = {static_cast<size_t>(row), static_cast<size_t>(col), part.rows, part.cols};
    report(npu::Work{part.rows * part.cols, 0, 0}, WritesOnCube(dst, to),
           RegionAccess(src, part, false));
  };
  npu::Issue(op, npu::Pipe::kMte3, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    const int rows = static_cast<int>(part.rows), cols = static_cast<int>(part.cols);
    CheckVecToMat(op, TileFacts(dst));
    CheckTile(core, op, "src", src);
    CheckSubregion(op, src, rows, cols, src, static_cast<int>(part.row),
                   static_cast<int>(part.col));
    CheckSubregion(op, src, rows, cols, dst, row, col);
    constexpr int kBlock = static_cast<int>(npu::kTileAlignment / sizeof(T));
    constexpr bool kByRows = Order<Dst>::kLinesAreRows;
    CheckOrigin(core, op, row, kByRows ? 1 : kBlock, col, kByRows ? kBlock : 1);
    const int length = kByRows ? cols : rows, lines = kByRows ? rows : cols;
    if (core.check_limits && !Dst::isBoxedLayout && lines > 1 && length % kBlock != 0) {
      RaiseMultiple(op, "several lines", kBlock, length);
    }
    std::byte* buffer = core.scheduler->CubeBuffer(core);
    if (buffer == nullptr) return;  // the cube core has ended: nobody reads it
    Dst there = dst;
    there.data() = AddressIn(buffer, dst.data());
    CopyRegion(there, {static_cast<size_t>(row), static_cast<size_t>(col), part.rows, part.cols},
               src, part.row, part.col);
  });
}

}  // namespace pto::detail
