# SPDX-License-Identifier: Apache-2.0
"""Importing this module makes programs that were written for CUDA use npu.

``torch.cuda`` answers for npu where ``torch.npu`` has the name, "cuda" in an argument means "npu", and the backend
"nccl" of ``torch.distributed`` means "hccl". Names that were imported from torch before keep their meaning, as do
launches in C++.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import Callable
from typing import Any

import torch

from .. import npu

__all__ = ["is_on"]

_FACTORIES = (
    *("arange", "as_tensor", "asarray", "empty", "empty_like", "empty_strided", "eye", "from_file", "full"),
    *("full_like", "linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint"),
    *(
        "randint_like",
        "randn",
        "randn_like",
        "randperm",
        "scalar_tensor",
        "sparse_coo_tensor",
        "tensor",
        "tril_indices",
    ),
    *("triu_indices", "zeros", "zeros_like", "load", "set_default_device", "autocast", "Generator"),
)
_TENSOR_METHODS = ("to", "new_empty", "new_full", "new_ones", "new_tensor", "new_zeros", "new_empty_strided")
_MODULE_METHODS = ("to", "to_empty")
_CUDA_SUBMODULES = ("amp", "memory", "random", "streams")
_BACKEND_FUNCTIONS = ("init_process_group", "new_group")


def _translated(value: Any) -> Any:
    """The same on npu, of what names a device of CUDA."""
    if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
        return "npu" + value[len("cuda") :]
    if isinstance(value, _DEVICE) and value.type == "cuda":
        return _DEVICE("npu", value.index) if value.index is not None else _DEVICE("npu")
    return value


def _wrap(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_translated, args), **{name: _translated(value) for name, value in kwargs.items()})

    return wrapped


def _wrap_backend(function: Callable[..., Any]) -> Callable[..., Any]:
    """function, whose argument backend may be "nccl" or "cpu:gloo,cuda:nccl", and device_id a device of CUDA."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        if isinstance(given.get("backend"), str):
            given["backend"] = re.sub(r"\bnccl\b", "hccl", re.sub(r"\bcuda\b", "npu", given["backend"]))
        if "device_id" in given:
            given["device_id"] = _translated(given["device_id"])
        return function(**given)

    return wrapped


def _wrap_class(original: Any) -> Any:
    """A class in place of original whose instances are those of original."""

    class Meta(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, original)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, original)

        def __getattr__(cls, name: str) -> Any:
            return getattr(original, name)

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            return original(*map(_translated, args), **{name: _translated(value) for name, value in kwargs.items()})

    return Meta(original.__name__, (), {"__module__": original.__module__, "__doc__": original.__doc__})


_DEVICE = torch.device
_on = False


def is_on() -> bool:
    """Whether "cuda" means npu in this process."""
    return _on


def _transfer_cuda_module() -> None:
    for name in dir(npu):
        if not name.startswith("_") and hasattr(torch.cuda, name) and name not in _CUDA_SUBMODULES:
            value = getattr(npu, name)
            if not isinstance(value, types.ModuleType):
                setattr(torch.cuda, name, _wrap(value) if isinstance(value, types.FunctionType) else value)
    for name in _CUDA_SUBMODULES:
        module = getattr(npu, name, None)
        for inner in dir(module) if module is not None else ():
            if not inner.startswith("_") and hasattr(getattr(torch.cuda, name), inner):
                setattr(getattr(torch.cuda, name), inner, getattr(module, inner))


def _transfer_distributed() -> None:
    distributed = torch.distributed
    if not hasattr(distributed, "is_hccl_available"):  # a build of PyTorch without it
        return
    for name in _BACKEND_FUNCTIONS:
        setattr(distributed, name, _wrap_backend(getattr(distributed, name)))
    distributed.is_nccl_available = distributed.is_hccl_available


def _transfer() -> None:
    global _on
    if _on:
        return
    _on = True
    for name in _FACTORIES:
        value = getattr(torch, name)
        setattr(torch, name, _wrap_class(value) if isinstance(value, type) else _wrap(value))
    owners: list[tuple[Any, tuple[str, ...]]] = [(torch.Tensor, _TENSOR_METHODS), (torch.nn.Module, _MODULE_METHODS)]
    for owner, names in owners:
        for name in names:
            setattr(owner, name, _wrap(getattr(owner, name)))
        owner.cuda = _wrap(owner.npu)
    owners[0][0].is_cuda = property(lambda tensor: tensor.is_npu)
    torch.device = _wrap_class(_DEVICE)  # type: ignore[misc]
    _transfer_cuda_module()
    _transfer_distributed()


_transfer()
