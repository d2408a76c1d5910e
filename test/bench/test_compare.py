# SPDX-License-Identifier: Apache-2.0
"""bench.compare names the rows that got slower, and no others."""

import sys
import tempfile
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench import compare, run


class CompareTest(unittest.TestCase):
    """``python -m bench.compare OLD NEW``."""

    def test_names_rows_beyond_the_tolerance_the_worst_first(self) -> None:
        old = {"same": 1.0, "faster": 2.0, "slower": 1.0, "much slower": 0.5, "gone": 1.0}
        new = {"same": 1.05, "faster": 1.0, "slower": 1.2, "much slower": 1.0, "new": 1.0}
        lines = compare.compare(old, new, 0.1)
        self.assertEqual([line.split(":")[0] for line in lines], ["much slower", "slower"])
        self.assertIn("0.50 became 1.00 of torch's time, 2.00 times", lines[0])

    def test_names_a_file_that_is_no_result(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "result.json")
            for text in (None, "no json", "{}", "[]"):
                if text is not None:
                    path.write_text(text, encoding="utf-8")
                with self.subTest(text), self.assertRaisesRegex(SystemExit, "expected what bench.run --output writes"):
                    compare.ratios(path)

    def test_rows_have_names_of_their_own_and_run(self) -> None:
        rows = run.all_rows()
        self.assertEqual(len(rows), len({row.name for row in rows}))
        for row in rows:
            if ", 4 float16" in row.name:
                figure = run.measure(row, pairs=2, sample=1e-4)
                self.assertGreater(figure["ratio"], 0)


if __name__ == "__main__":
    unittest.main()
