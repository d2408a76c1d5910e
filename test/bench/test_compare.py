# SPDX-License-Identifier: Apache-2.0
"""bench.compare names the rows that got slower, and no others."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench import compare
from bench.compare import Ratio


def near(median, spread=0.01):
    """A ratio with narrow quartiles."""
    return Ratio(median, median - spread, median + spread)


class CompareTest(unittest.TestCase):
    """``python -m bench.compare OLD NEW``."""

    def test_names_rows_beyond_the_tolerance_the_worst_first(self) -> None:
        old = {"same": 1.0, "faster": 2.0, "slower": 1.0, "much slower": 0.5, "gone": 1.0}
        new = {"same": 1.05, "faster": 1.0, "slower": 1.2, "much slower": 1.0, "new": 1.0}
        lines = compare.compare(*({name: near(at) for name, at in rows.items()} for rows in (old, new)), 0.1)
        self.assertEqual([line.split(":")[0] for line in lines], ["much slower", "slower"])
        self.assertIn("0.50 (0.49 to 0.51) became 1.00 (0.99 to 1.01) of torch's time, 2.00 times", lines[0])

    def test_leaves_out_rows_whose_spreads_meet(self) -> None:
        for old, new, is_slower in (
            (Ratio(1.0, 0.9, 1.1), Ratio(1.5, 1.2, 1.8), True),
            (Ratio(1.0, 0.9, 1.3), Ratio(1.5, 1.2, 1.8), False),  # the old one was unsure
            (Ratio(1.0, 0.9, 1.1), Ratio(1.5, 1.0, 1.8), False),  # the new one is
            (Ratio(1.5, 1.2, 1.8), Ratio(1.0, 0.9, 1.1), False),
        ):
            with self.subTest(old=old, new=new):
                self.assertEqual(bool(compare.compare({"row": old}, {"row": new}, 0.1)), is_slower)

    def test_counts_rows_and_tells_by_its_exit_code(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, name) for name in ("old.json", "new.json")]
            for path, at in zip(paths, (1.0, 2.0), strict=True):
                rows = [{"name": "a", "ratio": at, "ratio_quartiles": [at, at]}]
                rows.append({"name": path.name, "ratio": at, "ratio_quartiles": [at, at]})
                path.write_text(json.dumps({"rows": rows}), encoding="utf-8")
            old, new = map(str, paths)
            for arguments, code in (([old, new], 1), ([new, old], 0), ([old, new, "--tolerance", "1.5"], 0)):
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    self.assertEqual(compare.main(arguments), code, arguments)
                self.assertIn(f"{code} of 1 rows got slower, 2 stand in one result only", out.getvalue())

    def test_names_a_file_that_is_no_result(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "result.json")
            for text in (None, "no json", "{}", "[]", '{"rows": [{"name": "a", "ratio": 1}]}'):
                if text is not None:
                    path.write_text(text, encoding="utf-8")
                with self.subTest(text), self.assertRaisesRegex(SystemExit, "expected what bench.run --output writes"):
                    compare.ratios(path)


if __name__ == "__main__":
    unittest.main()
