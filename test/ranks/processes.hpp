// SPDX-License-Identifier: Apache-2.0
// Ranks as forked processes.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

namespace test {

/// A process that runs body and tells what it returns.
class Process {
 public:
  explicit Process(const std::function<std::string()>& body) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      alarm(60);  // a hang ends as a signal, which Text reports
      const std::string text = body();
      const ssize_t written = write(ends[1], text.data(), text.size());
      exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(ends[1]);
    end_ = ends[0];
  }
  ~Process() { Text(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Waits for the end; what body returned, or "signal <number>".
  std::string Text() {
    if (end_ < 0) return text_;
    char buffer[1024];
    for (ssize_t count = 0; (count = read(end_, buffer, sizeof(buffer))) > 0;) {
      text_.append(buffer, static_cast<size_t>(count));
    }
    close(end_);
    end_ = -1;
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    if (WIFSIGNALED(status)) text_ = "signal " + std::to_string(WTERMSIG(status));
    return text_;
  }

 private:
  pid_t child_ = 0;
  int end_ = -1;
  std::string text_;
};

/// What body(rank) returns in a process for each rank.
inline std::vector<std::string> OnRanks(uint32_t ranks,
                                        const std::function<std::string(uint32_t)>& body) {
  std::vector<std::unique_ptr<Process>> processes;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    processes.push_back(std::make_unique<Process>([&body, rank] { return body(rank); }));
  }
  std::vector<std::string> texts;
  for (auto& process : processes) texts.push_back(process->Text());
  return texts;
}

[[noreturn]] inline void Die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

}  // namespace test
