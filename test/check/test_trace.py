# SPDX-License-Identifier: Apache-2.0
"""check.trace: instructions with their operands."""

import sys
import unittest
import warnings
from pathlib import Path

import numpy as np
import torch

from op_extension import check, kernel

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.kernel.kernels_of_test import KernelTest, load

HERE = Path(__file__).resolve().parent


def traced(entry, core="vector", **options):
    return kernel.load(HERE / "traced.cpp", entry=entry, core=core, **options)


def of(trace, name):
    """The steps of an instruction."""
    return [step for step in trace.steps if step.name == name]


class TraceTest(KernelTest):
    def add(self, n=256, blocks=1, **options):
        x, y = torch.arange(n, dtype=torch.float32), torch.full((n,), 0.5)
        z = torch.empty(n, device="npu")
        with check.trace(**{"values": True, **options}) as trace:
            load("add.cpp", "add_float")[blocks](x.npu(), y.npu(), z, n)
        return trace, x, y, z.cpu()

    def run_operands(self):
        x = torch.randn(16, 64, generator=torch.Generator().manual_seed(1)).half()
        y, sums = torch.empty_like(x, device="npu"), torch.empty(16, dtype=torch.float16, device="npu")
        narrow = torch.empty(16, 64, dtype=torch.bfloat16, device="npu")
        with check.trace(values=True) as trace:
            traced("operands")[1](x.npu(), y, sums, narrow)
        return trace, x, y.cpu(), sums.cpu(), narrow.cpu()

    def test_has_each_instruction_with_its_place(self):
        trace, *_ = self.add(1000, blocks=2)
        names = [step.name for step in trace.steps if step.block == 1]
        self.assertEqual(names, ["TLOAD", "TLOAD", "TADD", "TSTORE"] * 2)
        add = of(trace, "TADD")[0]
        self.assertEqual(
            (add.kernel, add.launch, add.block, add.core, add.pipe), ("add_float", 0, 0, "vector", "PIPE_V")
        )
        self.assertEqual(add.number, 5)  # flags count, too
        self.assertRegex(add.line, r"add\.cpp:\d+$|\.so\+0x")
        self.assertEqual(sorted(step.order for step in trace.steps), list(range(1, 17)))
        self.assertTrue(trace.is_whole)

    def test_operands_are_sources_before_and_destinations_after(self):
        trace, x, y, z = self.add(300)
        rest = of(trace, "TADD")[1]
        (to,), (left, right) = rest.destinations, rest.sources
        np.testing.assert_array_equal(left.values, x[None, 256:].numpy())
        np.testing.assert_array_equal(right.values, y[None, 256:].numpy())
        np.testing.assert_array_equal(to.values, z[None, 256:].numpy())
        self.assertEqual((to.space, to.dtype, to.layout, to.shape), ("UB", "float", "ND", (1, 44)))
        self.assertEqual((to.tile.kind, to.tile.rows, to.tile.columns, to.tile.address), ("Vec", 1, 256, 0x8000))
        np.testing.assert_array_equal(of(trace, "TLOAD")[0].sources[0].values, x[None, :256].numpy())

    def test_an_instruction_in_place_has_both_values(self):
        x = torch.arange(1024, dtype=torch.float32).reshape(16, 64)
        y = torch.empty_like(x, device="npu")
        with check.trace(values=True) as trace:
            traced("stops")[1](x.npu(), y)
        (add,), (get,), (put,) = of(trace, "TADDS"), of(trace, "GetValue"), of(trace, "SetValue")
        np.testing.assert_array_equal(add.sources[0].values, x.numpy())
        np.testing.assert_array_equal(add.destinations[0].values, x.numpy() + 1)
        self.assertEqual(get.sources[0].values.item(), 1)
        self.assertEqual(put.destinations[0].values.item(), 2)
        self.assertEqual(y.cpu()[0, 0].item(), 2)

    def test_masks_sums_and_bfloat16(self):
        trace, x, y, sums, narrow = self.run_operands()
        mask = of(trace, "TCMPS")[0].destinations[0]
        self.assertEqual((mask.dtype, mask.shape), ("uint8", (16, 8)))
        np.testing.assert_array_equal(mask.mask, (x > 0).numpy())
        np.testing.assert_array_equal(of(trace, "TSEL")[0].destinations[0].values, y.numpy())
        total = of(trace, "TROWSUM")[0]
        self.assertEqual(total.sources[0].shape, (16, 40))
        self.assertEqual(total.destinations[0].shape, (16, 1))
        np.testing.assert_array_equal(total.destinations[0].values[:, 0], sums.numpy())
        last = of(trace, "TCVT")[1].destinations[0]
        self.assertEqual((last.dtype, last.bits.dtype), ("bfloat16", np.uint16))
        np.testing.assert_array_equal(last.values, narrow.float().numpy())

    def test_tiles_in_boxes_come_by_row_and_column(self):
        a, b = torch.arange(1024).reshape(32, 32).half() / 64, torch.randn(32, 32).half()
        c = torch.empty(16, 16, device="npu")
        with check.trace(values=True) as trace:
            traced("corner", core="cube")[1](a.npu(), b.npu(), c)
        whole = of(trace, "TLOAD")[0].destinations[0]
        self.assertEqual((whole.space, whole.layout, whole.shape), ("L1", "NZ", (32, 32)))
        np.testing.assert_array_equal(whole.values, a.numpy())
        left, right = of(trace, "TEXTRACT")
        self.assertEqual(left.sources[0].start, (16, 0))
        for step, want in ((left, a[16:]), (right, b[:, 16:])):
            np.testing.assert_array_equal(step.sources[0].values, want.numpy())
            np.testing.assert_array_equal(step.destinations[0].values, want.numpy())
        product = of(trace, "TMATMUL")[0]
        self.assertEqual([operand.space for operand in product.operands], ["L0C", "L0A", "L0B"])
        np.testing.assert_array_equal(product.destinations[0].values, c.cpu().numpy())

    def test_all_cores_of_a_mixed_kernel(self):
        x = torch.randn(2, 32, 32, generator=torch.Generator().manual_seed(2)).half()
        twice, square, y = x.npu() * 0, torch.empty(2, 32, 32, device="npu"), torch.empty(2, 32, 32, device="npu")
        with check.trace(values=True) as trace:
            kernel.load(HERE / "mutation" / "handover.cpp", entry="handover", core="mix")[2](x.npu(), twice, square, y)
        cores = {(step.block, step.core, step.sub_block) for step in trace.steps}
        want = {(block, *core) for block in (0, 1) for core in (("cube", 0), ("vector", 0), ("vector", 1))}
        self.assertEqual(cores, want)
        for product in of(trace, "TMATMUL"):
            np.testing.assert_array_equal(product.sources[0].values, (2 * x[product.block]).numpy())
            np.testing.assert_array_equal(product.destinations[0].values, square[product.block].cpu().numpy())
        self.assertTrue(trace.compare({"TADDS": lambda tile: tile + 1, "TADD": np.add}))

    def test_without_values_operands_are_described_alone(self):
        trace, *_ = self.add(values=False)
        add = of(trace, "TADD")[0]
        self.assertEqual([operand.values for operand in add.operands], [None] * 3)
        self.assertEqual(add.operands[0].shape, (1, 256))
        with self.assertRaisesRegex(ValueError, r"expected a trace with values, .* got one without"):
            trace.compare({"TADD": np.add})

    def test_only_what_is_asked_for(self):
        trace, *_ = self.add(2000, blocks=4)
        self.assertEqual({step.block for step in trace.steps}, {0, 1, 2, 3})
        x = torch.ones(2000, device="npu")
        with check.trace(values=True, kernels="add_float", blocks=[1, 3], instructions=["TADD"]) as trace:
            torch.ops.npu.my_add(x, x)
            load("add.cpp", "add_float")[4](x, x, torch.empty_like(x), 2000)
        self.assertEqual([(step.name, step.block) for step in trace.steps], [("TADD", 1)] * 2 + [("TADD", 3)] * 2)
        self.assertEqual({step.kernel for step in trace.steps}, {"add_float"})

    def test_records_operators_and_launches_on_other_streams(self):
        x = torch.arange(5000, dtype=torch.float32)
        on_npu, stream = x.npu(), torch.Stream(device="npu")
        torch.npu.synchronize()
        with check.trace(values=True) as trace:
            twice = torch.ops.npu.my_add(on_npu, on_npu)
            z = torch.empty_like(on_npu)
            load("add.cpp", "add_float")[1, stream](on_npu, on_npu, z, 256)
        self.assertEqual(sorted({step.kernel for step in trace.steps}), ["add_float", "my_add_float"])
        self.assertEqual(sorted({step.launch for step in trace.steps}), [0, 1])
        parts = [step.destinations[0].values.reshape(-1) for step in of(trace, "TADD") if step.kernel == "my_add_float"]
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), twice.cpu().numpy())

    def test_a_fault_leaves_the_sources_of_its_instruction(self):
        x = torch.arange(1024, dtype=torch.float32).reshape(16, 64).npu()
        with self.assertRaisesRegex(RuntimeError, "TLOAD: expected"), check.trace(values=True) as trace:
            traced("stops", defines=["STOPS"])[1](x, torch.empty_like(x))
        *done, last = trace.steps
        self.assertTrue(all(step.is_complete for step in done))
        self.assertEqual((last.name, last.is_complete), ("TLOAD", False))
        self.assertIsNone(last.destinations[0].values)
        self.assertIn("(did not end)", str(trace).splitlines()[-1])
        self.assertEqual(done[-1].name, "TSTORE")
        np.testing.assert_array_equal(done[0].sources[0].values, x.cpu().numpy())

    def test_an_exception_inside_keeps_what_was_queued(self):
        x = torch.ones(256, device="npu")
        with self.assertRaises(KeyError), check.trace() as trace:
            load("add.cpp", "add_float")[1](x, x, torch.empty_like(x), 256)
            raise KeyError("elsewhere")
        self.assertEqual([step.name for step in trace.steps], ["TLOAD", "TLOAD", "TADD", "TSTORE"])
        trace, *_ = self.add()
        self.assertEqual(len(trace), 4)

    def test_traces_do_not_nest(self):
        x = torch.ones(256, device="npu")
        with check.trace() as outer:
            with self.assertRaisesRegex(RuntimeError, "expected no other trace to be open"), check.trace():
                self.fail("a second trace was open")
            load("add.cpp", "add_float")[1](x, x, torch.empty_like(x), 256)
        self.assertEqual(len(outer), 4)

    def test_the_limit_ends_the_record_and_says_so(self):
        with self.assertWarnsRegex(RuntimeWarning, r"expected at most 20000 recorded bytes, got more"):
            trace, *_ = self.add(20000, limit=20000)
        self.assertFalse(trace.is_whole)
        self.assertTrue(0 < len(trace) < 100)
        self.assertIn("expected at most 20000 recorded bytes", str(trace))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertTrue(self.add(20000)[0].is_whole)

    def test_bad_requests_are_refused(self):
        for options, sentence in (
            ({"limit": 0}, r"number of bytes from 1 to \d+ as limit, got 0"),
            ({"limit": 1 << 64}, r"number of bytes from 1 to 18446744073709551615 as limit, got 18446744073709551616"),
            ({"blocks": [-1]}, "indices of blocks, got -1"),
            ({"blocks": 2.5}, "indices of blocks, got 2.5"),
            ({"kernels": [3]}, "names of kernels, got 3"),
            ({"kernels": b"x"}, "names of kernels, got b'x'"),
            ({"instructions": []}, "names of instructions, or None for all, got none"),
        ):
            with self.subTest(options), self.assertRaisesRegex(ValueError, sentence), check.trace(**options):
                pass

    def test_random_order_gives_the_same_operands(self):
        trace, *_ = self.add(1000)
        with check.random_order(3):
            other, *_ = self.add(1000)
        self.assertTrue(trace.compare(other), str(trace.compare(other)))
        self.assertTrue(all(step.is_complete for step in other.steps))
        self.assertTrue(other.compare({"TADD": np.add}))

    def test_other_observers_see_what_they_saw(self):
        with check.count_instructions() as counts, check.hazards():
            self.add(1000)
        self.assertEqual(counts["TADD"].elements, 1000)


if __name__ == "__main__":
    unittest.main()
