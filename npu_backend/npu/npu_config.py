# SPDX-License-Identifier: Apache-2.0
"""Options that choose how the chip's own compiler and libraries compute.

There are none of these here: the values are kept and given back, and no result depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_options: dict[str, Any] = {}
_nd_format = True


class _Switches:
    """Attributes that may be set and read, and change nothing.

    Args:
        where: the name of the object.
        **switches: their names and first values.
    """

    _where: str
    _switches: dict[str, bool]

    def __init__(self, where: str, **switches: bool) -> None:
        """Args: as the class's."""
        object.__setattr__(self, "_where", where)
        object.__setattr__(self, "_switches", switches)

    def __getattr__(self, name: str) -> bool:
        """The value of switch name."""
        if name in self._switches:
            return bool(self._switches[name])
        raise AttributeError(self._expected(name))

    def __setattr__(self, name: str, value: bool) -> None:
        """Keeps value."""
        if name not in self._switches:
            raise AttributeError(self._expected(name))
        if not isinstance(value, bool):
            raise TypeError(f"{self._where}.{name}: expected True or False, got {value!r}")
        self._switches[name] = value

    def _expected(self, name: str) -> str:
        return f"{self._where}: expected one of {', '.join(sorted(self._switches))}, got {name}"


#: Switches by the object that has them, and their first values.
SWITCHES: dict[str, dict[str, bool]] = {
    "config": {"allow_internal_format": False},  # tensors have no formats of the chip here
    "matmul": {"allow_hf32": False, "cube_math_type": False},  # products are computed in float32 here
    "conv": {"allow_hf32": True},  # convolutions are computed in float32 here
}
config, matmul, conv = (_Switches(f"torch.npu.{name}", **switches) for name, switches in SWITCHES.items())

#: Names of torch.npu that are accepted and change nothing.
NO_EFFECT = (
    *SWITCHES,
    "Stream.set_data_preprocess_stream",
    "empty_virt_addr_cache",
    "get_mm_bmm_format_nd",
    "ipc_collect",
    "is_jit_compile_false",
    "set_compile_mode",
    "set_mm_bmm_format_nd",
    "set_option",
)


def set_option(option: Mapping[str, Any]) -> None:
    """Keeps options of the chip's compiler; nothing here depends on them.

    Raises:
        TypeError: option is no dictionary.
    """
    if not isinstance(option, Mapping):
        raise TypeError(f"torch.npu.set_option: expected a dictionary, got {option!r}")
    _options.update(option)


def set_compile_mode(jit_compile: bool = False) -> None:
    """Keeps whether the chip compiles operators when they are called; operators here are compiled before."""
    set_option({"jitCompile": "enable" if jit_compile else "disable"})


def is_jit_compile_false() -> bool:
    """Whether :func:`set_compile_mode` was not called with ``jit_compile=True``."""
    return bool(_options.get("jitCompile", "disable") == "disable")


def set_mm_bmm_format_nd(is_nd: bool = True) -> None:
    """Keeps whether products take tensors as they are; here they always do."""
    global _nd_format
    if not isinstance(is_nd, bool):
        raise TypeError(f"torch.npu.set_mm_bmm_format_nd: expected True or False, got {is_nd!r}")
    _nd_format = is_nd


def get_mm_bmm_format_nd() -> bool:
    """What :func:`set_mm_bmm_format_nd` was told."""
    return _nd_format


def is_support_inf_nan() -> bool:
    """Whether infinities and NaN are kept in results: yes."""
    return True


def ipc_collect() -> None:
    """Nothing: memory that processes share goes with the last of them that uses it."""
