# SPDX-License-Identifier: Apache-2.0
"""A trace beside a reference: the first instruction that differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from op_extension.jit.comparison import Comparison, first_difference
from op_extension.tracing.record import Operand, Step, Trace

__all__ = ["Difference", "Tolerance", "compare"]

_WHERE = "Trace.compare"
#: Unsigned integers as integers that torch compares.
_WIDER = {"uint16": np.int32, "uint32": np.int64, "uint64": np.int64}


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
        compared: destinations that were compared.
        reason: what was expected, when it is no element.
    """

    step: Step | None
    destination: int
    element: Comparison | None
    compared: int
    reason: str = ""

    def __bool__(self) -> bool:
        """Whether nothing differs."""
        return self.step is None and not self.reason

    def __str__(self) -> str:
        """One sentence."""
        if self.step is None:
            return self.reason or f"no element of {self.compared} destinations differs"
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
        return _beside_function(trace, _by_name(reference), tolerance)
    if callable(reference):
        return _beside_function(trace, reference, tolerance)
    raise TypeError(
        f"{_WHERE}: expected a trace, a function or a dict of functions as reference, got {type(reference).__name__}"
    )


def _by_name(functions: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    def expected(step: Step, *sources: Any) -> Any:
        function = functions.get(step.name)
        return None if function is None else function(*sources)

    return expected


def _executed(trace: Trace) -> list[Step]:
    return sorted((step for step in trace.steps if step.is_complete), key=lambda step: step.order)


def _beside_function(trace: Trace, reference: Callable[..., Any], tolerance: Tolerance) -> Difference:
    compared = 0
    for step in _executed(trace):
        sources = [operand.values for operand in step.sources]
        destinations = step.destinations
        if not destinations or any(values is None for values in sources):
            continue
        wanted = reference(step, *sources)
        if wanted is None:
            continue
        several = list(wanted) if isinstance(wanted, (tuple, list)) else [wanted]
        if len(several) != len(destinations):
            raise ValueError(
                f"{_WHERE}: expected {len(destinations)} destinations of {step} from the reference, got {len(several)}"
            )
        found, count = _first_of(step, [_torch(want) for want in several], tolerance)
        compared += count
        if found is not None:
            return Difference(step, *found, compared)
    return Difference(None, -1, None, compared)


def _beside_trace(trace: Trace, reference: Trace, tolerance: Tolerance) -> Difference:
    compared = 0
    expected = _by_place(reference.steps)
    places = {id(step): place for steps in (expected, _by_place(trace.steps)) for place, step in steps.items()}
    for step in _executed(trace):
        want = expected.get(places[id(step)])
        if want is None and not reference.is_whole:
            continue
        if want is None or want.name != step.name:
            got = "no instruction" if want is None else f"{want.name} ({want.line})"
            return Difference(step, -1, None, compared, f"expected {got} as in the reference, got {step.name}")
        wanted = [_tensor_of(operand) for operand in want.destinations]
        if not want.is_complete or len(wanted) != len(step.destinations):
            return Difference(step, -1, None, compared, "expected as many destinations as in the reference, got others")
        found, count = _first_of(step, wanted, tolerance)
        compared += count
        if found is not None:
            return Difference(step, *found, compared)
    done = {places[id(step)] for step in _executed(trace)}
    for step in _executed(reference):
        if trace.is_whole and places[id(step)] not in done:
            return Difference(
                None, -1, None, compared, f"expected {step}, as in the reference, got no such instruction"
            )
    return Difference(None, -1, None, compared)


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
    step: Step, wanted: list[torch.Tensor | None], tolerance: Tolerance
) -> tuple[tuple[int, Comparison] | None, int]:
    """Destination and element that differ, and how many destinations were compared."""
    count = 0
    for index, (operand, want) in enumerate(zip(step.destinations, wanted, strict=True)):
        got = _tensor_of(operand)
        if got is None or want is None:
            continue
        count += 1
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
