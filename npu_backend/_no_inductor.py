# SPDX-License-Identifier: Apache-2.0
"""What Inductor finds when it looks for code generators of npu: a sentence instead of an assertion deep inside."""

from __future__ import annotations

from typing import NoReturn

from torch._inductor.codegen.common import register_device_op_overrides
from torch._inductor.codegen.cpu_device_op_overrides import CpuDeviceOpOverrides


class _Missing(type):
    def __getattr__(cls, name: str) -> NoReturn:
        raise NotImplementedError(
            "torch.compile: expected backend 'aot_eager', 'eager' or 'npu' for a graph on npu, got 'inductor', which "
            "has no code generator for npu, nor has AOTInductor; say torch.compile(..., backend='aot_eager'), keep an "
            "exported program by torch.export.save"
        )


class NoCodeGeneration(metaclass=_Missing):
    """Stands for every code generator: whatever Inductor asks of it for a graph on npu raises the sentence."""

    supports_caching = False  # asked for CPU graphs, too


# Asked for before the code generator.
register_device_op_overrides("npu", CpuDeviceOpOverrides())
