// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace npu::runtime {

/// Tells when cores that poll memory have waited long enough: nothing else in their launch can run,
/// and nothing has for a while.
class SpinWatch {
 public:
  struct Verdict {
    std::string end;  // of the sentence why the launch has to end; empty: it goes on
    bool is_peer_lost = false;
  };

  void Reset() { seen_progress_ = 0; }
  /// Called at each poll while cores can do nothing else. progress: what they have done so far,
  /// from 1 on.
  Verdict Look(uint64_t progress);

 private:
  Verdict AwaitPeers();

  uint64_t seen_progress_ = 0;
  uint64_t fruitless_polls_ = 0;
  bool peer_is_lost_ = false;  // when last looked at
  std::chrono::steady_clock::time_point progress_time_;
};

}  // namespace npu::runtime
