# SPDX-License-Identifier: Apache-2.0
"""The rows of the benchmark: they run, and leave out nothing that is to be compared."""

import functools
import sys
import unittest
from pathlib import Path
from unittest import mock

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from torch._inductor import cpp_builder

from bench import bench_elementwise, compiled, limits, pairs, run
from bench.measure import Effort, measure
from bench.row import RowUnavailable
from op_extension import ops

ROWS = [row for rows in run.all_rows().values() for row in rows]
QUICK = Effort(pairs=2, sample=1e-4, budget=1)
FLOATS = {"float32", "float16", "bfloat16"}


class RowsTest(unittest.TestCase):
    """ROWS of the modules."""

    def test_have_names_of_their_own(self) -> None:
        names = [row.name for row in ROWS]
        self.assertEqual(len(names), len(set(names)))

    def test_of_small_sizes_run(self) -> None:
        sizes = ("4", "4x1", "16^3", "64x1x8x8 to 16", "1x2x16x32")
        small = [row for row in ROWS if row.dtype == "float16" and row.size in sizes]
        self.assertLessEqual(set(ops.__all__), {row.operator for row in small})
        for row in small:
            if row.against != "torch.compile":  # it takes seconds; see CompiledTest
                with self.subTest(row.name):
                    self.assertGreater(measure(row, QUICK)["ratio"], 0)

    def test_show_every_operator_in_all_dtypes_forward_and_backward(self) -> None:
        for operator in ops.__all__:
            with self.subTest(operator):
                there = {(row.dtype, row.way.split(",")[0]) for row in ROWS if row.operator == operator}
                self.assertEqual(there, {(dtype, way) for dtype in FLOATS for way in ("forward", "backward")})

    def test_of_elementwise_operators_have_all_sizes(self) -> None:
        of_case = {}
        for row in bench_elementwise.ROWS:
            of_case.setdefault((row.operator, row.against, row.way, row.dtype), []).append(row.size)
        for case, sizes in of_case.items():
            self.assertEqual(sizes, ["4", "40960", "1M", "64M"][: 3 if "backward" in case else 4], case)

    def test_have_the_comparisons_that_have_goals(self) -> None:
        goals = {(row.operator, row.against) for row in ROWS if row.goal is not None}
        self.assertLessEqual(
            {
                ("my_add", "x + y"),
                ("fused_add_relu_mul", "relu(x + y) * z"),
                ("fused_add_relu_mul", "torch.compile"),
                ("my_softmax", "softmax(x, -1)"),
                ("my_gelu", "gelu by tanh"),
                ("my_rms_norm", "rms_norm"),
                ("my_flash_attention", "scaled_dot_product_attention"),
                ("my_gemm", "torch.mm of float16"),
                ("my_gemm", "torch.mm of float32"),
                ("my_conv", "conv2d of float32"),
            },
            goals,
        )

    def test_do_the_same_work_on_both_sides(self) -> None:
        for case in bench_elementwise.CASES:
            with self.subTest(case.operator, against=case.against):
                operands = [torch.linspace(-2, 2, 5) for _ in range(case.operands)]
                expected = case.theirs(*(x.clone() for x in operands))
                torch.testing.assert_close(case.ours(*(x.clone() for x in operands)), expected)


class CompiledTest(unittest.TestCase):
    """The rows against torch.compile."""

    def test_compute_what_the_three_calls_do(self) -> None:
        operands = [torch.linspace(-1, 1, 100) for _ in range(3)]
        without_cpp = functools.partial(torch.compile, backend="aot_eager")  # inductor's takes half a minute
        with mock.patch.object(torch, "compile", without_cpp):
            code = compiled.compiled(bench_elementwise.three_calls, *operands)
        torch.testing.assert_close(code(*operands), bench_elementwise.three_calls(*operands))

    def test_say_what_is_missing(self) -> None:
        missing = mock.patch.object(cpp_builder, "get_cpp_compiler", side_effect=RuntimeError("no g++\nat all"))
        with missing, self.assertRaisesRegex(RowUnavailable, r"expected a C\+\+ compiler, got none \(no g\+\+\)$"):
            compiled.compiled(bench_elementwise.three_calls)

    def test_say_what_does_not_compile(self) -> None:
        with self.assertRaisesRegex(RowUnavailable, "expected code that compiles, got "):
            compiled.compiled(lambda x: torch._dynamo.graph_break() or x, torch.ones(1))


class LimitsTest(unittest.TestCase):
    """The loops of the limits do what is counted."""

    def test_streams_add_vectors(self) -> None:
        for entry in ("add_into_cache", "add_past_cache"):
            with self.subTest(entry):
                x, y, z = torch.rand(3, 160, device="npu").unbind()
                limits.loop(entry)(x, y, z, 160, 2)
                self.assertTrue(torch.equal(z, x + y))

    def test_streams_count_bytes(self) -> None:
        for asked, of_pass in ((12 * 4096, 12 * 4096), (12 * 4096 + 100, 12 * 4096 + 192), (10, 192)):
            limit = limits.stream(asked)
            self.assertEqual((limit.amount % of_pass, limit.unit), (0, "bytes"))
            limit.run()

    def test_multiply_adds_compute(self) -> None:
        out = torch.zeros(1, device="npu")
        limits.loop("multiply_adds")(1 << 16, out)
        self.assertEqual(out.item(), 12)  # chains of x = x / 2 + 1 / 2
        self.assertEqual(limits.multiply_adds().unit, "operations")


class PairsTest(unittest.TestCase):
    """The operands of the rows."""

    def test_values_fill_a_shape_of_any_size(self) -> None:
        for shape in ((4,), (2, 3), (1_500_000,)):
            x = pairs.values(shape, torch.float16)
            self.assertEqual((x.shape, x.dtype, x.is_contiguous()), (shape, torch.float16, True))
        self.assertTrue(torch.equal(x[:500_000], x[1_000_000:]))


if __name__ == "__main__":
    unittest.main()
