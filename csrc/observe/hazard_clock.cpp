// SPDX-License-Identifier: Apache-2.0
#include "observe/hazard_clock.hpp"

#include <iterator>

namespace npu {
namespace {

using Cores = std::vector<CoreEpochs>;

bool Before(const CoreEpochs& core, HazardTask task) { return core.task < task; }

const CoreEpochs* Find(const Cores& cores, HazardTask task) {
  const auto found = std::lower_bound(cores.begin(), cores.end(), task, Before);
  return found != cores.end() && found->task == task ? &*found : nullptr;
}

/// Whether a knows all that b knows.
bool Covers(const Cores& a, const Cores& b) {
  auto in_a = a.begin();
  for (const CoreEpochs& core : b) {
    while (in_a != a.end() && in_a->task < core.task) ++in_a;
    if (in_a == a.end() || in_a->task != core.task) return false;
    for (int pipe = 0; pipe < kPipes; ++pipe) {
      if (in_a->epochs[pipe] < core.epochs[pipe]) return false;
    }
  }
  return true;
}

void Raise(CoreEpochs& core, const Epoch (&epochs)[kPipes]) {
  for (int pipe = 0; pipe < kPipes; ++pipe) {
    core.epochs[pipe] = std::max(core.epochs[pipe], epochs[pipe]);
  }
}

/// Adds what is known of one core.
void Add(Cores& cores, const CoreEpochs& core) {
  const auto found = std::lower_bound(cores.begin(), cores.end(), core.task, Before);
  if (found != cores.end() && found->task == core.task) return Raise(*found, core.epochs);
  cores.insert(found, core);
}

}  // namespace

KnownCores Join(const KnownCores& a, const KnownCores& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr || Covers(*b, *a)) return b;
  if (Covers(*a, *b)) return a;
  Cores all;
  all.reserve(a->size() + b->size());
  auto in_b = b->begin();
  for (const CoreEpochs& core : *a) {
    for (; in_b != b->end() && in_b->task < core.task; ++in_b) all.push_back(*in_b);
    all.push_back(core);
    if (in_b != b->end() && in_b->task == core.task) Raise(all.back(), (in_b++)->epochs);
  }
  all.insert(all.end(), in_b, b->end());
  return std::make_shared<const Cores>(std::move(all));
}

void HazardClock::Learn(HazardTask self, const KnownCores& cores) {
  if (cores == nullptr) return;
  if (const CoreEpochs* known = Find(*cores, self)) JoinOwn(known->epochs);
  others = npu::Join(others, cores);
}

KnownCores HazardClock::Export(HazardTask self) const {
  Cores all;
  if (others != nullptr) {
    all.reserve(others->size() + 1);
    all = *others;
  }
  CoreEpochs core{self, {}};
  std::copy(std::begin(own), std::end(own), core.epochs);
  Add(all, core);
  return std::make_shared<const Cores>(std::move(all));
}

Epoch HazardClock::EpochOf(HazardTask task, int pipe) const {
  const CoreEpochs* known = Find(*others, task);
  return known == nullptr ? 0 : known->epochs[pipe];
}

}  // namespace npu
