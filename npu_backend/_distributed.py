# SPDX-License-Identifier: Apache-2.0
"""Backend ``hccl`` of :mod:`torch.distributed`."""

from __future__ import annotations

from types import ModuleType

from npu_backend._after_import import after_import


def is_hccl_available() -> bool:
    """Whether ``torch.distributed.init_process_group("hccl")`` works: this build of PyTorch has Gloo."""
    from torch import distributed

    return distributed.is_gloo_available()


def _register(distributed: ModuleType) -> None:
    if not distributed.is_available():
        return
    distributed.is_hccl_available = is_hccl_available  # type: ignore[attr-defined]
    if not distributed.is_gloo_available():
        return
    from npu_backend._process_group import ProcessGroupHCCL

    distributed.ProcessGroupHCCL = ProcessGroupHCCL  # type: ignore[attr-defined]
    distributed.Backend.register_backend("hccl", ProcessGroupHCCL, devices=["npu"])


def apply() -> None:
    """Registers the backend, once somebody imports :mod:`torch.distributed`."""
    after_import("torch.distributed", _register)
