# SPDX-License-Identifier: Apache-2.0
"""C++ tile kernels, compiled and launched from Python.

    k = op_extension.kernel.load("add.cpp", entry="add_custom")
    k[20](x, y, z, 2048)

See :func:`load`, :class:`Kernel` and :func:`compare`.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import torch

from npu_backend import _library
from op_extension import _runtime
from op_extension.jit import arrays, compiler, toolchain
from op_extension.jit.comparison import Comparison, compare

__all__ = ["Comparison", "Kernel", "Launcher", "Parameter", "compare", "load"]

_PASSES = {"vector": ("vector",), "cube": ("cube",), "mix": ("vector", "cube")}
_ENTRY = re.compile(r"[A-Za-z_]\w*(::\w+)*(<[\w\s:<>,*-]*>)?")
_OTHER_OUTPUT = ("-E", "-S", "-c", "-fsyntax-only", "-###")  # and -M..., -o: what the compiler makes, and where to
_DEFINE = re.compile(r"[A-Za-z_]\w*(\([\w\s,.]*\))?(=.*)?")

Stream = torch.Stream | None


def _hand_over_tensors() -> None:
    """Tells the binding module, which has no torch in it, where tensors are described and launched on."""
    interface = ctypes.CDLL(str(_library.library_path())).npu_backend_tensor_interface
    interface.restype = ctypes.c_void_p
    _runtime.set_tensor_access(torch.Tensor, interface())


_hand_over_tensors()


class Parameter(NamedTuple):
    """A parameter of a kernel, as the compiler sees it."""

    type: str
    kind: int
    bytes: int
    is_pointer: bool
    is_const: bool


class Launcher:
    """``kernel[block_dim]`` or ``kernel[block_dim, stream]``: call it with the arguments of the kernel."""

    __slots__ = ("_block_dim", "_kernel", "_launch", "_stream")

    def __init__(self, kernel: Kernel, block_dim: int, stream: Stream) -> None:
        """Args: as in :meth:`Kernel.__getitem__`."""
        self._kernel = kernel
        self._block_dim = block_dim
        self._stream = _address_of(stream)
        self._launch = kernel.native().launch

    def __call__(self, *args: Any, **named: Any) -> None:
        """Launches the kernel.

        Args:
            *args: for a pointer a contiguous tensor on npu or cpu of its element type (``GM_ADDR``, ``void*`` and
                pointers to structs take any), a numpy array, or None; for a scalar a Python or numpy number or bool;
                for a struct an object with as many bytes (``bytes``, ``ctypes.Structure``).
            **named: refused: parameters of a kernel have no names here.

        With tensors on npu the kernel is queued and the call returns; its memory stays alive until it has run. With
        tensors on cpu, and with arrays, the kernel has run when the call returns. Arrays are copied to the device of
        the tensors, and back where the kernel may write; an array that is read-only is an input only.

        Raises:
            TypeError: the number of arguments, or the type of one, is not that of the kernel.
            ValueError: a number outside of the range of its type, tensors on several devices or not contiguous.
            RuntimeError: the fault of a kernel, if it has run; else the next call that waits for the stream raises it.
        """
        if named:
            raise TypeError(f"{self._kernel.name}: expected arguments by place, got {', '.join(named)} by name")
        flags = self._kernel.launch_flags
        if not self._launch(self._block_dim, self._stream, flags, args):
            arrays.launch(self._kernel, self._launch, self._block_dim, self._stream, args)

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self._kernel


def _address_of(stream: Stream) -> int:
    if stream is None:
        return 0
    if isinstance(stream, torch.Stream):
        if stream.device.type != "npu":
            raise ValueError(f"kernel[block_dim, stream]: expected a stream of npu, got one of {stream.device}")
        return int(getattr(stream, "native_handle"))  # noqa: B009  (missing in the stubs of torch)
    raise TypeError(f"kernel[block_dim, stream]: expected a torch.Stream or None, got {stream!r}")


class Kernel:
    """A tile kernel. Made by :func:`load`; compiled at the first use."""

    def __init__(self, request: compiler.Request, core: str, launch_flags: int, strided: bool) -> None:
        """Args: as in :func:`load`."""
        self._request = request
        self._core = core
        self._strided = strided
        self._native: _runtime.Kernel | None = None
        self._libraries: dict[str, Path] = {}
        self.launch_flags = launch_flags

    @property
    def name(self) -> str:
        """The entry."""
        return self._request.entry

    def compile(self) -> Kernel:
        """Compiles the kernel, or takes it from the cache; does nothing the second time.

        Raises:
            FileNotFoundError: there is no such source.
            op_extension.errors.CompileError: it does not compile, or there is no compiler.
        """
        self.native()
        return self

    def native(self) -> _runtime.Kernel:
        """The compiled kernel."""
        if self._native is None:
            passes = _PASSES[self._core]
            if len(passes) == 1:
                built = [compiler.library(self._request, passes[0])]
            else:
                with ThreadPoolExecutor(len(passes)) as pool:
                    built = list(pool.map(lambda core: compiler.library(self._request, core), passes))
            self._libraries = dict(zip(passes, built, strict=True))
            vector, cube = (str(self._libraries.get(core, "")) for core in ("vector", "cube"))
            self._native = _runtime.Kernel(self.name, vector, cube, self._strided)
        return self._native

    @property
    def libraries(self) -> dict[str, Path]:
        """The library of each pass."""
        self.native()
        return dict(self._libraries)

    @property
    def signature(self) -> tuple[Parameter, ...]:
        """The parameters of the C++ function."""
        return tuple(Parameter(*row) for row in self.native().signature())

    def __getitem__(self, launch: int | tuple[int, Stream]) -> Launcher:
        """The kernel with a number of blocks, and the current or another stream."""
        block_dim, stream = launch if isinstance(launch, tuple) and len(launch) == 2 else (launch, None)
        try:
            blocks = block_dim.__index__()
        except AttributeError:
            raise TypeError(
                f"{self.name}: expected kernel[block_dim] or kernel[block_dim, stream], got kernel[{launch!r}]"
            ) from None
        if not 1 <= blocks <= _runtime.MAX_BLOCK_DIM:
            raise ValueError(f"{self.name}: expected a block_dim of 1 to {_runtime.MAX_BLOCK_DIM}, got {blocks}")
        return Launcher(self, blocks, stream)

    def __call__(self, *args: Any) -> None:
        """Says how a kernel is launched.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"{self.name}: expected a number of blocks, as in kernel[block_dim](...), got none")

    def __repr__(self) -> str:
        """Name, source and kinds of core."""
        return f"<op_extension.kernel.Kernel {self.name} of {self._request.source}, core={self._core!r}>"


