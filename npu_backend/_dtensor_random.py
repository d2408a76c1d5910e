# SPDX-License-Identifier: Apache-2.0
"""Random operators on a DTensor over npu.

PyTorch tells shards apart by the offset of a Philox generator, which is in the state of CUDA's. The state of npu's
is that of CPU's, without an offset: a shard gets a state of its own made from the common one.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch

from npu_backend._after_import import after_import


def _seed(state: torch.Tensor, part: int) -> int:
    """A seed that depends on state and part alone, in [0, 2**63)."""
    digest = hashlib.sha256(state.numpy().tobytes() + part.to_bytes(8, "little", signed=True)).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def _is_split(spec: Any) -> bool:
    """Whether ranks hold different parts of a DTensor of this layout. A shard with strides is no ``Shard``."""
    return any(
        spec.mesh.size(dim) > 1 and not placement.is_replicate() for dim, placement in enumerate(spec.placements)
    )


@contextmanager
def _region(tracker: Any, spec: Any, generator: torch.Generator | None) -> Iterator[None]:
    """A random operator in here draws what its shard's place says; afterwards all ranks have the same state again.

    A DTensor of one shard draws what a tensor would.
    """
    default = torch.npu.default_generators[tracker._device.index]  # type: ignore[attr-defined]
    source = default if generator is None else generator
    state, kept, is_split = source.get_state(), default.get_state(), _is_split(spec)
    try:
        if is_split:
            default.manual_seed(_seed(state, tracker._compute_rng_offsets(spec)[0]))
        else:
            default.set_state(state)
        yield
    finally:
        drawn = default.get_state()
        default.set_state(kept)
        if is_split:
            source.manual_seed(_seed(state, -1))
        else:
            source.set_state(drawn)


def _replace(random: ModuleType) -> None:
    tracker_class = random.OffsetBasedRNGTracker
    original = tracker_class._distribute_region

    @functools.wraps(original)
    def region(self: Any, spec: Any, generator: torch.Generator | None = None) -> Any:
        if self._device.type != "npu" or not self.distribute_region_enabled:
            return original(self, spec, generator)
        return _region(self, spec, generator)

    tracker_class._distribute_region = region


def apply() -> None:
    """Teaches PyTorch's DTensor, once somebody imports it."""
    after_import("torch.distributed.tensor._random", _replace)
