// SPDX-License-Identifier: Apache-2.0
// Memory of a launch: records that no clock tells apart become one.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "observe/hazard_launch.hpp"

namespace npu {
namespace {

/// All epochs up to which some clock of a launch knows a pipe. A clock of later is made of these,
/// or knows what the pipe does from now on: so nothing will ever tell two epochs apart between
/// which none of them lies.
class KnownEpochs {
 public:
  void AddOwn(HazardTask task, const HazardClock& clock) {
    Add(task, clock.own);
    AddOthers(clock.others);
  }
  void AddOthers(const KnownCores& cores) {
    if (cores == nullptr || !seen_.insert(cores.get()).second) return;
    for (const CoreEpochs& core : *cores) Add(core.task, core.epochs);
  }
  void Add(HazardTask task, Pipe pipe, Epoch epoch) {
    epochs_[task * kPipes + static_cast<uint64_t>(pipe)].push_back(epoch);
  }
  void Sort() {
    for (auto& [key, epochs] : epochs_) std::sort(epochs.begin(), epochs.end());
  }
  /// The last epoch that nothing tells apart from that of stamp.
  Epoch LastLike(const HazardStamp& stamp) const {
    const auto found = epochs_.find(stamp.task * kPipes + static_cast<uint64_t>(stamp.pipe));
    if (found == epochs_.end()) return kNeverKnown;
    const auto at = std::lower_bound(found->second.begin(), found->second.end(), stamp.epoch);
    return at == found->second.end() ? kNeverKnown : *at;
  }

 private:
  void Add(HazardTask task, const Epoch (&epochs)[kPipes]) {
    for (int pipe = 0; pipe < kPipes; ++pipe) Add(task, static_cast<Pipe>(pipe), epochs[pipe]);
  }

  std::unordered_map<uint64_t, std::vector<Epoch>> epochs_;  // by task and pipe
  std::set<const void*> seen_;
};

void Settle(const KnownEpochs& known, HazardStamp& stamp) {
  if (stamp.task != kNobody) stamp.epoch = known.LastLike(stamp);
}

void Settle(const KnownEpochs& known, AccessRecord& record) {
  Settle(known, record.writer);
  Settle(known, record.reader);
  for (HazardStamp& stamp : record.readers) Settle(known, stamp);
}

}  // namespace

void LaunchHazards::SettleGlobal() {
  KnownEpochs known;
  for (const HazardCore* core : running_) {
    for (const HazardClock& clock : core->pipes) known.AddOwn(core->task, clock);
    known.AddOwn(core->task, core->dispatch);
    known.Add(core->task, Pipe::kV, core->barrier_of_vector);
    for (const auto& flag : core->flags) {
      for (const PendingFlag& pending : flag) known.AddOwn(core->task, pending.clock);
    }
  }
  cross_core_.ForEach([&known](const KnownCores& cores) { known.AddOthers(cores); });
  known.Sort();
  AccessMap::Records& records = global_.records();
  auto last = records.end();
  for (auto at = records.begin(); at != records.end();) {
    Settle(known, at->second);
    if (last != records.end() && last->second.end == at->first &&
        last->second.SameHistory(at->second)) {
      last->second.end = at->second.end;
      at = records.erase(at);
    } else {
      last = at++;
    }
  }
  settle_at_ = std::max(kFewRecords, 2 * records.size());
}

}  // namespace npu
