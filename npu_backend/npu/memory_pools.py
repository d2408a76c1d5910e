# SPDX-License-Identifier: Apache-2.0
"""Pools that keep the memory of some tensors apart, and allocators from a library of the user's."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from npu_backend.npu.devices import Device, device_index

_backend = "native"


@dataclass(frozen=True)
class _Functions:
    """Addresses of the functions of an allocator, and what keeps them there."""

    allocate: int
    free: int
    library: Any


class NPUPluggableAllocator:
    """An allocator from a shared library, for :func:`change_current_allocator` or a :class:`MemPool`.

    Args:
        path_to_so_file: the library.
        alloc_fn_name: its function ``void* f(size_t size, int device, aclrtStream stream)``; NULL: out of memory.
        free_fn_name: its function ``void f(void* ptr, size_t size, int device, aclrtStream stream)``.

    Raises:
        OSError: the library does not load.
        AttributeError: it has no such function.
    """

    def __init__(self, path_to_so_file: str | Path, alloc_fn_name: str, free_fn_name: str) -> None:
        """Args: as the class's."""
        library = ctypes.CDLL(str(path_to_so_file))
        allocate, free = (
            ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in (alloc_fn_name, free_fn_name)
        )
        self._functions = _Functions(allocate, free, library)

    def allocator(self) -> _Functions:
        """What :class:`MemPool` takes."""
        return self._functions


def change_current_allocator(allocator: NPUPluggableAllocator) -> None:
    """Takes all memory of the devices from allocator from now on, each tensor's by a call of its own.

    Raises:
        RuntimeError: memory of a device was used already.
    """
    if not isinstance(allocator, NPUPluggableAllocator):
        raise TypeError(f"change_current_allocator: expected an NPUPluggableAllocator, got {allocator!r}")
    functions = allocator.allocator()
    torch.ops.npu_backend.replace_memory_source(functions.allocate, functions.free)
    global _backend, _current
    _backend, _current = "pluggable", functions


_current: _Functions | None = None


def get_allocator_backend() -> str:
    """``native``, or ``pluggable`` after :func:`change_current_allocator`."""
    return _backend


class MemPool:
    """Memory that only the tensors made under :func:`use_mem_pool` take, until the pool is gone.

    Args:
        allocator: ``NPUPluggableAllocator(...).allocator()``, from where the pool's memory comes; the system when None.
    """

    def __init__(self, allocator: _Functions | None = None) -> None:
        """Args: as the class's."""
        if allocator is not None and not isinstance(allocator, _Functions):
            raise TypeError(f"MemPool: expected NPUPluggableAllocator(...).allocator(), got {allocator!r}")
        self._functions = allocator
        self._uses = 1
        addresses = (allocator.allocate, allocator.free) if allocator else (0, 0)
        self._arena = int(torch.ops.npu_backend.new_arena(*addresses))
        # The finalizer keeps the functions' library while a tensor may still hold memory of it.
        self._finalizer = weakref.finalize(self, _drop, self._arena, allocator)
        self._finalizer.atexit = False

    @property
    def id(self) -> tuple[int, int]:
        """Tells the pool from others: ``segment_pool_id`` in :func:`memory_snapshot`."""
        return (0, self._arena)

    @property
    def allocator(self) -> _Functions | None:
        """The allocator that was given."""
        return self._functions

    def use_count(self) -> int:
        """1, and one more per :func:`use_mem_pool` that is active."""
        return self._uses

    def snapshot(self) -> list[dict[str, Any]]:
        """The pool's segments, as :func:`memory_snapshot` gives them."""
        from npu_backend.npu.memory_report import memory_snapshot

        return memory_snapshot(self.id)


_kept: list[Any] = []


def _drop(arena: int, functions: _Functions | None) -> None:
    torch.ops.npu_backend.drop_arena(arena)
    if functions is not None:  # tensors of the pool may outlive it, and are freed by the library
        _kept.append(functions.library)


@contextmanager
def use_mem_pool(pool: MemPool, device: Device = None) -> Iterator[None]:
    """Memory that this thread takes on device comes from pool; other threads, also backward's, go on as before."""
    index = device_index(device)
    before = torch.ops.npu_backend.use_arena(index, pool._arena)
    pool._uses += 1
    try:
        yield
    finally:
        pool._uses -= 1
        torch.ops.npu_backend.use_arena(index, before)
