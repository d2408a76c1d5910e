# SPDX-License-Identifier: Apache-2.0
"""A kernel beside a reference: where the first element differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from op_extension import _runtime
from op_extension.placements import recording
from op_extension.source_lines import call_sites

if TYPE_CHECKING:
    from op_extension.kernel import Launcher

_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found. It is true when nothing differs, and its text is the sentence."""

    equal: bool
    differing: int
    argument: int
    index: tuple[int, ...]
    tile: tuple[int, int] | None
    store: str
    row: int
    column: int
    got: float
    expected: float
    ulp: int | None

    def __bool__(self) -> bool:
        """Whether nothing differs."""
        return self.equal

    def __str__(self) -> str:
        """One sentence."""
        if self.equal:
            return "no element differs"
        tile = f"tile {self.tile}" if self.tile is not None else self.store
        place = f"{tile}, row {self.row}, column {self.column}, " if tile else ""
        distance = "" if self.ulp is None else f", {self.ulp} ulp apart"
        return (
            f"argument {self.argument}: first of {self.differing} differing elements at {place}index {self.index}: "
            f"expected {self.expected!r}, got {self.got!r}{distance}"
        )


_EQUAL = Comparison(True, 0, -1, (), None, "", -1, -1, 0.0, 0.0, None)


def compare(
    launcher: Launcher,
    reference: Callable[..., Any] | torch.Tensor | np.ndarray[Any, Any] | Sequence[Any],
    *args: Any,
    outputs: Sequence[int] | None = None,
    tile: tuple[int, int] | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
    max_ulp: int = 0,
) -> Comparison:
    """Runs a kernel and compares what it has written with a reference.

    Args:
        launcher: ``kernel[block_dim]``.
        reference: what is expected, or a function that returns it when it is called with copies of args: one tensor or
            array, or a sequence of them.
        *args: arguments of the kernel.
        outputs: which arguments are compared; None: the last tensors or arrays among args, as many as the reference
            has.
        tile: rows and columns of the parts that the output, as a matrix with its last dimension as columns, is cut
            into: the place then comes as part (row, column of parts), row and column within it. None: the tile that
            stored the element is named instead, and row and column are line and position in its store.
        rtol: as in :func:`torch.isclose`.
        atol: as in :func:`torch.isclose`.
        max_ulp: distance that is accepted, in units of the last place of the output's dtype.

    Returns:
        The first difference in the order of memory; its text names tile, row, column, index, both values and their
        distance. It is false when something differs. NaN equals NaN.

    Raises:
        ValueError: the reference has not as many results as there are outputs, or one of another shape.
    """
    wanted = _results(reference, args)
    with recording():
        launcher(*args)
    for index, want in zip(_compared(args, outputs, len(wanted)), wanted, strict=True):
        found = first_difference(index, _tensor(args[index]), _tensor(want), tile, rtol, atol, max_ulp)
        if not found.equal:
            return found if tile is not None else _with_store(found, args[index])
    return _EQUAL


def _results(reference: Any, args: Sequence[Any]) -> list[Any]:
    expected = reference(*map(_copy, args)) if callable(reference) else reference
    return list(expected) if isinstance(expected, (tuple, list)) else [expected]


def _compared(args: Sequence[Any], outputs: Sequence[int] | None, results: int) -> list[int]:
    """Indices of the arguments that are compared with so many results."""
    tensors = [i for i, arg in enumerate(args) if isinstance(arg, (torch.Tensor, np.ndarray))]
    chosen = list(outputs) if outputs is not None else tensors[-results:] if results else []
    for index in chosen:
        if index not in tensors and index + len(args) not in tensors:
            raise ValueError(f"kernel.compare: expected indices of tensors or arrays as outputs, got {index}")
    if len(chosen) != results:
        raise ValueError(f"kernel.compare: expected {len(chosen)} results of the reference, got {results}")
    return chosen


