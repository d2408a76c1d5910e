# SPDX-License-Identifier: Apache-2.0
"""From addresses in kernels to lines of their sources."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["call_sites", "lines_at"]


def call_sites(return_addresses: Iterable[int]) -> dict[int, str]:
    """The line of each call, ``add.cpp:12``: of the kernel's own file, not of the headers that were inlined into it.

    Where binutils' addr2line is not there, or the library has no line tables, the library and the offset in it.
    """
    from op_extension import _runtime

    addresses = sorted(set(return_addresses))
    places = {address: _runtime.locate(address - 1) for address in addresses}  # the call stands before its return
    lines = lines_at(places.values())
    return {address: lines[place] for address, place in places.items()}


def lines_at(places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """The same for places in libraries: path and offset."""
    from op_extension import _runtime

    asked = sorted(set(places))
    return dict(zip(asked, _runtime.source_lines(asked), strict=True))
