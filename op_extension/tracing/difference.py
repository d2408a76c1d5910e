# SPDX-License-Identifier: Apache-2.0
"""A trace beside a reference: the first instruction that differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch

from op_extension.jit.comparison import Comparison, first_difference
from op_extension.tracing import layouts
from op_extension.tracing.record import Operand, Step, Trace

__all__ = ["Difference", "Tolerance", "compare"]

_WHERE = "Trace.compare"
#: Unsigned integers as integers that torch compares.
_WIDER = {"uint16": np.int32, "uint32": np.int64, "uint64": np.int64}
#: The function that knows the destinations of a step, if any does; it is called with the values of the sources.
_FunctionOf = Callable[[Step], "Callable[..., Any] | None"]


class Tolerance(NamedTuple):
    """What is accepted, as in :func:`op_extension.kernel.compare`."""

    rtol: float
    atol: float
    max_ulp: int


@dataclass(frozen=True)
class Difference:
    """What :meth:`Trace.compare` found. It is true when nothing differs, and its text is the sentence.

    Attributes:
        step: the first instruction that differs; None when none does.
        destination: which of its destinations, from 0; -1 when another instruction was expected in its place.
        element: the first element there: row and column of the destination, got, expected, ulp, and how many differ.
        compared: destinations that were compared; with none of them it is false.
        reason: what was expected, when it is no element.
        skipped: instructions that could not be compared, as nobody knows the values of an operand.
    """

    step: Step | None
    destination: int
    element: Comparison | None
    compared: int
    reason: str = ""
    skipped: int = 0

    def __bool__(self) -> bool:
        """Whether nothing differs."""
        return self.step is None and not self.reason

    def __str__(self) -> str:
        """One sentence."""
        if self.step is None:
            skipped = f"; {self.skipped} instructions lack values and were not compared" if self.skipped else ""
            return (self.reason or f"no element of {self.compared} destinations differs") + skipped
        if self.element is None:
            return f"{self.step}: {self.reason}"
        found, operand = self.element, self.step.destinations[self.destination]
        row, column = operand.start[0] + found.row, operand.start[1] + found.column
        ulp = "" if found.ulp is None else f", {found.ulp} ulp apart"
        which = "" if len(self.step.destinations) == 1 else f" {self.destination}"
        return (
            f"{self.step}: first of {found.differing} differing elements of destination{which} ({operand}) "
            f"at row {row}, column {column}: expected {found.expected!r}, got {found.got!r}{ulp}"
        )


def compare(trace: Trace, reference: Any, tolerance: Tolerance) -> Difference:
    """See :meth:`Trace.compare`."""
    if not trace.has_values:
        raise ValueError(
            f"{_WHERE}: expected a trace with values, as check.trace(values=True) makes it, got one without"
        )
    if isinstance(reference, Trace):
        if not reference.has_values:
            raise ValueError(f"{_WHERE}: expected a reference with values, got a trace without")
        return _beside_trace(trace, reference, tolerance)
    if isinstance(reference, Mapping):
        return _beside_functions(trace, _by_name(trace, reference), tolerance)
    if callable(reference):
        return _beside_functions(trace, lambda step: partial(reference, step), tolerance)
    raise TypeError(
        f"{_WHERE}: expected a trace, a function or a dict of functions as reference, got {type(reference).__name__}"
    )


def _by_name(trace: Trace, functions: Mapping[str, Callable[..., Any]]) -> _FunctionOf:
    names = {step.name for step in trace.steps}
    unknown = [name for name in functions if name not in names]
    if unknown:
        raise ValueError(
            f"{_WHERE}: expected names of instructions of the trace ({', '.join(sorted(names)) or 'it has none'}), "
            f"got {', '.join(map(repr, unknown))}"
        )
    return lambda step: functions.get(step.name)


def _agreed(compared: int, skipped: int) -> Difference:
    """What is found when nothing differs."""
    reason = "" if compared else "expected destinations to compare, got none that the reference knows"
    return Difference(None, -1, None, compared, reason, skipped)


def _executed(trace: Trace) -> list[Step]:
    return sorted((step for step in trace.steps if step.is_complete), key=lambda step: step.order)


def _beside_functions(trace: Trace, function_of: _FunctionOf, tolerance: Tolerance) -> Difference:
    compared = skipped = 0
    for step in _executed(trace):
        function = function_of(step)
        if function is None or not step.destinations:
            continue
        if any(operand.bits is None for operand in step.operands):
            skipped += 1
            continue
        wanted = _results(function, step)
        if wanted is None:
            continue
        found, count = _first_of(step, wanted, tolerance)
        compared += count
        if found is not None:
            return Difference(step, *found, compared)
    return _agreed(compared, skipped)


def _results(function: Callable[..., Any], step: Step) -> list[torch.Tensor] | None:
    """What function expects in the destinations of step; None: it does not know."""
    try:
        wanted = function(*(operand.values for operand in step.sources))
    except (TypeError, ValueError, IndexError, RuntimeError) as error:
        shapes = ", ".join("x".join(map(str, operand.shape)) for operand in step.sources) or "none"
        raise ValueError(
            f"{_WHERE}: expected a reference that takes the sources of {step} (of shape {shapes}), "
            f"got {type(error).__name__}: {error}"
        ) from error
    if wanted is None:
        return None
    several = list(wanted) if isinstance(wanted, (tuple, list)) else [wanted]
    if len(several) != len(step.destinations):
        raise ValueError(
            f"{_WHERE}: expected {len(step.destinations)} destinations of {step} from the reference, got {len(several)}"
        )
    return [_torch(want) for want in several]


def _beside_trace(trace: Trace, reference: Trace, tolerance: Tolerance) -> Difference:
    compared = skipped = 0
    expected, own = _by_place(reference.steps), _by_place(trace.steps)
    places = {id(step): place for steps in (expected, own) for place, step in steps.items()}
    for step in _executed(trace):
        want = expected.get(places[id(step)])
        if want is None and not reference.is_whole:
            continue
        if want is None or want.name != step.name:
            got = "no instruction" if want is None else f"{want.name} ({want.line})"
            return Difference(step, -1, None, compared, f"expected {got} as in the reference, got {step.name}")
        if not want.is_complete:
            reason = "expected an instruction that does not end, as in the reference, got one that ended"
            return Difference(step, -1, None, compared, reason)
        wanted = [_tensor_of(operand) for operand in want.destinations]
        got_count = len(step.destinations)
        if len(wanted) != got_count:
            reason = f"expected {len(wanted)} destinations as in the reference, got {got_count}"
            return Difference(step, -1, None, compared, reason)
        found, count = _first_of(step, wanted, tolerance)
        compared += count
        skipped += count < got_count
        if found is not None:
            return Difference(step, *found, compared)
    for step in _executed(reference):
        mine = own.get(places[id(step)])
        if mine is not None and not mine.is_complete:
            reason = f"expected {step.name} ({step.line}) to end as in the reference, got {mine.name} that did not end"
            return Difference(mine, -1, None, compared, reason)
        if mine is None and trace.is_whole:
            reason = f"expected {step}, as in the reference, got no such instruction"
            return Difference(None, -1, None, compared, reason)
    return _agreed(compared, skipped)


def _by_place(steps: Iterable[Step]) -> dict[tuple[Any, ...], Step]:
    """Steps by kernel, launch of that kernel, core, and place in its text."""
    launches: dict[str, dict[int, int]] = defaultdict(dict)
    counts: dict[tuple[Any, ...], int] = defaultdict(int)
    found = {}
    for step in steps:
        known = launches[step.kernel]
        core = (step.kernel, known.setdefault(step.launch, len(known)), step.block, step.core, step.sub_block)
        found[*core, counts[core]] = step
        counts[core] += 1
    return found


def _first_of(
    step: Step, wanted: Sequence[torch.Tensor | None], tolerance: Tolerance
) -> tuple[tuple[int, Comparison] | None, int]:
    """Destination and element that differ, and how many destinations were compared."""
    count = 0
    for index, (operand, want) in enumerate(zip(step.destinations, wanted, strict=True)):
        got = _tensor_of(operand)
        if got is None or want is None:
            continue
        count += 1
        got = _as_long_as(want, got, step, operand)
        if want.shape != got.shape:
            raise ValueError(
                f"{_WHERE}: expected a destination of shape {tuple(got.shape)} of {step} from the reference, "
                f"got {tuple(want.shape)}"
            )
        if got.dtype.is_floating_point and not want.dtype.is_floating_point:
            want = want.to(torch.float64)
        element = first_difference(index, got, want, None, *tolerance)
        if not element.equal:
            return (index, element), count
    return None, count


def _as_long_as(want: torch.Tensor, got: torch.Tensor, step: Step, operand: Operand) -> torch.Tensor:
    """Its values without the padding of TLOAD, where want is without it."""
    if step.name != "TLOAD" or operand.tile is None or want.dim() != 2:
        return got
    rows, columns = want.shape
    is_padded = layouts.padded(operand.layout, rows, columns, got.element_size()) == tuple(got.shape)
    return got[:rows, :columns] if is_padded else got


def _tensor_of(operand: Operand) -> torch.Tensor | None:
    if operand.bits is None:
        return None
    bits = np.ascontiguousarray(operand.bits)
    if operand.dtype == "bfloat16":
        return torch.from_numpy(bits.view(np.int16).copy()).view(torch.bfloat16)
    return _torch(bits)


def _torch(values: Any) -> torch.Tensor:
    if isinstance(values, torch.Tensor):
        return values.detach().cpu()
    array = np.asarray(values)
    return torch.from_numpy(array.astype(_WIDER.get(str(array.dtype), array.dtype), copy=True))
