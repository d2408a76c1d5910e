# SPDX-License-Identifier: Apache-2.0
"""``NpuExtension``: an extension in C++ that uses the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from setuptools import Extension  # type: ignore[import-untyped]
from torch.utils import cpp_extension

from .. import folders

__all__ = ["NpuExtension"]

_TORCH_LIBRARIES = ("c10", "torch", "torch_cpu", "torch_python")
# Of Extension's further arguments the first ones, in their order.
_PLACES = ("include_dirs", "define_macros", "undef_macros", "library_dirs", "libraries", "runtime_library_dirs")
_OWN_LIBRARIES = ("npu_backend", "npu_runtime")


def NpuExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> Extension:
    """A ``setuptools.Extension`` with the folders and libraries of torch and of the device.

    Args:
        name: full name of the module.
        sources: files in C++; none for a package whose library another step builds.
        args: further arguments of ``Extension``, in its order.
        kwargs: the same by name. Folders and libraries that are named here come first.
    """
    if len(args) > len(_PLACES):
        raise TypeError(f"NpuExtension: expected at most {len(_PLACES) + 2} arguments by place, got {len(args) + 2}")
    options = {**dict(zip(_PLACES, args, strict=False)), **kwargs}
    _append(options, "include_dirs", [*folders.include_folders(), *cpp_extension.include_paths()])
    _append(options, "library_dirs", [*cpp_extension.library_paths(), folders.library_folder()])
    _append(options, "libraries", [*_TORCH_LIBRARIES, *_OWN_LIBRARIES])
    options["language"] = "c++"
    return Extension(name, list(sources), **options)


def _append(options: dict[str, Any], name: str, more: list[str]) -> None:
    options[name] = [*(options.get(name) or []), *more]
