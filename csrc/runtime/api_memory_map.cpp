// SPDX-License-Identifier: Apache-2.0
// The C ABI: the places of tiles.
#include <string>

#include "observe/memory_map.hpp"
#include "runtime/device.hpp"
#include "runtime/process.hpp"

using namespace npu::runtime;  // NOLINT(google-build-using-namespace): this file is the runtime's
                               // face
using npu::MemoryMap;

static_assert(MemoryMap::kMostStores == NPU_MAX_RECORDED_STORES);

npuError_t npuMemoryMapStart(void) {
  return Asking(__func__, [] {
    MemoryMap::Start();
    return NPU_SUCCESS;
  });
}

npuError_t npuMemoryMapStop(void) {
  return Asking(__func__, [] {
    MemoryMap::Stop();
    return NPU_SUCCESS;
  });
}

npuError_t npuMemoryMapCount(size_t* placements, size_t* stores) {
  return Asking(__func__, [&](const char* function) {
    if (placements == nullptr || stores == nullptr) {
      return Invalid(function, "pointers for both numbers", "NULL");
    }
    *placements = MemoryMap::TileCount();
    *stores = MemoryMap::StoreCount();
    return NPU_SUCCESS;
  });
}

npuError_t npuMemoryMapPlacement(size_t index, npuPlacement* placement) {
  return Asking(__func__, [&](const char* function) {
    MemoryMap::Tile tile;
    if (placement == nullptr || !MemoryMap::GetTile(index, &tile)) {
      return Invalid(function,
                     "a pointer and an index below " + std::to_string(MemoryMap::TileCount()),
                     placement == nullptr ? "NULL" : std::to_string(index));
    }
    const npu::Placement& place = tile.placement;
    *placement = {tile.kernel,
                  tile.core == npu::CoreType::kCube ? "cube" : "vector",
                  npu::SpaceName(place.space),
                  place.kind,
                  place.dtype,
                  place.rows,
                  place.cols,
                  place.address,
                  place.bytes,
                  tile.capacity,
                  place.call_site,
                  tile.times};
    return NPU_SUCCESS;
  });
}

npuError_t npuMemoryMapStore(size_t index, npuStore* store) {
  return Asking(__func__, [&](const char* function) {
    MemoryMap::Store found;
    if (store == nullptr || !MemoryMap::GetStore(index, &found)) {
      return Invalid(function,
                     "a pointer and an index below " + std::to_string(MemoryMap::StoreCount()),
                     store == nullptr ? "NULL" : std::to_string(index));
    }
    const npu::Access& target = found.target;
    *store = {found.block, found.sub_block,  found.instruction,  target.begin,
              target.rows, target.row_bytes, target.pitch_bytes, found.call_site};
    return NPU_SUCCESS;
  });
}
