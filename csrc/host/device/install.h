// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The steps of the initialiser, each in the file of what it installs. Call each once, at load.
namespace npu_backend {

void InstallAllocators();
void InstallPinnedAllocator();
void InstallGuard();
void InstallHooks();
void InstallForkHandlers();
void InstallProfiler();

}  // namespace npu_backend
