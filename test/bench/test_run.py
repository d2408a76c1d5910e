# SPDX-License-Identifier: Apache-2.0
"""Figures of rows: how they come from samples, what stands in the result, what is left out."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench import measure, run
from bench.limits import Limit
from bench.measure import Effort
from bench.row import Row, RowUnavailable

QUICK = Effort(pairs=2, sample=1e-4, budget=1)
KEYS = {
    *("subject", "name", "operator", "size", "dtype", "way", "against", "goal", "npu_seconds", "npu_quartiles"),
    *("torch_cpu_seconds", "torch_cpu_quartiles", "ratio", "ratio_quartiles", "limit", "pairs", "calls_per_sample"),
}
MACHINE = {
    *("date", "cpu", "family_and_model", "virtual", "cores", "caches", "level", "op_extension", "torch"),
    *("torch_threads", "load_before", "load_after"),
}


def nothing() -> None:
    """Takes no time."""


def row(make=lambda: (nothing, nothing), **more):
    """A row of two functions."""
    return Row("operator", "4", "float32", "another", make, **more)


def main_of(*arguments):
    """What bench.run prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        run.main(arguments)
    return out.getvalue(), err.getvalue()


class MeasureTest(unittest.TestCase):
    """bench.measure."""

    def test_takes_functions_in_turn_and_alternates(self) -> None:
        order: list[str] = []
        functions = [lambda name=name: order.append(name) for name in "abc"]
        times = measure.samples(functions, [1, 1, 1], Effort(3, 1, 1))
        self.assertEqual("".join(order), "abccbaabc")
        self.assertEqual([len(of_function) for of_function in times], [3, 3, 3])

    def test_does_not_time_the_call_before_a_sample_of_several(self) -> None:
        calls: list[None] = []
        measure.samples([lambda: calls.append(None)], [10], Effort(2, 1, 1))
        self.assertEqual(len(calls), 22)

    def test_ends_after_the_budget_but_not_before_five_pairs(self) -> None:
        self.assertEqual(len(measure.samples([nothing, nothing], [1, 1], Effort(1000, 1, 0))[0]), 5)

    def test_a_ratio_is_the_median_within_pairs_and_a_share_within_rounds(self) -> None:
        def limit() -> None:
            """The third function."""

        times = [[2.0, 4.0, 9.0], [1.0, 4.0, 3.0], [0.5, 1.0, 1.0]]  # ratios 2, 1, 3
        with (
            mock.patch.object(measure, "samples", return_value=times),
            mock.patch.object(measure.limits, "stream", return_value=Limit(limit, 1000, "bytes")),
        ):
            figure = measure.measure(row(times=2, bytes_moved=800), QUICK)
        self.assertEqual((figure["ratio"], figure["ratio_quartiles"]), (2.0, [1.5, 2.5]))
        self.assertEqual((figure["npu_seconds"], figure["torch_cpu_seconds"]), (2.0, 1.5))
        self.assertEqual(figure["npu_quartiles"], [1.5, 3.25])
        # 1600 bytes in 2, 4 and 9 seconds; the limit moved 1000 in 0.5, 1 and 1.
        self.assertEqual((figure["limit"]["share"], figure["limit"]["per_second"]), (0.4, 1000))
        self.assertEqual(figure["pairs"], 3)

    def test_operations_are_limited_by_multiply_adds_and_other_rows_by_nothing(self) -> None:
        with mock.patch.object(measure.limits, "multiply_adds", return_value=Limit(nothing, 1, "operations")):
            self.assertEqual(measure.measure(row(operations=1), QUICK)["limit"]["unit"], "operations")
        self.assertIsNone(measure.measure(row(), QUICK)["limit"])

    def test_refuses_a_row_that_does_not_fit(self) -> None:
        make = mock.Mock()
        with self.assertRaisesRegex(RowUnavailable, r"memory: expected 1048576.0 GiB, got \d+\.\d GiB that are free"):
            measure.measure(row(make, memory=2**50), QUICK)
        make.assert_not_called()