def _with_store(found: Comparison, output: Any) -> Comparison:
    """found, with the store that wrote the element; an array has been copied and has none."""
    if not isinstance(output, torch.Tensor) or not output.is_contiguous():
        return found
    stores = _runtime.memory_map_stores()
    if len(stores) >= _runtime.MAX_RECORDED_STORES:
        return replace(found, store=f"an element whose store nobody knows (the record of {len(stores)} stores is full)")
    flat = int(np.ravel_multi_index(found.index, output.shape)) if found.index else 0
    address = output.data_ptr() + flat * output.element_size()
    for block, sub_block, instruction, begin, rows, row_bytes, pitch, site in reversed(stores):
        row, column = divmod(address - begin, pitch) if rows > 1 and pitch > 0 else (0, address - begin)
        if 0 <= row < rows and 0 <= column < row_bytes:
            core = f", sub-block {sub_block}" if sub_block else ""
            store = f"the tile stored by block {block}{core}, instruction {instruction} ({call_sites([site])[site]})"
            return replace(found, store=store, row=row, column=column // output.element_size())
    return replace(found, store="an element that no tile was stored to")


def _copy(arg: Any) -> Any:
    if isinstance(arg, torch.Tensor):
        return arg.clone()
    return arg.copy() if isinstance(arg, np.ndarray) else arg


def _tensor(value: Any) -> torch.Tensor:
    try:
        return torch.as_tensor(value).detach().cpu()
    except (TypeError, ValueError, RuntimeError):
        got = f"{type(value).__name__} {value!r:.80}"
        raise TypeError(
            f"kernel.compare: expected a tensor or an array as result of the reference, got {got}"
        ) from None


def _ordered(values: torch.Tensor) -> torch.Tensor:
    """Integers that neighbouring floating-point numbers differ by 1 in; both zeros are 0."""
    bits = values.view(_INTEGERS[values.element_size()]).to(torch.int64)
    lowest = -(1 << (8 * values.element_size() - 1))
    return torch.where(bits < 0, lowest - bits, bits)


def first_difference(
    argument: int,
    got: torch.Tensor,
    want: torch.Tensor,
    tile: tuple[int, int] | None,
    rtol: float,
    atol: float,
    max_ulp: int,
) -> Comparison:
    """The first element of an argument that differs, as :func:`compare` says it, without the store that wrote it."""
    if got.shape != want.shape:
        raise ValueError(
            f"kernel.compare: expected a reference of shape {tuple(got.shape)} for argument {argument}, "
            f"got {tuple(want.shape)}"
        )
    got, want = got.contiguous(), want.to(got.dtype).contiguous()
    distance = _ordered(got) - _ordered(want) if got.is_floating_point() else None
    is_close = torch.isclose(got, want, rtol=rtol, atol=atol, equal_nan=distance is not None)
    if distance is not None and max_ulp:
        is_close |= (distance.abs() <= max_ulp) & ~got.isnan() & ~want.isnan()
    wrong = (~is_close).reshape(-1).nonzero().reshape(-1)
    if wrong.numel() == 0:
        return _EQUAL
    flat = int(wrong[0])
    where, row, column = _place(flat, got.shape[-1] if got.dim() else 1, tile)
    return Comparison(
        equal=False,
        differing=wrong.numel(),
        argument=argument,
        index=tuple(int(i) for i in np.unravel_index(flat, got.shape)) if got.dim() else (),
        tile=where,
        store="",
        row=row,
        column=column,
        got=got.reshape(-1)[flat].item(),
        expected=want.reshape(-1)[flat].item(),
        ulp=None if distance is None else abs(int(distance.reshape(-1)[flat])),
    )


def _place(flat: int, columns: int, tile: tuple[int, int] | None) -> tuple[tuple[int, int] | None, int, int]:
    """The part of a matrix that an element lies in, if it is cut into parts, and its row and column there."""
    row, column = divmod(flat, columns)
    if tile is None:
        return None, row, column
    return (row // tile[0], column // tile[1]), row % tile[0], column % tile[1]
