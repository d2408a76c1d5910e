// SPDX-License-Identifier: Apache-2.0
#include "runtime/spin_watch.hpp"

#include <thread>
#include <utility>

#include "runtime/device.hpp"
#include "runtime/environment.hpp"
#include "runtime/peers.hpp"

namespace npu::runtime {
namespace {

constexpr uint64_t kPollsPerOsYield = 64;
constexpr uint64_t kPollsBeforeSleep = 16 * kPollsPerOsYield;
constexpr std::chrono::microseconds kPeerPeriod{50};

}  // namespace

SpinWatch::Verdict SpinWatch::Look(uint64_t progress) {
  using Clock = std::chrono::steady_clock;
  const auto now = Clock::now();
  if (progress != seen_progress_) {
    seen_progress_ = progress;
    progress_time_ = now;
    fruitless_polls_ = 0;
    peer_is_lost_ = false;
    return {};
  }
  const bool has_peers = Peers::Get().Any();
  const int timeout =
      has_peers ? GetEnvironment().peer_timeout_ms : GetEnvironment().spin_timeout_ms;
  if (now - progress_time_ >= std::chrono::milliseconds(timeout)) {
    return {"expected the memory that it polls to change, got no progress of any core in " +
            std::to_string(timeout) + " ms"};
  }
  // What is polled may be in the hands of another thread, or of work that nobody runs yet.
  if (++fruitless_polls_ % kPollsPerOsYield != 0) return {};
  std::this_thread::yield();
  for (int device = 0; device < GetEnvironment().device_count; ++device) {
    for (npuStream_t stream : Registry::Get().BusyStreams(device)) stream->HandOver();
  }
  return has_peers ? AwaitPeers() : Verdict();
}

// Another process may need this processor to do what is polled for.
SpinWatch::Verdict SpinWatch::AwaitPeers() {
  if (fruitless_polls_ < kPollsBeforeSleep) return {};
  std::this_thread::sleep_for(kPeerPeriod);
  std::string lost = Peers::Get().Lost();
  // What a process wrote before it ended is there to be seen: the core looks once more.
  if (!std::exchange(peer_is_lost_, !lost.empty()) || lost.empty()) return {};
  return {std::move(lost), true};
}

}  // namespace npu::runtime
