# SPDX-License-Identifier: Apache-2.0
"""Which operators of PyTorch ran as CPU kernels on memory of npu."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator, Mapping

import torch


def _counts() -> Counter[str]:
    operators, calls = torch.ops.npu_backend.fallback_log_counts()
    return Counter(dict(zip(operators, calls, strict=True)))


class FallbackLog(Mapping[str, int]):
    """Calls of CPU kernels by operator, ``{"aten::addmm": 2}``, most frequent first.

    It counts the calls of all threads from when it is made until :meth:`close`, the end of its ``with`` block or the
    loss of the last reference, whichever is first. Until then what it shows grows. Several may be open at a time.
    """

    def __init__(self) -> None:
        """Starts to count."""
        self._before = _counts()
        self._after: Counter[str] | None = None
        torch.ops.npu_backend.fallback_log_open()
        self._stop = weakref.finalize(self, torch.ops.npu_backend.fallback_log_close)

    def close(self) -> None:
        """Stops counting; what was counted stays. Does nothing the second time."""
        if self._after is None:
            self._after = _counts()
            self._stop()

    def _counted(self) -> dict[str, int]:
        counted = (_counts() if self._after is None else self._after) - self._before
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))

    def __enter__(self) -> FallbackLog:
        """This log, which counts since it was made."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Stops counting."""
        self.close()

    def __getitem__(self, operator: str) -> int:
        """Calls of operator, a name with namespace and overload such as ``aten::add.Tensor``."""
        return self._counted()[operator]

    def __iter__(self) -> Iterator[str]:
        """Names of operators."""
        return iter(self._counted())

    def __len__(self) -> int:
        """Number of different operators."""
        return len(self._counted())

    def __repr__(self) -> str:
        """A table with one line per operator."""
        counted = self._counted()
        if not counted:
            return "no operator ran as a CPU kernel"
        lines = [f"{calls:>10}  {operator}" for operator, calls in counted.items()]
        return "\n".join([f"{'calls':>10}  operators that ran as CPU kernels", *lines])
