// SPDX-License-Identifier: Apache-2.0
#include "device/python.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "device/registration.h"
#include "npu_runtime.h"

namespace npu_backend {
namespace {

using Object = void*;

template <class Function>
Function Find(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

/// PyMethodDef, whose layout is part of Python's stable ABI.
struct MethodDefinition {
  const char* name;
  Object (*function)(Object self, Object arguments);
  int flags;
  const char* doc;
};
constexpr int kNoArguments = 0x0004;  // METH_NOARGS

struct PythonApi {
  int (*is_initialized)() = Find<int (*)()>("Py_IsInitialized");
  // Public from 3.13 on; before under the private name.
  int (*is_finalizing)() = Find<int (*)()>("Py_IsFinalizing");
  int (*is_finalizing_before_3_13)() = Find<int (*)()>("_Py_IsFinalizing");
  int (*ensure_gil)() = Find<int (*)()>("PyGILState_Ensure");
  int (*holds_gil)() = Find<int (*)()>("PyGILState_Check");
  void (*release_gil)(int) = Find<void (*)(int)>("PyGILState_Release");
  Object (*add_module)(const char*) = Find<Object (*)(const char*)>("PyImport_AddModule");
  int (*check_signals)() = Find<int (*)()>("PyErr_CheckSignals");
  void (*fetch)(Object*, Object*,
                Object*) = Find<void (*)(Object*, Object*, Object*)>("PyErr_Fetch");
  void (*restore)(Object, Object, Object) = Find<void (*)(Object, Object, Object)>("PyErr_Restore");
  void (*clear)() = Find<void (*)()>("PyErr_Clear");
  void (*set_interrupt)() = Find<void (*)()>("PyErr_SetInterrupt");
  int (*add_pending_call)(int (*)(void*),
                          void*) = Find<int (*)(int (*)(void*), void*)>("Py_AddPendingCall");
  int (*warn)(Object, const char*,
              std::ptrdiff_t) = Find<int (*)(Object, const char*, std::ptrdiff_t)>("PyErr_WarnEx");
  Object* runtime_warning = Find<Object*>("PyExc_RuntimeWarning");
  Object (*save_thread)() = Find<Object (*)()>("PyEval_SaveThread");
  void (*restore_thread)(Object) = Find<void (*)(Object)>("PyEval_RestoreThread");
  Object (*from_long)(long) = Find<Object (*)(long)>("PyLong_FromLong");
  Object (*new_function)(MethodDefinition*, Object, Object) =
      Find<Object (*)(MethodDefinition*, Object, Object)>("PyCFunction_NewEx");

  bool Usable() const {
    if (!is_initialized || !ensure_gil || !release_gil || !clear || !is_initialized()) return false;
    if (is_finalizing) return !is_finalizing();
    return !is_finalizing_before_3_13 || !is_finalizing_before_3_13();
  }
};

const PythonApi& Python() {
  static const PythonApi api;
  return api;
}

class Gil {
 public:
  Gil() : state_(Python().ensure_gil()) {}
  ~Gil() { Python().release_gil(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  int state_;
};

struct Exception {
  Object type = nullptr;
  Object value = nullptr;
  Object traceback = nullptr;
};

int RaiseAgain(void* argument) {
  auto* exception = static_cast<Exception*>(argument);
  Python().restore(exception->type, exception->value, exception->traceback);
  delete exception;
  return -1;
}

/// Takes the exception that a signal handler has raised out of this call, which has no way to
/// return it, and has the interpreter raise it at its next instruction.
void RaiseLater() {
  const PythonApi& python = Python();
  if (!python.fetch || !python.restore || !python.add_pending_call) {
    python.clear();
    if (python.set_interrupt) python.set_interrupt();
    return;
  }
  auto* exception = new Exception;
  python.fetch(&exception->type, &exception->value, &exception->traceback);
  if (python.add_pending_call(&RaiseAgain, exception) == 0) return;
  // The queue of pending calls is full: the exception is lost, an interrupt is not.
  delete exception;
  if (python.set_interrupt) python.set_interrupt();
}

/// Waits for the current device; gives the interpreter up only if there is something to wait for.
Object WaitForCurrentDevice(Object, Object) {
  const PythonApi& python = Python();
  npuError_t error = npuDeviceQuery();
  if (error == NPU_ERROR_NOT_READY) {
    const Object thread = python.save_thread();
    error = npuDeviceSynchronize();
    python.restore_thread(thread);
  }
  return python.from_long(error);
}

}  // namespace

void AddPythonModule() noexcept {
  const PythonApi& python = Python();
  if (!python.Usable() || !python.add_module) return;
  const Gil gil;
  if (!python.add_module("torch.npu")) python.clear();
}

void Warn(const char* sentence) noexcept {
  const PythonApi& python = Python();
  if (!python.Usable() || !python.warn || !python.runtime_warning) {
    std::fprintf(stderr, "%s\n", sentence);
    return;
  }
  const Gil gil;
  if (python.warn(*python.runtime_warning, sentence, 1) != 0) python.clear();
}

int InterruptRequested() noexcept {
  // Python runs signal handlers in the main thread only; another thread would wait for the
  // interpreter's lock, maybe for a main thread that waits for this one.
  if (gettid() != getpid()) return 0;
  const PythonApi& python = Python();
  if (!python.Usable() || !python.check_signals) return 0;
  const Gil gil;
  if (python.check_signals() == 0) return 0;
  RaiseLater();
  return 1;
}

bool HoldsGil() noexcept {
  const PythonApi& python = Python();
  return !python.is_initialized || !python.is_initialized() || !python.holds_gil ||
         python.holds_gil() != 0;
}

bool CallInMainThread(int (*function)(void*)) noexcept {
  const PythonApi& python = Python();
  return python.add_pending_call && python.add_pending_call(function, nullptr) == 0;
}

void CallWithGil(void (*function)()) noexcept {
  if (!Python().Usable()) return;
  const Gil gil;
  function();
}

}  // namespace npu_backend

/// For the Python package: a new function without arguments that waits for the current device and
/// returns the npuError_t of it, for npu_backend::raise_error. Programs wait after each step, so
/// what such a call costs beside the wait counts.
extern "C" NPU_BACKEND_API void* npu_backend_wait_function() {
  using namespace npu_backend;  // NOLINT(google-build-using-namespace): it ends with the function
  static MethodDefinition definition = {"wait", &WaitForCurrentDevice, kNoArguments, nullptr};
  return Python().new_function(&definition, nullptr, nullptr);
}
