// SPDX-License-Identifier: Apache-2.0
// The C ABI: events.
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/device.hpp"
#include "runtime/process.hpp"
#include "runtime/waiting.hpp"

namespace npu::runtime {
namespace {

using RecordingPtr = std::shared_ptr<Recording>;

npuError_t InvalidDestroyedEvent(const char* function) {
  return Invalid(function, "an event that lives", "one that was destroyed");
}

/// The newest recording of event (null when there is none), or an error.
npuError_t Newest(const char* function, npuEvent_t event, RecordingPtr* recording) {
  if (event == nullptr) return Invalid(function, "an event", "NULL");
  const std::lock_guard<std::mutex> lock(event->mutex);
  if (!event->alive) return InvalidDestroyedEvent(function);
  *recording = event->recording;
  return NPU_SUCCESS;
}

bool Happened(const RecordingPtr& recording) {
  return recording == nullptr || recording->happened.load(std::memory_order_acquire);
}

npuError_t CheckTimed(const char* function, const char* which, const RecordingPtr& recording) {
  if (recording == nullptr) {
    return Invalid(function, std::string("a recorded ") + which + " event", "one without a record");
  }
  if (Happened(recording)) return NPU_SUCCESS;
  return NotReady(function, "expected events that have happened, got pending work");
}

}  // namespace
}  // namespace npu::runtime

using namespace npu::runtime;  // NOLINT(google-build-using-namespace): this file is the runtime's
                               // face

npuError_t npuEventCreate(npuEvent_t* event) {
  return Using(__func__, [&](const char* function) {
    if (event == nullptr) return Invalid(function, "a pointer for the event", "NULL");
    *event = Registry::Get().CreateEvent();
    return NPU_SUCCESS;
  });
}

npuError_t npuEventDestroy(npuEvent_t event) {
  return Using(__func__, [&](const char* function) {
    if (event == nullptr) return Invalid(function, "an event", "NULL");
    {
      const std::lock_guard<std::mutex> lock(event->mutex);
      if (!std::exchange(event->alive, false)) return InvalidDestroyedEvent(function);
      event->recording.reset();
    }
    Registry::Get().DestroyEvent(event);
    return NPU_SUCCESS;
  });
}

npuError_t npuEventRecord(npuEvent_t event, npuStream_t stream) {
  return Using(__func__, [&](const char* function) {
    RecordingPtr recording;
    npuError_t error = Newest(function, event, &recording);
    if (error == NPU_SUCCESS) error = CheckStream(function, stream);
    if (error != NPU_SUCCESS) return error;
    recording = std::make_shared<Recording>();
    recording->stream = stream;
    stream->Enqueue(Task::Kind::kEventRecord, [&](Task& task) { task.recording = recording; });
    const std::lock_guard<std::mutex> lock(event->mutex);
    event->recording = std::move(recording);
    return NPU_SUCCESS;
  });
}

npuError_t npuEventQuery(npuEvent_t event) {
  return Using(__func__, [&](const char* function) {
    RecordingPtr recording;
    const npuError_t error = Newest(function, event, &recording);
    if (error != NPU_SUCCESS || Happened(recording)) return error;
    recording->stream->HandOver();
    return NPU_ERROR_NOT_READY;  // an answer: what has failed before is still the last failure
  });
}

npuError_t npuEventSynchronize(npuEvent_t event) {
  return Using(__func__, [&](const char* function) {
    RecordingPtr recording;
    const npuError_t error = Newest(function, event, &recording);
    if (error != NPU_SUCCESS || recording == nullptr) return error;
    return WaitOn(function, recording->stream, recording->sequence);
  });
}

npuError_t npuEventElapsedTime(float* milliseconds, npuEvent_t start, npuEvent_t end) {
  return Using(__func__, [&](const char* function) {
    if (milliseconds == nullptr) return Invalid(function, "a pointer for the time", "NULL");
    RecordingPtr from;
    RecordingPtr to;
    npuError_t error = Newest(function, start, &from);
    if (error == NPU_SUCCESS) error = Newest(function, end, &to);
    if (error == NPU_SUCCESS) error = CheckTimed(function, "start", from);
    if (error == NPU_SUCCESS) error = CheckTimed(function, "end", to);
    if (error != NPU_SUCCESS) return error;
    *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
    return NPU_SUCCESS;
  });
}

npuError_t npuStreamWaitEvent(npuStream_t stream, npuEvent_t event) {
  return Using(__func__, [&](const char* function) {
    RecordingPtr recording;
    npuError_t error = CheckStream(function, stream);
    if (error == NPU_SUCCESS) error = Newest(function, event, &recording);
    if (error != NPU_SUCCESS || Happened(recording) || recording->stream == stream) return error;
    stream->Enqueue(Task::Kind::kEventWait, [&](Task& task) { task.recording = recording; });
    return NPU_SUCCESS;
  });
}
