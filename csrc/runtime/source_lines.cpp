// SPDX-License-Identifier: Apache-2.0
#include "runtime/source_lines.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

namespace npu::runtime {
namespace {

using Frames = std::vector<std::string>;

std::string Hex(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof(text), "%#llx", static_cast<unsigned long long>(number));
  return text;
}

/// A file of this package as a compiler cache names it, "build/../../csrc/", without the detour.
std::string WithoutDetour(std::string line) {
  constexpr std::string_view kBuild = "build/", kUp = "../";
  if (!line.starts_with("build/../")) return line;
  size_t at = kBuild.size();
  while (line.compare(at, kUp.size(), kUp) == 0) at += kUp.size();
  return line.substr(at);
}

std::string ReadAll(int file) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t bytes = read(file, buffer, sizeof(buffer));
    if (bytes > 0) {
      text.append(buffer, static_cast<size_t>(bytes));
    } else if (bytes == 0 || errno != EINTR) {
      return text;
    }
  }
}

/// What command, which the shell would find, prints; empty where it does not run.
std::string OutputOf(std::vector<std::string> command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (error == 0) {
    text = ReadAll(ends[0]);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return text;
}

/// For each offset in library the lines from the innermost inlined function outwards.
std::vector<Frames> FramesOf(const std::string& library, const Frames& offsets) {
  std::vector<std::string> command = {"addr2line", "-a", "-i", "-e", library};
  command.insert(command.end(), offsets.begin(), offsets.end());
  const std::string text = OutputOf(std::move(command));
  std::vector<Frames> frames;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("0x")) {
      frames.emplace_back();
    } else if (!frames.empty() && !line.starts_with("?") && !line.ends_with(":?")) {
      frames.back().push_back(WithoutDetour(line.substr(0, line.find(" (discriminator"))));
    }
  }
  frames.resize(offsets.size());
  return frames;
}

/// The same for each of places, of whatever library.
std::vector<Frames> FramesOf(const std::vector<CodePlace>& places) {
  std::map<std::string, std::vector<size_t>> by_library;
  for (size_t i = 0; i < places.size(); ++i) by_library[places[i].library].push_back(i);
  std::vector<Frames> all(places.size());
  for (const auto& [library, indices] : by_library) {
    if (library.empty()) continue;
    Frames offsets;
    for (const size_t index : indices) offsets.push_back(Hex(places[index].offset));
    std::vector<Frames> frames = FramesOf(library, offsets);
    for (size_t i = 0; i < indices.size(); ++i) all[indices[i]] = std::move(frames[i]);
  }
  return all;
}

std::vector<CodePlace> PlacesOf(const std::vector<const void*>& call_sites) {
  std::vector<CodePlace> places;
  for (const void* call_site : call_sites) places.push_back(PlaceOf(call_site));
  return places;
}

/// The innermost line that is in no header of ours; "" where there is none.
std::string OwnLine(const Frames& frames) {
  for (const std::string& frame : frames) {
    bool is_shipped = frame.starts_with("/usr/include/") || frame.starts_with("csrc/include/");
    for (const char* folder : {"/include/npu/", "/include/pto/", "/include/compat/"}) {
      is_shipped = is_shipped || frame.find(folder) != std::string::npos;
    }
    if (!is_shipped) return frame;
  }
  return "";
}

}  // namespace

CodePlace Locate(const void* address) {
  Dl_info info;
  void* found = nullptr;
  if (dladdr1(address, &info, &found, RTLD_DL_LINKMAP) == 0 || info.dli_fname == nullptr) return {};
  // Not dli_fbase: a library need not begin at address 0 of its file.
  const auto moved_by = static_cast<const link_map*>(found)->l_addr;
  return {info.dli_fname, reinterpret_cast<uintptr_t>(address) - moved_by};
}

CodePlace PlaceOf(const void* call_site) {
  if (call_site == nullptr) return {};
  // The call stands before the address it returns to.
  return Locate(static_cast<const char*>(call_site) - 1);
}

std::vector<std::string> SourceLines(const std::vector<CodePlace>& places) {
  const std::vector<Frames> frames = FramesOf(places);
  std::vector<std::string> lines;
  for (size_t i = 0; i < places.size(); ++i) {
    std::string line = OwnLine(frames[i]);
    if (line.empty() && !frames[i].empty()) line = frames[i].back();
    if (line.empty() && places[i].library.empty()) line = "an unknown place";
    lines.push_back(!line.empty() ? line : places[i].library + "+" + Hex(places[i].offset));
  }
  return lines;
}

std::vector<std::string> SourceLines(const std::vector<const void*>& call_sites) {
  return SourceLines(PlacesOf(call_sites));
}

std::string FirstOwnLine(const std::vector<const void*>& call_sites) {
  for (const Frames& frames : FramesOf(PlacesOf(call_sites))) {
    std::string line = OwnLine(frames);
    if (!line.empty()) return line;
  }
  return "";
}

}  // namespace npu::runtime
