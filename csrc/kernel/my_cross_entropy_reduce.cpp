// SPDX-License-Identifier: Apache-2.0
// Sum or mean of the losses of rows, by one block: in turn into as many lanes as a tile has, then
// over the lanes.
#include "labels.hpp"

namespace {

using namespace pto;

constexpr unsigned kBytes = 8192;
enum Place : unsigned {
  kLoaded = 0,
  kLanes = 2 * kBytes,
  kScratch = 3 * kBytes,
  kSum = 4 * kBytes,
  kRounded = 4 * kBytes + 32
};

template <class Acc>
using Lanes = labels::Line<Acc, kBytes / sizeof(Acc)>;

/// Adds the losses to lanes, with two buffers.
template <class Acc>
AICORE void AddUp(Lanes<Acc>& lanes, __gm__ Acc* losses, int64_t rows) {
  for (int b = 0; b < 2; ++b) set_flag(PIPE_V, PIPE_MTE2, event_t(b));  // buffers start free
  int b = 0;
  for (int64_t at = 0; at < rows; at += Lanes<Acc>::Cols) {
    const int count = static_cast<int>(rows - at < Lanes<Acc>::Cols ? rows - at : Lanes<Acc>::Cols);
    Lanes<Acc> part(count), sum(count);
    TASSIGN(part, kLoaded + b * kBytes);
    TASSIGN(sum, kLanes);
    strided::Global<Acc> global(losses + at, {1, count}, {count, 1});
    wait_flag(PIPE_V, PIPE_MTE2, event_t(b));  // the buffer was read
    TLOAD(part, global);
    set_flag(PIPE_MTE2, PIPE_V, event_t(b));
    wait_flag(PIPE_MTE2, PIPE_V, event_t(b));  // losses are loaded
    TADD(sum, sum, part);
    set_flag(PIPE_V, PIPE_MTE2, event_t(b));
    b ^= 1;
  }
  for (int b = 0; b < 2; ++b) wait_flag(PIPE_V, PIPE_MTE2, event_t(b));  // leave no flag set
}

template <class T>
AICORE void Run(GM_ADDR z, GM_ADDR losses, GM_ADDR target, const Labels& labels,
                LossReduction reduction) {
  using Acc = rows::Wide<T>;
  if (get_block_idx() != 0) return;
  Lanes<Acc> lanes(Lanes<Acc>::Cols), scratch(Lanes<Acc>::Cols);
  Tile<TileType::Vec, Acc, 32 / sizeof(Acc), 1, BLayout::ColMajor, -1, 1> sum(1);
  TASSIGN(lanes, kLanes);
  TASSIGN(scratch, kScratch);
  TASSIGN(sum, kSum);
  TEXPANDS(lanes, Acc{0});
  AddUp<Acc>(lanes, (__gm__ Acc*)losses, labels.rows);
  TROWSUM(sum, lanes, scratch);
  if (reduction == LossReduction::kMean)
    TDIVS(sum, sum, static_cast<Acc>(labels::Reader(target, labels).Count()));
  labels::StoreRounded<T, 32 / sizeof(Acc)>((__gm__ T*)z, kSum, 1, kRounded);
}

}  // namespace

extern "C" __global__ AICORE void my_cross_entropy_reduce_float(GM_ADDR z, GM_ADDR losses,
                                                                GM_ADDR target, Labels labels,
                                                                LossReduction reduction) {
  Run<float>(z, losses, target, labels, reduction);
}

extern "C" __global__ AICORE void my_cross_entropy_reduce_half(GM_ADDR z, GM_ADDR losses,
                                                               GM_ADDR target, Labels labels,
                                                               LossReduction reduction) {
  Run<half>(z, losses, target, labels, reduction);
}

extern "C" __global__ AICORE void my_cross_entropy_reduce_bfloat16(GM_ADDR z, GM_ADDR losses,
                                                                   GM_ADDR target, Labels labels,
                                                                   LossReduction reduction) {
  Run<bfloat16_t>(z, losses, target, labels, reduction);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_cross_entropy_reduce_double(GM_ADDR z, GM_ADDR losses,
                                                                 GM_ADDR target, Labels labels,
                                                                 LossReduction reduction) {
  Run<double>(z, losses, target, labels, reduction);
}
