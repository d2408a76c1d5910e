# SPDX-License-Identifier: Apache-2.0
"""The process group of backend ``hccl``: collectives on memory of npu, which is host memory, by Gloo.

A collective waits for what is queued, then gives Gloo CPU tensors over the same memory. Results are there when
:meth:`CollectiveWork.wait` returns, which it does for the host, as well as for streams: what is queued comes later.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
from torch.distributed import distributed_c10d
from torch.distributed.distributed_c10d import (
    BarrierOptions,
    PrefixStore,
    ProcessGroup,
    ProcessGroupGloo,
    Store,
    Work,
)
from torch.utils._pytree import tree_leaves, tree_map_only

# Gloo takes each of their tensors as it lies in memory, so its dimensions may be in any order.
_IN_ANY_ORDER = frozenset(("allreduce", "broadcast", "reduce"))
_IN_ROWS = frozenset(
    (
        "_allgather_base",
        "_reduce_scatter_base",
        "all_gather_single",
        "all_gather_single_coalesced",
        "all_to_all_single",
        "allgather",
        "allgather_coalesced",
        "allgather_into_tensor_coalesced",
        "allreduce_coalesced",
        "alltoall",
        "alltoall_base",
        "gather",
        "recv",
        "recv_anysource",
        "reduce_scatter",
        "reduce_scatter_single",
        "reduce_scatter_single_coalesced",
        "reduce_scatter_tensor_coalesced",
        "scatter",
        "send",
    )
)
_NO_LIMIT = timedelta(0)  # the group's own


def _check_layout(tensor: torch.Tensor, name: str) -> None:
    if tensor.is_nested or tensor.layout is not torch.strided:
        kind = "a nested one" if tensor.is_nested else f"one of layout {tensor.layout}"
        raise ValueError(f"torch.distributed: expected dense tensors for {name}, got {kind}")
    if tensor.is_conj() or tensor.is_neg():
        raise ValueError(f"torch.distributed: expected resolved tensors for {name}, got a conjugate or negative view")
    if tensor.is_contiguous():
        return
    if name not in _IN_ANY_ORDER or not torch.ops.aten.is_non_overlapping_and_dense(tensor):
        raise ValueError(
            f"torch.distributed: expected contiguous tensors for {name}, got one of shape {tuple(tensor.shape)} and "
            f"strides {tensor.stride()}; give tensor.contiguous()"
        )


def cpu_view(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor over the memory of a dense tensor of npu, which it keeps alive; waits for the device."""
    if tensor.numel() == 0:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    address = tensor.data_ptr()  # waits
    memory = (ctypes.c_char * (tensor.numel() * tensor.element_size())).from_address(address)
    memory.owner = tensor.untyped_storage()  # type: ignore[attr-defined]
    return torch.frombuffer(memory, dtype=tensor.dtype).as_strided(tensor.shape, tensor.stride())


class CollectiveWork(Work):
    """What a collective on npu returns: Gloo's own work, with the tensors of npu as its result."""

    def __init__(self, work: Work, outputs: list[torch.Tensor]) -> None:
        """Takes the work on CPU views, and the tensors of npu that it fills."""
        super().__init__()
        self._work = work
        self._outputs = outputs

    def wait(self, timeout: timedelta = _NO_LIMIT) -> bool:
        """Waits until it is done; raises what went wrong, such as the end of another rank."""
        return self._work.wait(timeout)

    def is_completed(self) -> bool:
        """Whether it has ended, well or not."""
        return self._work.is_completed()

    def is_success(self) -> bool:
        """Whether it has ended well."""
        return self._work.is_success()

    def exception(self) -> Any:
        """What went wrong."""
        return self._work.exception()

    def synchronize(self) -> None:
        """The same as :meth:`wait`."""
        self.wait()

    def block_current_stream(self) -> None:
        """The same as :meth:`wait`: streams go on when the host does."""
        self.wait()

    def source_rank(self) -> int:
        """The rank that a receive from any rank has received from."""
        return self._work._source_rank()

    _source_rank = source_rank

    def result(self) -> list[torch.Tensor]:
        """The tensors that it fills."""
        return self._outputs

    def get_future(self) -> torch.futures.Future[list[torch.Tensor]]:
        """A future with the tensors that it fills. It is complete already: this waits."""
        self.wait()
        devices: list[int | str | torch.device] = list({tensor.device for tensor in self._outputs})
        future: torch.futures.Future[list[torch.Tensor]] = torch.futures.Future(devices=devices)
        future.set_result(self._outputs)
        return future


