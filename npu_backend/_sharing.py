# SPDX-License-Identifier: Apache-2.0
"""Tensors of the device in queues, pipes and pools of :mod:`multiprocessing`.

As on CPU, a storage moves to shared memory when it is sent for the first time, and stays there: sender and receivers
then have the same bytes. PyTorch's own ways for storages of the CPU carry the memory; what is sent is a CPU storage
with that memory, and the receiver puts a storage of the device over it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
import torch.multiprocessing
from torch.multiprocessing import reductions

Storage = torch.UntypedStorage


def _shared_memory(storage: Storage) -> Storage | None:
    by_descriptor = torch.multiprocessing.get_sharing_strategy() == "file_descriptor"  # type: ignore[no-untyped-call]
    memory: Storage | None = torch.ops.npu_backend.find_shared_memory(storage, by_descriptor)
    return memory


@torch.storage._share_memory_lock_protected  # type: ignore[untyped-decorator]
def _move(storage: Storage) -> Storage:
    """The CPU storage whose shared memory storage, of the device, has from now on."""
    memory = _shared_memory(storage)
    if memory is None:
        memory = Storage._new_shared(storage.nbytes())  # type: ignore[no-untyped-call]
        torch.ops.npu_backend.move_into_shared_memory(storage, memory)
    return memory


def _reduce(storage: Storage) -> tuple[Callable[..., Storage], tuple[Any, ...]]:
    if storage.device.type != "npu":
        return reductions.reduce_storage(storage)  # type: ignore[no-any-return, no-untyped-call]
    if storage.nbytes() == 0:
        return _rebuild_empty, (storage.device.index,)
    memory = _move(storage)
    torch.npu.synchronize(storage.device)  # type: ignore[attr-defined]
    return _rebuild, (memory, storage.device.index)


def _rebuild_empty(index: int) -> Storage:
    return Storage(0, device=torch.device("npu", index))  # type: ignore[no-untyped-call]


def _rebuild(memory: Storage, index: int) -> Storage:
    storage: Storage = torch.ops.npu_backend.adopt_shared_memory(memory, index)
    return storage


def _patch_share_memory() -> None:
    """PyTorch shares only storages of the CPU: those of CUDA can be sent from where they are."""
    original = Storage.share_memory_
    if getattr(original, "_npu_backend_patch", False):
        return

    @functools.wraps(original)
    def wrapper(self: Storage, *args: Any, **kwargs: Any) -> Storage:
        if self.device.type != "npu":
            return original(self, *args, **kwargs)  # type: ignore[no-any-return]
        if self.nbytes() > 0:
            _move(self)
        return self

    wrapper._npu_backend_patch = True  # type: ignore[attr-defined]
    Storage.share_memory_ = wrapper  # type: ignore[method-assign]


def apply() -> None:
    """Lets tensors of the device be sent, once per process."""
    ForkingPickler.register(Storage, _reduce)
    _patch_share_memory()
