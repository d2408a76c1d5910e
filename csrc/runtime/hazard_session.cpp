// SPDX-License-Identifier: Apache-2.0
#include "runtime/hazard_session.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "observe/hazard_checker.hpp"
#include "runtime/environment.hpp"
#include "runtime/hazard_report.hpp"
#include "runtime/process.hpp"

namespace npu::runtime {
namespace {

struct Session {
  std::mutex mutex;
  bool by_call = false;
  bool of_environment = false;  // what is found belongs to the report of the environment
  uint32_t reports = 0;         // that are closed
};

Session& GetSession() {
  static auto* const session = new Session;  // outlives static destructors
  return *session;
}

std::atomic<bool> is_quiet{false};

void WriteReport(const Session& session) {
  const std::string& folder = GetEnvironment().hazard_report;
  if (session.of_environment && !folder.empty()) WriteHazardReport(folder, session.reports);
}

/// Writes what belongs to the report: it is about to be forgotten.
void CloseReport(Session& session) {
  WriteReport(session);
  if (session.of_environment) ++session.reports;
  session.of_environment = false;
}

void GoBackToEnvironment(Session& session) {
  const Environment& environment = GetEnvironment();
  session.of_environment = environment.check_hazards;
  if (!environment.check_hazards) return;
  is_quiet.store(!environment.hazard_report.empty());
  HazardChecker::Start(environment.hazard_kinds);
}

void WriteAtExit() {
  if (process_state.load() != ProcessState::kForked) HazardSession::Write();
}

}  // namespace

void HazardSession::Start(uint32_t kinds, bool quiet) {
  Session& session = GetSession();
  const std::lock_guard<std::mutex> lock(session.mutex);
  CloseReport(session);
  session.by_call = true;
  is_quiet.store(quiet);
  HazardChecker::Start(kinds);
}

void HazardSession::Stop() {
  Session& session = GetSession();
  const std::lock_guard<std::mutex> lock(session.mutex);
  if (!session.by_call) return;
  session.by_call = false;
  HazardChecker::Stop();
  GoBackToEnvironment(session);
}

void HazardSession::StartOfEnvironment() {
  Session& session = GetSession();
  const std::lock_guard<std::mutex> lock(session.mutex);
  if (GetEnvironment().check_hazards && !GetEnvironment().hazard_report.empty()) {
    std::atexit(&WriteAtExit);
  }
  if (!session.by_call) GoBackToEnvironment(session);
}

bool HazardSession::IsQuiet() { return is_quiet.load(); }

void HazardSession::Write() {
  Session& session = GetSession();
  const std::lock_guard<std::mutex> lock(session.mutex);
  WriteReport(session);
}

}  // namespace npu::runtime