class RunTest(unittest.TestCase):
    """bench.run."""

    def test_writes_figures_of_the_rows_that_are_asked_for(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "result.json")
            out, _ = main_of("--only", r"^x\.view", "--pairs", "2", "--sample", "1e-4", "--output", str(path))
            results = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(set(results), {"machine", "rows", "left_out", "failed"})
        self.assertEqual(set(results["machine"]), MACHINE)
        self.assertEqual([set(figure) for figure in results["rows"]], [KEYS])
        self.assertEqual(results["rows"][0]["name"], "x.view, 64x64 float32, forward / the same on cpu")
        self.assertEqual((results["left_out"], results["failed"]), ([], []))
        self.assertRegex(out, r"x\.view +64x64 +float32 +forward +[\d.]+ us +[\d.]+ us +[\d.]+ +[\d.]+ to [\d.]+ ")

    def test_leaves_out_what_is_unavailable_and_goes_on(self) -> None:
        missing = row(mock.Mock(side_effect=RowUnavailable("a compiler: expected one, got none")), way="backward")
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
            results = run.run({"subject": [missing, row()]}, QUICK)
        self.assertEqual(results["left_out"], [{"name": missing.name, "why": "a compiler: expected one, got none"}])
        self.assertEqual([figure["name"] for figure in results["rows"]], [row().name])
        self.assertIn(f"{missing.name}: left out: a compiler: expected one, got none\n", out.getvalue())

    def test_keeps_figures_when_a_row_fails_and_ends_with_1(self) -> None:
        broken = row(mock.Mock(side_effect=RuntimeError("a fault")), way="backward")
        with mock.patch.object(run, "all_rows", return_value={"subject": [broken, row()]}):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "result.json")
                with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
                    self.assertEqual(run.main(["--pairs", "2", "--output", str(path)]), 1)
                results = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual(results["failed"], [{"name": broken.name, "why": "RuntimeError: a fault"}])
            self.assertEqual([figure["name"] for figure in results["rows"]], [row().name])
            self.assertIn(f"{broken.name}: failed: RuntimeError: a fault\n", out.getvalue())

    def test_keeps_figures_when_it_is_interrupted(self) -> None:
        stopped = row(mock.Mock(side_effect=KeyboardInterrupt))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
            results = run.run({"subject": [row(), stopped, row()]}, QUICK)
        self.assertEqual(len(results["rows"]), 1)
        self.assertIn("stopped", err.getvalue())

    def test_warns_of_other_programs(self) -> None:
        for load, is_busy in ((0.1, False), (2.0, True)):
            err = io.StringIO()
            with (
                mock.patch("os.getloadavg", return_value=(load, 0, 0)),
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(err),
            ):
                run.run({}, QUICK)
            self.assertEqual("load: expected at most 0.5, got 2.0" in err.getvalue(), is_busy)

    def test_lists_rows(self) -> None:
        self.assertEqual(main_of("--list", "--only", "launch")[0], "launch, 20 blocks , forward / 0.3 us\n")

    def test_names_options_that_are_wrong(self) -> None:
        for arguments, sentence in (
            (["--pairs", "1"], "--pairs: expected 2 or more, got 1"),
            (["--threads", "0"], "--threads: expected 1 or more, got 0"),
            (["--sample", "0"], "--sample: expected a positive number of seconds, got 0.0"),
            (["--only", "("], "--only: expected a regular expression, got ("),
            (["--only", "no such row"], "--only: expected a pattern that fits a row, got no such row"),
        ):
            err = io.StringIO()
            with self.subTest(arguments), contextlib.redirect_stderr(err), self.assertRaises(SystemExit):
                run.main(arguments)
            self.assertIn(sentence, err.getvalue())

    def test_gives_durations_in_the_unit_that_fits(self) -> None:
        self.assertEqual([run.duration(t) for t in (2.5e-7, 1e-3, 1.5)], ["0.25 us", "1.00 ms", "1.50 s"])


if __name__ == "__main__":
    unittest.main()
