# SPDX-License-Identifier: Apache-2.0
"""Names of ``torch.npu`` that exist for Ascend's hardware and are not there on the emulated device.

Each can be imported and looked up; using it raises one sentence that says why it is not there and what to do instead.
"""

from __future__ import annotations

from typing import Any, NoReturn

_GRAPH = "kernels are not captured here; call the code itself, or torch.compile(code, backend='aot_eager')"
_DUMP = "there is no dump of the chip's operators; npu_backend.fallback_log() tells which ran, hooks show their values"
_CHIP = "there is no chip to examine or to restart; leave the call out"
_LIMIT = "the number of cores is that of NPU_SOC; choose blocks when the kernel is launched"
_HIDE = "obfuscation is done by hardware; leave the call out"
_DETERMINISTIC = "levels of the chip are not there; use torch.use_deterministic_algorithms"
_IPC = "streams and events are not shared with other libraries or processes; use torch.npu.Stream and torch.npu.Event"
_STORAGE = "typed storages are gone from PyTorch; use torch.UntypedStorage(size, device='npu') or a tensor"

#: Functions and classes: raise when called.
CALLS: dict[str, str] = {
    **dict.fromkeys(
        (
            "NPUGraph", "graph", "graph_pool_handle", "make_graphed_callables", "graph_task_group_begin",
            "graph_task_group_end", "graph_task_update_begin", "graph_task_update_end", "NpuGraphOpHandler",
            "register_npu_graph_handler", "super_kernel_scope_begin", "super_kernel_scope_end",
        ),
        _GRAPH,
    ),
    **dict.fromkeys(("init_dump", "set_dump", "finalize_dump"), _DUMP),
    **dict.fromkeys(("stress_detect", "check_uce_in_memory", "stop_device", "restart_device"), _CHIP),
    **dict.fromkeys(
        ("set_device_limit", "get_device_limit", "set_stream_limit", "reset_stream_limit", "get_stream_limit"), _LIMIT
    ),
    **dict.fromkeys(("obfuscation_initialize", "obfuscation_finalize", "obfuscation_calculate"), _HIDE),
    **dict.fromkeys(
        ("set_deterministic_level", "enable_deterministic_with_backward", "disable_deterministic_with_backward"),
        _DETERMINISTIC,
    ),
    **dict.fromkeys(("SyncLaunchStream", "ExternalEvent"), _IPC),
    **dict.fromkeys(
        (
            "BoolStorage", "ByteStorage", "ShortStorage", "LongStorage", "IntStorage", "HalfStorage", "CharStorage",
            "DoubleStorage", "FloatStorage", "BFloat16Storage",
        ),
        _STORAGE,
    ),
    "set_aoe": "there is no tuning of the chip's operators; leave the call out",
    "current_blas_handle": "products run in PyTorch's CPU kernels, which have no handle",
    "get_npu_overflow_flag": "results overflow to infinity, no flag is kept; use torch.isfinite",
    "clear_npu_overflow_flag": "results overflow to infinity, no flag is kept; use torch.isfinite",
    "set_sync_debug_mode": "waits are not reported here; leave the call out",
    "get_sync_debug_mode": "waits are not reported here; leave the call out",
    "set_op_timeout_ms": "the time limit of a kernel that makes no progress is NPU_SPIN_TIMEOUT_MS; set that",
    "use_compatible_impl": "operators of PyTorch compute here as on CPU; leave the call out",
    "are_compatible_impl_enabled": "operators of PyTorch compute here as on CPU; leave the call out",
}  # fmt: skip

#: Objects whose attributes raise when used.
OBJECTS: dict[str, str] = {
    "CubeMathType": "products are computed in float32 here; leave it out",
    "mstx": "marks for Ascend's profiler are not recorded; use torch.profiler.record_function",
    "npurt": "Ascend's runtime is not there; its functions stand in csrc/runtime/npu_runtime.h",
}


def sentence(name: str) -> str:
    """What is raised where torch.npu.<name> is used."""
    reason = CALLS.get(name) or OBJECTS[name]
    return f"torch.npu.{name}: not supported on the emulated device: {reason}"


class _MeansNothing(type):
    """Class of the classes below: calling one raises, and so does an attribute that is not there."""

    def __call__(cls, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError(sentence(cls.__name__))

    def __getattr__(cls, attribute: str) -> NoReturn:
        if attribute.startswith("__"):  # asked by copy, inspect and others about any class
            raise AttributeError(attribute)
        raise NotImplementedError(sentence(cls.__name__))


def stand_in(name: str) -> object:
    """The object for a name of ``CALLS`` or ``OBJECTS``. A class, so that ``isinstance`` with it is False."""
    return _MeansNothing(name, (), {"__doc__": f"Not supported: raises {sentence(name)!r}.", "__module__": "torch.npu"})
