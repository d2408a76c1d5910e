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

/// Whether this thread need not wait for the interpreter's lock: it holds it, or there is none.
bool HoldsGil() noexcept;

/// Has the main thread call function when it next interprets; false when that cannot be had.
bool CallInMainThread(int (*function)(void*)) noexcept;

/// Calls function with the interpreter's lock held, for which it waits. Not at all where there is
/// no interpreter any more.
void CallWithGil(void (*function)()) noexcept;

}  // namespace npu_backend
