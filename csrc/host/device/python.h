// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The few calls into Python, found by dlsym: the library also serves programs without an
/// interpreter.
namespace npu_backend {

/// Puts an empty module "torch.npu" into sys.modules unless there is one. PyTorch imports it before
/// the first use of the device, also when only the library was loaded.
void AddPythonModule() noexcept;

/// Shows sentence as a Python RuntimeWarning, on standard error where there is no interpreter.
void Warn(const char* sentence) noexcept;

/// Whether a signal has arrived whose Python handler raises; the exception then follows in the main
/// thread as soon as the interpreter runs again. For npuSetInterruptCallback.
int InterruptRequested() noexcept;

}  // namespace npu_backend
