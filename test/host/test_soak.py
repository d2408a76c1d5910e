# SPDX-License-Identifier: Apache-2.0
"""Results and memory after many operations in several threads and streams. ``make test-soak`` does half a million."""

import json
import os
import statistics
import sys
import unittest
from pathlib import Path

import npu_backend  # noqa: F401

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import output_of

OPERATIONS = int(os.environ.get("NPU_SOAK_OPERATIONS", "8000"))
THREADS = 4
PHASES = 8
MIB = 2**20


class SoakTest(unittest.TestCase):
    def test_results_stay_right_and_memory_flat(self):
        program = Path(__file__).with_name("soak.py")
        code = (
            "import json, runpy\n"
            f"soak = runpy.run_path({str(program)!r})['soak']\n"
            f"print(json.dumps(soak({OPERATIONS}, {THREADS}, {PHASES})))"
        )
        # One arena of the C library for all threads: else what stays resident is up to how often they wait.
        report = json.loads(output_of(code, seconds=3600, MALLOC_ARENA_MAX="1"))
        print(f"\nsoak: {json.dumps(report)}")
        self.assertEqual(sum(report["operations"].values()), OPERATIONS)
        self.assertGreater(min(report["operations"].values()), 0)
        self.assertEqual(report["allocated"], [0] * PHASES)
        # What is reserved depends on the sizes that are alive at a time; what is resident then is in no cache.
        for figure, growth in (("reserved", 1.25), ("resident", 1.05)):
            first, last = report[figure][: PHASES // 2], report[figure][PHASES // 2 :]
            self.assertLessEqual(statistics.median(last), growth * max(first) + 8 * MIB, (figure, report[figure]))


if __name__ == "__main__":
    unittest.main()
