// SPDX-License-Identifier: Apache-2.0
#include "observe/memory_map.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace npu {
namespace {

using Key = std::tuple<std::string, CoreType, Space, uint64_t, uint64_t, std::string, int, int,
                       const void*>;

struct Records {
  std::mutex mutex;  // several threads run launches
  std::vector<MemoryMap::Tile> tiles;
  std::map<Key, size_t> index;
  std::vector<MemoryMap::Store> stores;
  std::set<std::string> texts;  // of tiles: a kernel library may be gone when somebody asks
};

Records& GetRecords() {
  static auto* const records = new Records;  // outlives static destructors
  return *records;
}

std::atomic<InstructionObserver*> active_map{nullptr};

const char* Keep(Records& records, const char* text) {
  return records.texts.insert(text).first->c_str();
}

}  // namespace

void MemoryMap::Start() {
  static auto* const map = new MemoryMap;  // a launch in progress may hold it after Stop
  {
    Records& records = GetRecords();
    const std::lock_guard<std::mutex> lock(records.mutex);
    records.tiles.clear();
    records.index.clear();
    records.stores.clear();
    records.texts.clear();
  }
  active_map.store(map, std::memory_order_release);
}

void MemoryMap::Stop() { active_map.store(nullptr, std::memory_order_release); }

InstructionObserver* MemoryMap::Active() { return active_map.load(std::memory_order_acquire); }

size_t MemoryMap::TileCount() {
  Records& records = GetRecords();
  const std::lock_guard<std::mutex> lock(records.mutex);
  return records.tiles.size();
}

size_t MemoryMap::StoreCount() {
  Records& records = GetRecords();
  const std::lock_guard<std::mutex> lock(records.mutex);
  return records.stores.size();
}

bool MemoryMap::GetTile(size_t index, Tile* tile) {
  Records& records = GetRecords();
  const std::lock_guard<std::mutex> lock(records.mutex);
  if (index >= records.tiles.size()) return false;
  *tile = records.tiles[index];
  return true;
}

bool MemoryMap::GetStore(size_t index, Store* store) {
  Records& records = GetRecords();
  const std::lock_guard<std::mutex> lock(records.mutex);
  if (index >= records.stores.size()) return false;
  *store = records.stores[index];
  return true;
}

void MemoryMap::OnInstruction(const Core& core, const Instruction& instruction) {
  for (size_t i = 0; i < instruction.access_count; ++i) {
    const Access& access = instruction.accesses[i];
    if (access.space != Space::kGm || !access.is_write) continue;
    Records& records = GetRecords();
    const std::lock_guard<std::mutex> lock(records.mutex);
    if (records.stores.size() == MemoryMap::kMostStores) return;
    records.stores.push_back(
        {core.block_idx, core.sub_block_id, core.instruction, access, instruction.call_site});
  }
}

void MemoryMap::OnPlacement(const Core& core, const Placement& placement) {
  const char* kernel = core.kernel != nullptr ? core.kernel : "kernel";
  Records& records = GetRecords();
  const std::lock_guard<std::mutex> lock(records.mutex);
  Key key{kernel,          core.type,      placement.space, placement.address,  placement.bytes,
          placement.dtype, placement.rows, placement.cols,  placement.call_site};
  const auto [found, is_new] = records.index.emplace(std::move(key), records.tiles.size());
  if (is_new) {
    Tile tile{Keep(records, kernel), core.type, placement,
              core.arch->capacity[static_cast<int>(placement.space)], 0};
    tile.placement.kind = Keep(records, placement.kind);
    tile.placement.dtype = Keep(records, placement.dtype);
    records.tiles.push_back(tile);
  }
  ++records.tiles[found->second].times;
}

}  // namespace npu
