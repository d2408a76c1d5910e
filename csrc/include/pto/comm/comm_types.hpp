// SPDX-License-Identifier: Apache-2.0
// What communication instructions take beside tiles and global tensors: groups of ranks, signals,
// operations.
#pragma once

#include <cstdint>

#include "npu/issue.hpp"
#include "pto/comm/async_session.hpp"
#include "pto/global_tensor.hpp"
#include "pto/types.hpp"

namespace pto {

namespace detail {

NPU_ONE_BODY(NPU_RAISES void RaiseRank(int size, int rank)) {
  npu::RaiseFault("ParallelGroup", "a rank from 0 to " + npu::TextOf(size - 1), npu::TextOf(rank));
}

}  // namespace detail

namespace comm {

/// The global tensors of one group of ranks, as the root sees them.
template <class Global>
struct ParallelGroup {
  using value_type = Global;

  Global* tensors = nullptr;  // an array of nranks
  int nranks = 0;
  int rootIdx = -1;

  constexpr ParallelGroup() = default;
  constexpr ParallelGroup(Global* array, int size, int root)
      : tensors(array), nranks(size), rootIdx(root) {}
  static constexpr ParallelGroup Create(Global* array, int size, int root) {
    return {array, size, root};
  }

  constexpr int GetRootIdx() const { return rootIdx; }
  constexpr int GetSize() const { return nranks; }
  constexpr bool empty() const { return nranks == 0; }
  Global& operator[](int rank) const {
    if (__builtin_expect(rank < 0 || rank >= nranks, 0)) pto::detail::RaiseRank(nranks, rank);
    return tensors[rank];
  }
};

template <class Group>
struct ParallelGroupTraits;
template <class Global>
struct ParallelGroupTraits<ParallelGroup<Global>> {
  using GlobalDataType = Global;
};

enum class NotifyOp : uint8_t { AtomicAdd, Set };
enum class WaitCmp : uint8_t { EQ, NE, GT, GE, LT, LE };
enum class ReduceOp : uint8_t { Sum, Max, Min };
/// Who carries out a collective: the vector core, or the collective unit of A5, which is not here.
enum class CollEngine : uint8_t { AIV, CCU };

/// One signal, or a view of several.
using Signal = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>, Layout::ND>;
template <class T, class ShapeT, class StrideT, Layout kLayout = Layout::ND>
using GlobalSignal = GlobalTensor<T, ShapeT, StrideT, kLayout>;

/// A matrix of signals. With a stride: part of one whose rows lie so far apart.
template <int Rows, int Cols>
struct Signal2D : GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>, Stride<1, 1, 1, DYNAMIC, 1>> {
  using Base = GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>, Stride<1, 1, 1, DYNAMIC, 1>>;

  explicit Signal2D(__gm__ int32_t* data, int stride = Cols)
      : Base(data, typename Base::Shape{}, typename Base::Stride{stride}) {}
};

}  // namespace comm
}  // namespace pto
