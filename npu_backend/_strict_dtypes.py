# SPDX-License-Identifier: Apache-2.0
"""The switch that refuses dtypes which Ascend's operators do not take."""

from __future__ import annotations

import torch


class StrictDtypes:
    """Switches when it is made; at the end of its ``with`` block things are as they were before.

    Attributes:
        enabled: what it switched to.
    """

    def __init__(self, enabled: bool) -> None:
        """Switches now, for all threads."""
        if not isinstance(enabled, bool):
            raise TypeError(f"npu_backend.strict_dtypes: expected True or False, got {enabled!r}")
        self.enabled = enabled
        self._before: bool = torch.ops.npu_backend.strict_dtypes(enabled)

    def __enter__(self) -> StrictDtypes:
        """This object, which has switched already."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Switches back."""
        torch.ops.npu_backend.strict_dtypes(self._before)
