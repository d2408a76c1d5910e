# SPDX-License-Identifier: Apache-2.0
"""Random numbers. Seeded alike, a device draws the numbers that CPU draws."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from npu_backend.npu.devices import Device, current_device, device_count, device_index


def _generator(index: int) -> torch.Generator:
    generator: torch.Generator = torch.ops.npu_backend.default_generator(index)
    return generator


def default_generators() -> tuple[torch.Generator, ...]:
    """The default generator of each device."""
    return tuple(_generator(index) for index in range(device_count()))


def get_rng_state(device: Device = "npu") -> torch.Tensor:
    """State of the default generator of device, a byte tensor on CPU."""
    return _generator(device_index(device)).get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    """States of the default generators of all devices."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(new_state: torch.Tensor, device: Device = "npu") -> None:
    """Sets the state of the default generator of device."""
    _generator(device_index(device)).set_state(new_state)


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Sets the states of the default generators, device by device."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seeds the default generator of the current device."""
    _generator(current_device()).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the default generators of all devices."""
    for index in range(device_count()):
        _generator(index).manual_seed(int(seed))


def seed() -> int:
    """Seeds the default generator of the current device with a random number, and returns it."""
    return _generator(current_device()).seed()


def seed_all() -> None:
    """Seeds the default generators of all devices with one random number."""
    manual_seed_all(_generator(0).seed())


def initial_seed() -> int:
    """Seed of the default generator of the current device."""
    return _generator(current_device()).initial_seed()
