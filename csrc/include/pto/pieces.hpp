// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "npu/access_list.hpp"
#include "pto/global_facts.hpp"
#include "pto/tile_facts.hpp"

/// Moves the elements of tiles to and from global memory, in pieces that are contiguous in the tile
/// and evenly spaced in global memory.
namespace pto::detail {

/// One piece. step: distance of neighbours in global memory, in elements.
struct Piece {
  size_t line, at;  // of its first element in the tile
  std::byte* tile;
  char* global;
  int64_t step;
  size_t count;  // elements
};

// How far ahead of the line that is moved another one is brought near.
inline constexpr size_t kLinesAhead = 8;

/// Brings the first bytes of a line near. Lines are short and far apart: the processor does not
/// foresee the next ones (a product of 512 x 2048 x 1536 takes 1.25 times as long without).
inline void Prefetch(const char* line, size_t bytes) {
  constexpr size_t kCacheLine = 64, kMost = 256;  // bytes
  for (size_t at = 0; at < std::min(bytes, kMost); at += kCacheLine) {
    __builtin_prefetch(line + at);
  }
}

/// The pieces of a line from start on in global memory.
template <class Move>
inline void ForEachPieceOfLine(const TileFacts& tile, const LineOrder& order, size_t line,
                               const GlobalFacts& global, char* start, const Move& move) {
  const size_t length = tile.Length(), bytes = tile.kind->element_bytes;
  const auto global_bytes = static_cast<int64_t>(global.element_bytes);
  if (global.Boxed()) {
    for (size_t at = 0; at < length;) {
      const size_t count =
          std::min({length - at, order.run - at % order.run, global.Run() - at % global.Run()});
      move(Piece{line, at, tile.data + order.Offset(line, at) * bytes,
                 start + global.InLine(static_cast<int64_t>(at)) * global_bytes, global.Step(),
                 count});
      at += count;
    }
    return;
  }
  const auto run_step = static_cast<int64_t>(order.RunStep() * bytes);
  const int64_t global_run_step = static_cast<int64_t>(order.run) * global.Step() * global_bytes;
  Piece piece = {line, 0, tile.data + order.Offset(line, 0) * bytes, start, global.Step(), 0};
  for (; piece.at < length; piece.at += order.run) {
    piece.count = std::min(length - piece.at, order.run);
    move(piece);
    piece.tile += run_step;
    piece.global += global_run_step;
  }
}

/// Calls move(piece) for all pieces of the valid region of tile.
template <class Move>
inline void ForEachPiece(const TileFacts& tile, const GlobalFacts& global, const Move& move) {
  if (global.Empty()) return;
  const LineOrder order = tile.Order();
  const size_t lines = tile.Lines(), length = tile.Length(), bytes = tile.kind->element_bytes;
  const auto global_bytes = static_cast<int64_t>(global.element_bytes);
  if (order.lines_are_rows == global.LinesAreRows()) {
    LineCursor now(global), ahead(global);
    for (size_t line = 0; line < std::min(kLinesAhead, lines); ++line) ahead.Next();
    for (size_t line = 0; line < lines; ++line, now.Next()) {
      if (line + kLinesAhead < lines) {
        Prefetch(global.data + ahead.start() * global_bytes, length * bytes);
        ahead.Next();
      }
      ForEachPieceOfLine(tile, order, line, global, global.data + now.start() * global_bytes, move);
    }
    return;
  }
  for (size_t line = 0; line < lines; ++line) {
    for (size_t at = 0; at < length; ++at) {
      const auto index = static_cast<int64_t>(at);
      char* element =
          global.data +
          (global.LineStart(index) + global.InLine(static_cast<int64_t>(line))) * global_bytes;
      move(Piece{line, at, tile.data + order.Offset(line, at) * bytes, element, 1, 1});
    }
  }
}

/// Copies elements of kBytes, each step of them apart.
template <size_t kBytes>
inline void CopySpaced(char* to, int64_t to_step, const char* from, int64_t from_step,
                       size_t count) {
  constexpr auto kSize = static_cast<int64_t>(kBytes);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, kBytes);
    to += to_step * kSize;
    from += from_step * kSize;
  }
}

