# SPDX-License-Identifier: Apache-2.0
"""What a C++ library of one's own, with tile kernels in it, is compiled with and linked to.

For the arguments of ``torch.utils.cpp_extension.CppExtension``; ``examples/my_op_package`` shows all of them in use.
"""

from __future__ import annotations

from op_extension._load import include_path
from op_extension.compat.shipped import include_folders
from op_extension.jit import toolchain

__all__ = ["include_paths", "kernel_compile_args", "libraries", "library_dirs"]

# Kernels of two libraries may share names: none sees the other's.
_OF_A_LIBRARY = ("-fvisibility=hidden", "-fvisibility-inlines-hidden", "-fno-gnu-unique")


def include_paths() -> list[str]:
    """Folders of headers, for ``include_dirs``.

    They hold ``pto/pto-inst.hpp`` and ``kernel_operator.h`` for kernels, ``npu/launch_kernel.hpp`` with the macro
    ``NPU_LAUNCH_KERNEL`` for the code that launches them, ``npu/exec_kernel.hpp`` with ``EXEC_KERNEL_CMD``,
    ``npu_runtime.h``, ``acl/acl.h`` and headers of ``torch_npu``.

    Raises:
        FileNotFoundError: the package holds no headers and is not in a source tree.
    """
    include_path()  # raises where there are none
    return [str(folder) for folder in include_folders(for_kernels=True)]


def library_dirs() -> list[str]:
    """Folders of libraries, for ``library_dirs``. No RPATH needs them: ``import op_extension`` loads them."""
    return [str(toolchain.runtime_library().parent)]


def libraries() -> list[str]:
    """Names of the libraries that code with kernels links to, for ``libraries``; ``["pto"]`` stands for them, too."""
    return ["npu_backend", "npu_runtime"]


def kernel_compile_args(core: str = "vector", level: str | None = None) -> list[str]:
    """Flags for sources with kernels, and for those that launch them, for ``extra_compile_args``.

    Args:
        core: ``"vector"``, or ``"cube"`` where the kernels run on the cube core. All kernels of one library run on one
            kind of core.
        level: instruction set level of the host, such as ``"x86-64-v2"``. A library for other machines takes the
            lowest of theirs. When not given: ``NPU_ISA_LEVEL``, or the best of this machine.

    Raises:
        ValueError: an argument is none of its values.
    """
    if core not in ("vector", "cube"):
        raise ValueError(f"op_extension.kernel_compile_args: expected 'vector' or 'cube' as core, got {core!r}")
    known = toolchain.isa_levels()
    if level is not None and level not in known:
        expected = ", ".join(map(repr, known)) or "None"
        raise ValueError(f"op_extension.kernel_compile_args: expected one of {expected} as level, got {level!r}")
    chosen = level or toolchain.isa_level()
    return [*toolchain.kernel_flags(core), *_OF_A_LIBRARY, *([f"-march={chosen}"] if chosen else [])]
