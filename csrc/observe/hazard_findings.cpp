// SPDX-License-Identifier: Apache-2.0
#include "observe/hazard_findings.hpp"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "observe/hazard_mend.hpp"

namespace npu {
namespace {

using Key = std::tuple<HazardKind, const void*, const void*>;

struct Store {
  std::mutex mutex;  // several threads run launches
  std::vector<HazardFindings::Finding> findings;
  std::map<Key, size_t> index;
  std::set<std::string> texts;  // a kernel library may be gone when somebody asks
};

Store& GetStore() {
  static auto* const store = new Store;  // outlives static destructors
  return *store;
}

const char* Keep(Store& store, const std::string& text) {
  return store.texts.insert(text).first->c_str();
}

void KeepTexts(Store& store, Hazard& hazard) {
  hazard.kernel = Keep(store, hazard.kernel);
  for (HazardSide* side : {&hazard.first, &hazard.second}) {
    if (side->instruction != nullptr) side->instruction = Keep(store, side->instruction);
  }
}

}  // namespace

void HazardFindings::Clear() {
  Store& store = GetStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  store.findings.clear();
  store.index.clear();
  store.texts.clear();
}

bool HazardFindings::Add(const Hazard& hazard, size_t* index) {
  Store& store = GetStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  const Key key{hazard.kind, hazard.first.call_site, hazard.second.call_site};
  const auto [found, is_new] = store.index.emplace(key, store.findings.size());
  if (is_new) {
    Finding finding{hazard, Keep(store, HazardMend(hazard)), 0};
    KeepTexts(store, finding.hazard);
    store.findings.push_back(finding);
  }
  ++store.findings[found->second].times;
  *index = found->second;
  return is_new;
}

size_t HazardFindings::Count() {
  Store& store = GetStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  return store.findings.size();
}

bool HazardFindings::Get(size_t index, Finding* finding) {
  Store& store = GetStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  if (index >= store.findings.size()) return false;
  *finding = store.findings[index];
  return true;
}

}  // namespace npu
