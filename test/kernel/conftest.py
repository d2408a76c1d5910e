# SPDX-License-Identifier: Apache-2.0
"""Kernels are checked while their tests run, but for those that are wrong."""

from test.checked import under_the_checker

checked = under_the_checker(
    {
        "test_faults": "kernels that break rules",
        "test_signals": "kernels that break rules",
        "test_random_order": "kernels without a flag",
        "test_counting_stops_after_a_fault": "a kernel that breaks a rule",
        "test_stops_after_a_fault": "a kernel that breaks a rule",
    }
)