def _filled(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors that a collective fills: its first argument, or the one of that name."""
    named = [value for name, value in kwargs.items() if name.startswith(("output", "tensor"))]
    return [leaf for leaf in tree_leaves((*args, *named)[:1]) if isinstance(leaf, torch.Tensor)]


def _collective(name: str) -> Callable[..., Work]:
    call = getattr(ProcessGroup, name)

    def collective(self: ProcessGroupHCCL, *args: Any, **kwargs: Any) -> Work:
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        on_npu = [tensor for tensor in tensors if tensor.device.type == "npu"]
        if not on_npu:
            work: Work = call(self._group_for_cpu(), *args, **kwargs)
            return work
        for tensor in tensors:
            if tensor.device != on_npu[0].device:
                raise ValueError(
                    f"torch.distributed: expected all tensors of {name} on {on_npu[0].device}, "
                    f"got one on {tensor.device}"
                )
            _check_layout(tensor, name)
        args_on_cpu, kwargs_on_cpu = tree_map_only(torch.Tensor, cpu_view, (args, kwargs))
        return CollectiveWork(call(self._on_cpu, *args_on_cpu, **kwargs_on_cpu), _filled(args, kwargs))

    collective.__name__ = name
    collective.__doc__ = f"See ``ProcessGroup.{name}``; tensors of npu are dense, contiguous and on one device."
    return collective


class ProcessGroupHCCL(ProcessGroup):
    """Processes that exchange tensors of npu; ``torch.distributed.init_process_group("hccl")`` makes one.

    Takes the dtypes and reductions that Gloo takes. It also serves CPU tensors where the group was made for them, too
    (``"npu:hccl,cpu:gloo"``); PyTorch raises its own sentence where it was not.
    """

    def __init__(self, store: Store, rank: int, size: int, timeout: timedelta) -> None:
        """Joins the group as rank of size; waits for the others, at most timeout.

        Raises:
            RuntimeError: another rank does not come, or the network is not there.
        """
        super().__init__(rank, size)  # type: ignore[call-arg]  # a class of Python cannot hand the store on
        self._store = store
        gloo = ProcessGroupGloo(PrefixStore("gloo", store), rank, size, timeout)
        self._on_cpu = ProcessGroup(store, rank, size)
        self._on_cpu._register_backend(torch.device("cpu"), ProcessGroup.BackendType.GLOO, gloo)
        self._on_cpu._set_default_backend(ProcessGroup.BackendType.GLOO)
        self._without_cpu = ProcessGroup(store, rank, size)  # says what PyTorch says of a missing backend
        self._register_backend(torch.device("npu"), ProcessGroup.BackendType.CUSTOM, gloo)
        self._set_default_backend(ProcessGroup.BackendType.CUSTOM)

    def getBackendName(self) -> str:
        """``hccl``."""
        return "hccl"

    def get_group_store(self) -> Store:
        """The store that it was made with."""
        return self._store

    def _takes_cpu(self) -> bool:
        # PyTorch makes no backend for other devices beside a group that Python has made, and tells it of none.
        config = distributed_c10d._world.pg_backend_config.get(self, "")
        return any(pair.split(":")[0] == "cpu" for pair in config.split(","))

    def _group_for_cpu(self) -> ProcessGroup:
        return self._on_cpu if self._takes_cpu() else self._without_cpu

    @property
    def _device_types(self) -> list[torch.device]:
        names = ("cpu", "npu") if self._takes_cpu() else ("npu",)
        return [torch.device(name) for name in names]

    def _get_backend(self, device: torch.device) -> Any:
        if device.type == "cpu":
            return self._group_for_cpu()._get_backend(device)
        return super()._get_backend(device)

    def barrier(self, *args: Any, **kwargs: Any) -> Work:
        """Waits for all devices of this process and then for the other ranks; see ``ProcessGroup.barrier``."""
        for device in range(torch.accelerator.device_count()):
            torch.accelerator.synchronize(device)
        for opts in (*args, *kwargs.values()):
            if isinstance(opts, BarrierOptions):
                opts.device = torch.device("cpu")
        return CollectiveWork(self._on_cpu.barrier(*args, **kwargs), [])

    def _start_coalescing(self, device: torch.device) -> None:
        raise NotImplementedError(
            "torch.distributed: expected collectives one by one, or a function for several, "
            f"got a block of them on {device}"
        )


for _name in _IN_ANY_ORDER | _IN_ROWS:
    setattr(ProcessGroupHCCL, _name, _collective(_name))
