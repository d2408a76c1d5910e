// SPDX-License-Identifier: Apache-2.0
#include "device/registration.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/StringUtil.h>
#include <torch/library.h>

#include <exception>
#include <memory>
#include <mutex>
#include <vector>

namespace npu_backend {
namespace {

struct Entry {
  std::string owner;
  std::vector<std::string> operators;
  void (*define)();
};

struct Registry {
  std::mutex mutex;
  std::vector<Entry> pending;
  // Never destroyed: PyTorch may still look operators up while the process ends.
  std::vector<std::unique_ptr<torch::Library>> libraries;
};

Registry& TheRegistry() {
  static Registry& registry = *new Registry;
  return registry;
}

std::vector<Entry> TakePending(const std::string& owner) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  std::vector<Entry> taken, rest;
  for (Entry& entry : registry.pending) {
    (entry.owner == owner ? taken : rest).push_back(std::move(entry));
  }
  registry.pending.swap(rest);
  return taken;
}

c10::OperatorName ParseName(const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return {name, ""};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::string FindTaken(const std::string& owner, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    for (const std::string& name : entry.operators) {
      const auto taken = c10::Dispatcher::singleton().findSchema(ParseName(name));
      if (taken) {
        return c10::str(owner, ": expected the operator name ", name,
                        " to be free, got one that is defined already (", taken->debug(),
                        "); load one copy or one owner of it per process");
      }
    }
  }
  return "";
}

torch::Library& Keep(std::unique_ptr<torch::Library> library) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.libraries.push_back(std::move(library));
  return *registry.libraries.back();
}

}  // namespace

Registration::Registration(const char* owner, std::initializer_list<const char*> operators,
                           void (*define)()) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.pending.push_back({owner, {operators.begin(), operators.end()}, define});
}

std::string RegisterPending(const char* owner) noexcept {
  const size_t kept = TheRegistry().libraries.size();
  try {
    const std::vector<Entry> entries = TakePending(owner);
    if (owner != std::string(kDeviceOwner) && !DeviceError().empty()) return DeviceError();
    if (std::string taken = FindTaken(owner, entries); !taken.empty()) return taken;
    for (const Entry& entry : entries) entry.define();
    return "";
  } catch (const c10::Error& error) {
    TheRegistry().libraries.resize(kept);
    return std::string(owner) + ": " + error.what_without_backtrace();
  } catch (const std::exception& error) {
    TheRegistry().libraries.resize(kept);
    return std::string(owner) + ": " + error.what();
  }
}

torch::Library& Extend(const char* name_space) {
  return Keep(std::make_unique<torch::Library>(torch::Library::FRAGMENT, name_space, std::nullopt,
                                               __FILE__, __LINE__));
}

torch::Library& Implement(const char* name_space, c10::DispatchKey key) {
  return Keep(
      std::make_unique<torch::Library>(torch::Library::IMPL, name_space, key, __FILE__, __LINE__));
}

}  // namespace npu_backend
