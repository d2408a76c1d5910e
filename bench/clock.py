# SPDX-License-Identifier: Apache-2.0
"""Seconds of calls."""

import time
from collections.abc import Callable


def seconds(function: Callable[[], object], calls: int) -> float:
    """Seconds per call over calls in a row."""
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls


def calls_for(function: Callable[[], object], sample: float) -> int:
    """How many calls take about sample seconds."""
    if seconds(function, 1) > 10 * sample:  # the first call does more than the others, but not that much
        return 1
    calls = 1
    # The quicker of two: one call that was held up must not make each sample a call or two with cold caches.
    while (taken := min(seconds(function, calls), seconds(function, calls)) * calls) < sample / 4:
        calls = max(calls * 2, min(calls * 100, int(calls * sample / 2 / max(taken, 1e-9))))
    return max(1, round(calls * sample / taken))
