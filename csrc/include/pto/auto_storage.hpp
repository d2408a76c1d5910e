// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "npu/auto_block.hpp"
#include "npu/issue.hpp"
#include "npu/text.hpp"

/// Storage of tiles in auto mode (__PTO_AUTO__), where no TASSIGN says where a tile lies: it is
/// taken from the core's own space when the tile is first used, shared by its copies and views, and
/// given back with the last of them. Source: PTO ISA, auto mode.
namespace pto::detail {

/// What the sentence of a fault says of a tile.
struct TileName {
  const char* kind;
  const char* dtype;
  int rows, cols;
};

NPU_ONE_BODY(NPU_RAISES void RaiseNoRoom(const npu::Core& core, const TileName& tile,
                                         npu::Space space, uint64_t bytes, uint64_t largest)) {
  const auto index = static_cast<int>(space);
  const npu::Text name = npu::Text(tile.kind) + " " + tile.dtype + " tile of " +
                         npu::TextOf(tile.rows) + "x" + npu::TextOf(tile.cols);
  if (core.scratchpad[index] == nullptr) {
    npu::RaiseFault("auto mode",
                    npu::Text("a core with ") + npu::SpaceName(space) + " for the " + name,
                    core.type == npu::CoreType::kCube ? "a cube core" : "a vector core");
  }
  npu::RaiseFault("auto mode",
                  npu::TextOf(bytes) + " bytes of " + npu::SpaceName(space) + " for the " + name,
                  "at most " + npu::TextOf(largest) + " free in a row, of the " +
                      npu::TextOf(core.arch->capacity[index]) + " on " + core.arch->soc);
}

/// Takes the first gap of bytes in space of the running core.
NPU_ONE_BODY(void TakeStorage(npu::AutoBlock& block, npu::Space space, uint64_t bytes,
                              const TileName& tile)) {
  npu::Core& core = npu::CoreToClear("auto mode");
  const uint64_t room = core.arch->capacity[static_cast<int>(space)];
  const bool exists = core.scratchpad[static_cast<int>(space)] != nullptr;
  bytes = (bytes + npu::kTileAlignment - 1) / npu::kTileAlignment * npu::kTileAlignment;
  npu::AutoBlock** link = &core.auto_blocks[static_cast<int>(space)];
  uint64_t begin = 0, largest = 0;
  for (;; link = &(*link)->next) {
    const uint64_t end = *link == nullptr ? room : (*link)->begin;
    if (exists && end - begin >= bytes) break;
    largest = end - begin > largest ? end - begin : largest;
    if (*link == nullptr) RaiseNoRoom(core, tile, space, bytes, largest);
    begin = (*link)->end;
  }
  block.core = &core;
  block.space = space;
  block.begin = begin;
  block.end = begin + bytes;
  block.next = *link;
  *link = &block;
}

/// Gives it back, unless the core that it was taken from has ended. That need not be the current
/// one: tiles of host code live on after launches, and static ones after their thread's core.
NPU_ONE_BODY(void GiveStorage(npu::AutoBlock* block)) {
  if (block->core != nullptr) {
    // Instructions that name the tile may be under way.
    if (block->core->observer) block->core->scheduler->AwaitPipes(*block->core);
    npu::AutoBlock** link = &block->core->auto_blocks[static_cast<int>(block->space)];
    while (*link != nullptr && *link != block) link = &(*link)->next;
    if (*link != nullptr) *link = block->next;
  }
  delete block;
}

/// A tile's share of storage. has_address of a tile that is copied: it lies somewhere already.
class AutoStorage {
 public:
  AutoStorage() = default;
  AutoStorage(const AutoStorage& other) : block_(other.Share()) {}
  AutoStorage& operator=(const AutoStorage& other) {
    npu::AutoBlock* block = other.Share();
    Drop();
    block_ = block;
    return *this;
  }
  ~AutoStorage() { Drop(); }

  /// Address of bytes of space for tile.
  std::byte* Get(npu::Space space, uint64_t bytes, const TileName& tile) const {
    if (block_ == nullptr) block_ = new npu::AutoBlock;
    if (block_->begin == block_->end) TakeStorage(*block_, space, bytes, tile);
    return block_->core->scratchpad[static_cast<int>(space)] + block_->begin;
  }

 private:
  npu::AutoBlock* Share() const {
    if (block_ == nullptr) block_ = new npu::AutoBlock;
    ++block_->users;
    return block_;
  }
  void Drop() {
    if (block_ != nullptr && --block_->users == 0) GiveStorage(block_);
  }

  mutable npu::AutoBlock* block_ = nullptr;
};

/// Without auto mode a tile lies where TASSIGN says.
struct NoStorage {
  static std::byte* Get(npu::Space, uint64_t, const TileName&) { return nullptr; }
};

#ifdef __PTO_AUTO__
inline constexpr bool kIsAuto = true;
using TileStorage = AutoStorage;
#else
inline constexpr bool kIsAuto = false;
using TileStorage = NoStorage;
#endif

}  // namespace pto::detail
