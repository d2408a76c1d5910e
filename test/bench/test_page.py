# SPDX-License-Identifier: Apache-2.0
"""bench.page writes a result of bench.run as tables of docs/benchmarks.md."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench import page

MACHINE = {
    "date": "2026-01-02",
    "cpu": "A processor",
    "family_and_model": [25, 1],
    "virtual": True,
    "cores": 2,
    "caches": {"L1": "32K", "L2": "512K"},
    "level": "x86-64-v3",
    "op_extension": "0.1.0",
    "torch": "2.13.0",
    "torch_threads": 1,
    "load_before": 0.1,
    "load_after": 1.0,
}


def figure(operator, size, ratio, *, share=None, goal=None, subject="elementwise"):
    """A row of a result."""
    return {
        "subject": subject,
        "name": f"{operator}, {size}",
        "operator": operator,
        "size": size,
        "dtype": "float16",
        "way": "forward",
        "against": "x + y",
        "goal": goal,
        "ratio": ratio,
        "ratio_quartiles": [ratio - 0.5, ratio + 0.5],
        "limit": share and {"unit": "bytes", "per_second": 2e10, "share": share},
    }


RESULTS = {
    "machine": MACHINE,
    "rows": [
        figure("a", "4", 1.0, goal=2.0),
        figure("a", "1M", 1.5, share=0.25, goal=1.0),
        figure("b", "4", 1000.0),
        figure("b", "1M", 3.0),
        figure("c", "1x1", 4.0),
        figure("d", "4", 5.0, subject="rows"),
    ],
    "left_out": [{"name": "e", "why": "no compiler"}],
    "failed": [{"name": "f", "why": "RuntimeError: a fault"}],
}


class PageTest(unittest.TestCase):
    """``python -m bench.page RESULT``."""

    def test_tables_have_a_column_for_each_size(self) -> None:
        text = page.markdown(RESULTS)
        for table in (
            "### Elementwise\n\n| operator | against | way | dtype | 4 | 1M |\n|---|---|---|---|---|---|\n"
            "| `a` | x + y | forward | float16 | 1.00 (0.50-1.50) | 1.50 (1.00-2.00), 25% |\n"
            "| `b` | x + y | forward | float16 | 1000 (1000-1000) | 3.00 (2.50-3.50) |\n\n",
            "\n\n| operator | against | way | dtype | 1x1 |\n|---|---|---|---|---|\n| `c` | ",
            "### Rows\n\n| operator | against | way | dtype | 4 |\n|---|---|---|---|---|\n| `d` | ",
        ):
            self.assertIn(table, text)

    def test_goals_are_met_or_missed(self) -> None:
        text = page.markdown(RESULTS)
        self.assertIn("| `a` | 4 | float16 | x + y | 2.00 | 1.00 (0.50-1.50) | met |\n", text)
        self.assertIn("| `a` | 1M | float16 | x + y | 1.00 | 1.50 (1.00-2.00) | missed, 1.50 times |\n", text)
        self.assertEqual(text.count(" met |") + text.count("missed"), 2)

    def test_says_on_what_and_when(self) -> None:
        self.assertTrue(
            page.markdown(RESULTS).startswith(
                "Measured on 2026-01-02: A processor (family 25, model 1), 2 cores of a virtual machine, "
                "L1 32K, L2 512K, kernels for x86-64-v3, op_extension 0.1.0, torch 2.13.0 with 1 thread, "
                "load 0.1 before and 1.0 after, memory moves 20 to 20 GB/s, by size.\n"
            )
        )

    def test_says_what_is_left_out_or_failed(self) -> None:
        end = "\n\nLeft out:\n\n- e: no compiler\n\nFailed:\n\n- f: RuntimeError: a fault\n"
        self.assertTrue(page.markdown(RESULTS).endswith(end))

    def test_replaces_its_part_of_the_page_and_nothing_else(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            result, target = Path(folder, "result.json"), Path(folder, "page.md")
            result.write_text(json.dumps(RESULTS), encoding="utf-8")
            target.write_text(page.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
            texts = []
            for _ in range(2):
                self.assertEqual(page.main([str(result), str(target)]), 0)
                texts.append(target.read_text(encoding="utf-8"))
        self.assertEqual(texts[0], texts[1])
        self.assertIn(page.markdown(RESULTS), texts[0])
        before = page.PAGE.read_text(encoding="utf-8")
        self.assertEqual(texts[0].split(page.START)[0], before.split(page.START)[0])
        self.assertEqual(texts[0].split(page.END)[1], before.split(page.END)[1])

    def test_names_what_is_no_result_or_no_page(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            result, target = Path(folder, "result.json"), Path(folder, "page.md")
            target.write_text("no marks\n", encoding="utf-8")
            for text, sentence in (
                ("{}", "expected what bench.run --output writes"),
                (json.dumps(RESULTS), "expected the lines .* in the page, got none"),
            ):
                result.write_text(text, encoding="utf-8")
                with self.subTest(text[:10]), self.assertRaisesRegex(SystemExit, sentence):
                    page.main([str(result), str(target)])
        with self.assertRaisesRegex(SystemExit, "got 0 arguments"):
            page.main([])


if __name__ == "__main__":
    unittest.main()
