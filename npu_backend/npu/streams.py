# SPDX-License-Identifier: Apache-2.0
"""Streams and events. A stream runs its work in order; work is queued and runs when somebody waits for it."""

from __future__ import annotations

import ctypes
from typing import Any, NoReturn

import torch

from npu_backend.npu.devices import Device, current_device, device_index, set_device


class Stream(torch.Stream):
    """One of 32 streams of a device, in turn.

    Args:
        device: the device of the stream; the current one when None.
        priority: accepted, all streams have the same.
        **kwargs: ``stream_id``, ``device_index`` and ``device_type`` of an existing stream.
    """

    def __new__(cls, device: Device = None, priority: int = 0, **kwargs: Any) -> Stream:
        """Takes a stream of the device, or wraps the existing one that kwargs name."""
        if kwargs:
            return super().__new__(cls, priority=priority, **kwargs)
        return super().__new__(cls, torch.device("npu", device_index(device)), priority=priority)

    @property
    def npu_stream(self) -> int:
        """Address of the stream in the C interface ``npu_runtime.h``."""
        return int(self.native_handle)  # type: ignore[attr-defined]

    @property
    def priority(self) -> int:
        """0: all streams have the same."""
        return 0

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.npu_stream)

    def record_event(self, event: torch.Event | None = None) -> torch.Event:
        """Records event, or a new one, behind the work that is now on this stream."""
        # torch.Stream refuses objects of subclasses of torch.Event here.
        event = Event() if event is None else event
        event.record(self)
        return event

    def set_data_preprocess_stream(self, is_data_preprocess_stream: bool = False) -> None:
        """Accepted: the work of all streams runs on the same cores."""

    def __repr__(self) -> str:
        """Device and id."""
        return f"<torch.npu.Stream device={self.device} stream_id={self.stream_id}>"


class ExternalStream(Stream):
    """A stream that ``npuStreamCreate`` of the C interface has made.

    Args:
        stream_ptr: its address. Who made it destroys it, when nothing uses it any more.
        device: the device it is on; the current one when None.
    """

    def __new__(cls, stream_ptr: int, device: Device = None) -> ExternalStream:
        """Wraps the stream."""
        own = default_stream(device)
        return super().__new__(cls, stream_id=stream_ptr, device_index=own.device_index, device_type=own.device_type)  # type: ignore[return-value]


class Event(torch.Event):
    """A point in a stream that others can wait for.

    Args:
        enable_timing: whether :meth:`elapsed_time` may be asked.
        blocking: accepted, waiting threads run the work that they wait for.
        interprocess: accepted, without effect.
    """

    _measures_time: bool

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> Event:
        """Makes an event of device npu."""
        event = super().__new__(
            cls, torch.device("npu"), enable_timing=enable_timing, blocking=blocking, interprocess=interprocess
        )
        event._measures_time = enable_timing
        return event

    def elapsed_time(self, other: torch.Event) -> float:
        """Milliseconds from this event to other.

        Raises:
            RuntimeError: an event was made without ``enable_timing=True``, or has not happened yet.
        """
        # torch.Event refuses objects of its subclasses as other.
        if not self._measures_time or not getattr(other, "_measures_time", True):
            raise RuntimeError("torch.npu.Event: expected events made with enable_timing=True, got one without")
        if not self.event_id or not other.event_id or not (self.query() and other.query()):
            raise RuntimeError("torch.npu.Event: expected events that have happened, got one that has not")
        return float(torch.ops.npu_backend.elapsed_time(self.event_id, other.event_id))

    def recorded_time(self) -> NoReturn:
        """Not there: the chip's clock is not emulated; use ``elapsed_time``."""
        raise NotImplementedError(
            "torch.npu.Event.recorded_time: not supported on the emulated device: the chip's clock is not emulated; "
            "use elapsed_time"
        )

    def ipc_handle(self) -> NoReturn:
        """Not there: events are not shared with other processes."""
        raise NotImplementedError(
            "torch.npu.Event.ipc_handle: not supported on the emulated device: events are not shared with other "
            "processes; synchronize, and send a message"
        )

    @classmethod
    def from_ipc_handle(cls, device: Device, handle: bytes) -> NoReturn:
        """Not there: events are not shared with other processes."""
        raise NotImplementedError(
            "torch.npu.Event.from_ipc_handle: not supported on the emulated device: events are not shared with other "
            "processes; synchronize, and receive a message"
        )

    def __repr__(self) -> str:
        """Device and address."""
        return f"<torch.npu.Event device={self.device} event_id={self.event_id:#x}>"


def _wrap(stream: torch.Stream) -> Stream:
    return Stream(stream_id=stream.stream_id, device_index=stream.device_index, device_type=stream.device_type)


def current_stream(device: Device = None) -> Stream:
    """The current stream of this thread on device."""
    return _wrap(torch._C._accelerator_getStream(device_index(device)))


def default_stream(device: Device = None) -> Stream:
    """The default stream of device."""
    current = torch._C._accelerator_getStream(device_index(device))
    return Stream(stream_id=0, device_index=current.device_index, device_type=current.device_type)


def set_stream(stream: torch.Stream | None) -> None:
    """Makes stream the current one of this thread, and its device the current device; None changes nothing."""
    if stream is not None:
        torch._C._accelerator_setStream(stream)


def is_current_stream_capturing() -> bool:
    """Whether kernels go into a graph instead of being run: never."""
    return False


class StreamContext:
    """Context in which stream is the current one, on its device; None changes nothing."""

    def __init__(self, stream: torch.Stream | None) -> None:
        """Args: stream, or None."""
        self.stream = stream
        self._before: list[tuple[int, torch.Stream]] = []

    def __enter__(self) -> torch.Stream | None:
        """Switches to the stream."""
        if self.stream is not None:
            self._before.append((current_device(), current_stream(self.stream.device)))
            set_stream(self.stream)
        return self.stream

    def __exit__(self, *exception: object) -> None:
        """Switches back."""
        if self.stream is not None:
            device, stream = self._before.pop()
            set_stream(stream)
            set_device(device)


def stream(stream: torch.Stream | None) -> StreamContext:
    """Context in which stream is the current one."""
    return StreamContext(stream)
