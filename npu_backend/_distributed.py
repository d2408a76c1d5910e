# SPDX-License-Identifier: Apache-2.0
"""Backend ``hccl`` of :mod:`torch.distributed`."""

from __future__ import annotations


def is_hccl_available() -> bool:
    """Whether ``torch.distributed.init_process_group("hccl")`` works: this build of PyTorch has Gloo."""
    from torch import distributed

    return distributed.is_gloo_available()


def apply() -> None:
    """Registers the backend with :mod:`torch.distributed`, which ``import torch`` imports."""
    from torch import distributed

    if not distributed.is_available():
        return
    distributed.is_hccl_available = is_hccl_available  # type: ignore[attr-defined]
    if not distributed.is_gloo_available():
        return
    from npu_backend._process_group import ProcessGroupHCCL

    distributed.ProcessGroupHCCL = ProcessGroupHCCL  # type: ignore[attr-defined]
    distributed.Backend.register_backend("hccl", ProcessGroupHCCL, devices=["npu"])
