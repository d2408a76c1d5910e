# SPDX-License-Identifier: Apache-2.0
"""``TestCase`` with comparisons of tensors that lie anywhere, and ``run_tests``."""

from __future__ import annotations

import importlib
import importlib.util
import unittest
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .relative_error import rtol_sentence

__all__ = ["TestCase", "run_tests"]

# For assertExpected; torch_npu needs this package, nothing here does.
_EXPECTTEST = importlib.util.find_spec("expecttest")
_Base: Any = importlib.import_module("expecttest").TestCase if _EXPECTTEST else unittest.TestCase


def run_tests() -> None:
    """Runs the tests of the program and ends it; arguments are those of unittest."""
    unittest.main()


def _on_cpu(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().cpu()
    return value


class TestCase(_Base):  # type: ignore[misc]
    """``unittest.TestCase`` for results on npu and on cpu."""

    _precision = 1e-5
    maxDiff = None
    exact_dtype = False

    def assertRtolEqual(
        self,
        x: Any,
        y: Any,
        prec: float = 1e-4,
        prec16: float = 1e-3,
        auto_trans_dtype: bool = False,
        message: str | None = None,
    ) -> None:
        """Fails where more than a share ``prec`` of the elements differ by more than ``prec``, both ways.

        Both ways: relative to the greater of the two values, and absolutely; so a part of the elements may be wrong, as
        in torch_npu. Shapes and dtypes must be equal, bool exactly.

        Args:
            x: a tensor, an array, a number, or a sequence of them.
            y: what x should be.
            prec: precision and share for all dtypes but 16-bit floats.
            prec16: the same for float16; relative and absolute tolerance for bfloat16.
            auto_trans_dtype: whether x is converted to the dtype of y first.
            message: what a failure says instead.
        """
        if isinstance(x, Sequence) and isinstance(y, Sequence) and not isinstance(x, str):
            self.assertEqual(len(x), len(y), message)
            for one, other in zip(x, y, strict=True):
                self.assertRtolEqual(one, other, prec, prec16, auto_trans_dtype, message)
            return
        sentence = rtol_sentence(_tensor(x), _tensor(y), prec, prec16, auto_trans_dtype)
        if sentence:
            self.fail(message or f"assertRtolEqual: {sentence}")

    def assertEqual(
        self,
        x: Any,
        y: Any,
        msg: Any = None,
        *,
        message: Any = None,
        prec: float | None = None,
        allow_inf: bool = False,
        exact_dtype: bool | None = None,
    ) -> None:
        """``unittest``'s, and for tensors within ``prec`` of each other, absolutely; NaN equals NaN."""
        text = msg if msg is not None else message
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            self._assert_tensors(x, y, text, prec, self.exact_dtype if exact_dtype is None else exact_dtype)
        elif _is_number(x) and _is_number(y) and not (isinstance(x, bool) or isinstance(y, bool)):
            both_nan = x != x and y != y
            self.assertTrue(both_nan or abs(x - y) <= (prec or 0) or x == y, text or f"expected {y}, got {x}")
        elif isinstance(x, list | tuple) and isinstance(y, list | tuple) and type(x) is type(y):
            super().assertEqual(len(x), len(y), text)
            for one, other in zip(x, y, strict=True):
                self.assertEqual(one, other, text, prec=prec)
        else:
            super().assertEqual(x, y, text)

    def _assert_tensors(self, x: Any, y: Any, text: Any, prec: float | None, exact: bool) -> None:
        try:
            torch.testing.assert_close(
                *(_on_cpu(torch.as_tensor(value)) for value in (x, y)),
                rtol=0,
                atol=self._precision if prec is None else prec,
                equal_nan=True,
                check_dtype=exact,
            )
        except AssertionError as error:
            self.fail(text or str(error))

    def assertTensorsSlowEqual(self, x: Any, y: Any, prec: float | None = None, message: Any = "") -> None:
        """Tensors of one shape within ``prec``."""
        self._assert_tensors(x, y, message or None, prec, exact=False)

    def assertNotEqual(
        self, x: Any, y: Any, msg: Any = None, *, message: Any = None, prec: float | None = None
    ) -> None:
        """The opposite of :meth:`assertEqual`."""
        try:
            self.assertEqual(x, y, prec=prec)
        except AssertionError:
            return
        self.fail(msg or message or f"expected two values that differ by more than {prec}, got {x} and {y}")

    def assertObjectIn(self, obj: Any, iterable: Any) -> None:
        """Whether the object itself, not one that equals it, is in iterable."""
        if not any(one is obj for one in iterable):
            self.fail(f"expected {obj!r} itself in {iterable!r}, got no such object")

    def assertNotWarn(self, callable: Any, message: str = "") -> None:
        """Calls without arguments; fails on a warning."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            callable()
        self.assertTrue(not caught, message or f"expected no warning, got {[str(one.message) for one in caught]}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | complex)


def _tensor(value: Any) -> Tensor:
    """A tensor on cpu of anything that can be one."""
    return torch.as_tensor(np.asarray(value) if isinstance(value, np.generic) else value).detach().cpu()
