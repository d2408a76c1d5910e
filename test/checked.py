# SPDX-License-Identifier: Apache-2.0
"""Tests under the hazard checker: a finding in a kernel fails the test that launched it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from op_extension import check


def under_the_checker(unchecked: Mapping[str, str]) -> Callable[..., Iterator[None]]:
    """A fixture for the tests of a folder.

    Args:
        unchecked: names of files ("test_faults") and of tests that are left out, and why.

    Returns:
        The fixture, around every test.
    """

    @pytest.fixture(autouse=True)
    def checked(request: pytest.FixtureRequest) -> Iterator[None]:
        names = {request.module.__name__.rpartition(".")[2], request.function.__name__}
        if names & unchecked.keys():
            yield
            return
        with check.hazards():
            yield

    return checked