/// Copies a run; steps are those of neighbours, in elements. Runs of boxes have 32 bytes.
inline void CopyRun(size_t element_bytes, char* to, int64_t to_step, const char* from,
                    int64_t from_step, size_t count) {
  constexpr size_t kBoxBytes = 32;
  const size_t bytes = count * element_bytes;
  if (to_step == 1 && from_step == 1) {
    std::memcpy(to, from, bytes == kBoxBytes ? kBoxBytes : bytes);
  } else if (element_bytes == 1) {
    CopySpaced<1>(to, to_step, from, from_step, count);
  } else if (element_bytes == 2) {
    CopySpaced<2>(to, to_step, from, from_step, count);
  } else if (element_bytes == 4) {
    CopySpaced<4>(to, to_step, from, from_step, count);
  } else {
    CopySpaced<8>(to, to_step, from, from_step, count);
  }
}

/// tile = global, the bytes as they are.
NPU_ONE_BODY(void CopyFromGlobal(const TileFacts& tile, const GlobalFacts& global)) {
  ForEachPiece(tile, global, [&](const Piece& piece) {
    CopyRun(global.element_bytes, reinterpret_cast<char*>(piece.tile), 1, piece.global, piece.step,
            piece.count);
  });
}

/// global = tile, the bytes as they are.
NPU_ONE_BODY(void CopyToGlobal(const TileFacts& tile, const GlobalFacts& global)) {
  ForEachPiece(tile, global, [&](const Piece& piece) {
    CopyRun(global.element_bytes, piece.global, piece.step,
            reinterpret_cast<const char*>(piece.tile), 1, piece.count);
  });
}

/// Elements of a line in global memory, step apart.
NPU_ONE_BODY(void ListElements(npu::AccessList& list, bool is_write, const char* first,
                               size_t count, int64_t step, size_t bytes)) {
  constexpr npu::Space kGm = npu::Space::kGm;
  if (step == 1) return list.AddLine(kGm, is_write, first, count * bytes);
  if (step > 1) {
    return list.AddRows({kGm, is_write, first, count, bytes, static_cast<size_t>(step) * bytes});
  }
  for (size_t i = 0; i < count; ++i, first += step * static_cast<int64_t>(bytes)) {
    list.AddLine(kGm, is_write, first, bytes);
  }
}

/// What a transfer touches of global memory, for observers.
NPU_ONE_BODY(npu::AccessList GlobalAccess(const TileFacts& tile, const GlobalFacts& global,
                                          bool is_write)) {
  constexpr size_t kMost = 16 * npu::kKiB * npu::kKiB;  // elements: more than any space has
  npu::AccessList list;
  const size_t lines = tile.Lines(), length = tile.Length(), bytes = global.element_bytes;
  if (global.Empty() || lines > kMost) return list;  // a fault says so
  const auto element_bytes = static_cast<int64_t>(bytes);
  const LineOrder order = tile.Order();
  if (order.lines_are_rows != global.LinesAreRows()) {
    ForEachPiece(tile, global, [&](const Piece& piece) {
      ListElements(list, is_write, piece.global, piece.count, piece.step, bytes);
    });
  } else if (global.Boxed()) {
    for (size_t at = 0, count = 0; at < length; at += count) {  // box by box: neighbours first
      count = std::min(length - at, global.Run());
      for (size_t line = 0; line < lines; ++line) {
        const int64_t start =
            global.LineStart(static_cast<int64_t>(line)) + global.InLine(static_cast<int64_t>(at));
        ListElements(list, is_write, global.data + start * element_bytes, count, global.Step(),
                     bytes);
      }
    }
  } else {
    LineCursor now(global);
    for (size_t line = 0; line < lines; ++line, now.Next()) {
      ListElements(list, is_write, global.data + now.start() * element_bytes, length, global.Step(),
                   bytes);
    }
  }
  return list;
}

}  // namespace pto::detail
