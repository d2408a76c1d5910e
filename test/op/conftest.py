# SPDX-License-Identifier: Apache-2.0
"""The kernels of all operators are checked while their tests run."""

from test.checked import under_the_checker

checked = under_the_checker(
    {
        "test_operators_hazards": "opens the checker itself, once for each operator",
        "test_the_checker_finds_no_hazard": "opens the checker itself, once for each case",
    }
)
