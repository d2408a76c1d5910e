# SPDX-License-Identifier: Apache-2.0
"""What ``torch.compile`` is told about npu: devices, streams and events in graphs, and a backend of its name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from npu_backend import npu
from npu_backend._after_import import after_import
from npu_backend.npu.devices import Device, device_index

# Their results stay as they are while a process lives: numbers in a graph, not calls.
_CONSTANT = (npu.device_count, npu.get_device_capability, npu.get_device_name, npu.is_available, npu.is_bf16_supported)


def _interface(base: type) -> type:
    class NpuInterface(base):  # type: ignore[misc]
        """The calls of a device that Dynamo and Inductor make."""

        device = npu.device
        Event = npu.Event
        Stream = npu.Stream

        class Worker:
            """The same calls in processes that compile."""

            set_device = staticmethod(npu.set_device)
            current_device = staticmethod(npu.current_device)
            get_device_properties = staticmethod(npu.get_device_properties)

        current_device = staticmethod(npu.current_device)
        current_stream = staticmethod(npu.current_stream)
        device_count = staticmethod(npu.device_count)
        exchange_device = staticmethod(torch._C._accelerator_exchangeDevice)
        get_compute_capability = staticmethod(npu.get_device_capability)
        get_device_properties = staticmethod(npu.get_device_properties)
        is_available = staticmethod(npu.is_available)
        is_bf16_supported = staticmethod(npu.is_bf16_supported)
        maybe_exchange_device = staticmethod(torch._C._accelerator_maybeExchangeDevice)
        memory_allocated = staticmethod(npu.memory_allocated)
        set_device = staticmethod(npu.set_device)
        set_stream = staticmethod(npu.set_stream)
        stream = staticmethod(npu.stream)
        synchronize = staticmethod(npu.synchronize)

        @staticmethod
        def get_raw_stream(device_idx: int) -> int:
            """Address of the current stream of a device in the C interface."""
            return npu.current_stream(device_idx).npu_stream

        @staticmethod
        def _set_stream_by_id(stream_id: int, device_index: int, device_type: int) -> None:
            npu.set_stream(npu.Stream(stream_id=stream_id, device_index=device_index, device_type=device_type))

    return NpuInterface


def _register_interface() -> None:
    from torch._dynamo.device_interface import DeviceInterface, register_interface_for_device

    interface = _interface(DeviceInterface)
    for name in ("npu", *(f"npu:{index}" for index in range(npu.device_count()))):
        register_interface_for_device(name, interface)


def _register_contexts_of_devices() -> None:
    from torch._dynamo.variables.ctx_manager import AcceleratorDeviceIndexVariable, register_device_context_manager

    class NpuDeviceVariable(AcceleratorDeviceIndexVariable):
        """A ``with torch.npu.device(...)`` in a graph."""

        _get_device_index_fn = staticmethod(device_index)  # type: ignore[assignment]

        def module_name(self) -> str:
            return "torch.npu"

        def fn_name(self) -> str:
            return "device"

        def python_type(self) -> type:
            return npu.device

    register_device_context_manager(npu.device, NpuDeviceVariable)


def _current_device() -> int:
    return torch.accelerator.current_device_index()


def _current_stream(device: Device = None) -> torch.Stream:
    return torch.accelerator.current_stream() if device is None else torch.accelerator.current_stream(device)


def _synchronize(device: Device = None) -> None:
    return torch.accelerator.synchronize() if device is None else torch.accelerator.synchronize(device)


def _stream(stream: torch.Stream | None) -> Any:
    return contextlib.nullcontext() if stream is None else stream


# What functions of torch.npu mean in a graph.
_MEANING: tuple[tuple[Callable[..., Any], Callable[..., Any]], ...] = (
    (npu.current_device, _current_device),
    (npu.current_stream, _current_stream),
    (npu.stream, _stream),
    (npu.synchronize, _synchronize),
)


def _trace_functions(dynamo: ModuleType) -> None:
    from torch._dynamo.variables.user_defined import UserDefinedClassVariable

    UserDefinedClassVariable._in_graph_classes().update((npu.Event, npu.Stream))
    for function in _CONSTANT:
        dynamo.assume_constant_result(function)
    for function, meaning in _MEANING:
        dynamo.substitute_in_graph(function)(meaning)


def _run_operators(graph: Any, inputs: list[Any], **options: Any) -> Any:
    """Backend ``npu``: the graph as it was captured, one operator after the other; ``options`` are for compilers."""
    del inputs, options
    return graph.forward


def _tell(dynamo: ModuleType) -> None:
    _register_interface()
    _register_contexts_of_devices()
    _trace_functions(dynamo)
    dynamo.register_backend(_run_operators, name="npu")


def apply() -> None:
    """Tells PyTorch's compiler, once somebody imports it."""
    after_import("torch._dynamo", _tell)