def load(
    source: str | os.PathLike[str],
    *,
    entry: str,
    core: str = "vector",
    defines: Mapping[str, object] | Sequence[str] = (),
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    flags: Sequence[str] = (),
    std: str = "c++17",
    float64: bool = False,
    strided: bool = False,
    any_global: bool = False,
) -> Kernel:
    """A kernel from a C++ source; it is compiled at its first use, see :meth:`Kernel.compile`.

    Args:
        source: the file. ``#include "..."`` finds its neighbours, ``<pto/pto-inst.hpp>`` and ``"kernel_operator.h"``
            the headers of this package.
        entry: the function, ``void`` and visible at the end of the file: a name, or a name with template arguments.
        core: ``"vector"``, ``"cube"``, or ``"mix"``: one cube and two vector cores to a block, the file compiled for
            both.
        defines: macros, ``{"TILE": 128}`` or ``["TILE=128"]``, as if defined at the top of the file.
        include_dirs: folders of further headers.
        flags: further flags of the compiler, behind those of csrc/include/kernel_flags.txt.
        std: ``"c++17"`` or ``"c++20"``.
        float64: allows instructions on float64, which no chip has.
        strided: accepts tensors that are not contiguous; the kernel gets the address of their first element.
        any_global: ``TLOAD`` and ``TSTORE`` may start outside of the tensors of a launch: for a kernel that reads
            addresses in memory or gets them as integers. Where a struct or a pointer to pointers is among the
            parameters, they always may.

    Compiled kernels stay in ``~/.cache/op_extension`` (``NPU_CACHE_DIR``) until the source, a header, the compiler or
    a flag changes. The compiler is g++, or the command in ``CXX``.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: an argument is none of its values, or of another type.
    """
    _check("source", isinstance(source, (str, os.PathLike)), "a path", source)
    path = Path(source).absolute()
    if not path.is_file():
        raise FileNotFoundError(f"op_extension.kernel.load: expected a C++ source, got no file {path}")
    _check("source", not set('"\n') & set(str(path)), "a path that #include can name, without quotation marks", path)
    _check("entry", isinstance(entry, str) and bool(_ENTRY.fullmatch(entry)), "the name of a function", entry)
    _check("core", isinstance(core, str) and core in _PASSES, "'vector', 'cube' or 'mix'", core)
    _check("std", isinstance(std, str) and std in toolchain.STANDARDS, "'c++17' or 'c++20'", std)
    for name, switch in (("float64", float64), ("strided", strided), ("any_global", any_global)):
        _check(name, isinstance(switch, bool), "True or False", switch)
    folders = tuple(str(Path(folder).absolute()) for folder in _sequence("include_dirs", include_dirs, os.PathLike))
    request = compiler.Request(path, entry, _macros(defines), folders, _flags(flags), std)
    launch_flags = (_runtime.LAUNCH_FLOAT64 if float64 else 0) | (0 if any_global else _runtime.LAUNCH_ONLY_RANGES)
    return Kernel(request, core, launch_flags, strided)


def _sequence(name: str, values: Any, *types: type) -> tuple[Any, ...]:
    """values, a sequence of strings or of types."""
    expected = "a sequence of paths" if types else "a sequence of strings"
    _check(name, isinstance(values, Sequence) and not isinstance(values, (str, bytes)), expected, values)
    for value in values:
        _check(name, isinstance(value, (str, *types)), expected, value)
    return tuple(values)


def _flags(values: Any) -> tuple[str, ...]:
    flags = _sequence("flags", values)
    for flag in flags:
        _check("flags", not flag.startswith("-fsanitize"), "flags without a sanitizer, which the process lacks", flag)
        other = flag in _OTHER_OUTPUT or flag.startswith(("-M", "-o"))
        _check("flags", not other, "flags with which the compiler makes the object file that it is asked for", flag)
    return flags


def _macros(defines: Any) -> tuple[str, ...]:
    if isinstance(defines, Mapping):
        macros = tuple(f"{name}={value}" for name, value in defines.items())
    else:
        is_list = isinstance(defines, Sequence) and not isinstance(defines, (str, bytes))
        _check("defines", is_list, "a dict or a list", defines)
        macros = _sequence("defines", defines)
    for macro in macros:
        _check("defines", bool(_DEFINE.fullmatch(macro)), "NAME or NAME=value", macro)
    return macros


def _check(name: str, good: bool, expected: str, got: object) -> None:
    if not good:
        raise ValueError(f"op_extension.kernel.load: expected {expected} as {name}, got {got!r}")
