# SPDX-License-Identifier: Apache-2.0
"""check.trace: operands in the tiles of a cube core, whose valid regions end within boxes."""

import sys
import unittest
from pathlib import Path

import numpy as np
import torch

from op_extension import check, kernel

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.kernel.kernels_of_test import KernelTest

HERE = Path(__file__).resolve().parent
SIZES = (
    ((20, 40, 24), (33, 17, 60)),
    ((1, 16, 16), (64, 80, 80)),
    ((16, 1, 80), (32, 32, 16)),
    ((48, 64, 1), (17, 16, 48)),
)


class TilesTest(KernelTest):
    def products(self, sizes, **defines):
        """The trace of traced_cube.cpp, with a, b and the results."""
        make = torch.Generator().manual_seed(1)
        a, b = torch.randn(64, 96, generator=make).half(), torch.randn(96, 80, generator=make).half()
        c = torch.zeros(2, 64, 80, device="npu")
        run = kernel.load(HERE / "traced_cube.cpp", entry="ragged", core="cube", defines=defines)
        with check.trace(values=True) as trace:
            run[1](a.npu(), b.npu(), c, torch.tensor(sizes, dtype=torch.int32).npu())
        return trace, a.numpy(), b.numpy(), c.cpu().numpy()

    def check_operand(self, operand, layout, want):
        """That it starts with the elements of want, in a tile of this layout, of which a compact one has no other."""
        self.assertEqual((operand.layout, operand.start), (layout, (0, 0)))
        if operand.tile.is_compact:
            self.assertEqual(operand.others, ())
        rows, columns = want.shape
        np.testing.assert_array_equal(operand.values[:rows, :columns], want)

    def check_products(self, sizes, is_compact):
        trace, a, b, c = self.products(sizes, **({"COMPACT": 1} if is_compact else {}))
        steps, first = iter(trace.steps), 16 if is_compact else 0
        for whole in (a, b):
            (loaded,) = next(steps).destinations
            self.check_operand(loaded, "NZ", whole)
            self.assertEqual((loaded.shape, loaded.tile.is_compact), (whole.shape, False))
        for (m, k, n), result in zip(sizes, c, strict=True):
            left, right = a[:m, first : first + k], b[first : first + k, :n]
            for part, layout in ((left, "ZZ"), (right, "ZN")):
                step = next(steps)
                self.check_operand(step.destinations[0], layout, part)
                self.assertEqual(step.destinations[0].tile.is_compact, is_compact)
                np.testing.assert_array_equal(step.sources[0].values[: part.shape[0], : part.shape[1]], part)
            once, twice, store = next(steps), next(steps), next(steps)
            for product in (once, twice):
                *_, of_left, of_right = product.sources
                self.check_operand(of_left, "ZZ", left)
                self.check_operand(of_right, "ZN", right)
                self.assertEqual((of_left.shape, of_right.shape), (left.shape, right.shape))
            for operand in (twice.destinations[0], store.sources[0]):
                self.check_operand(operand, "NZ", result[:m, :n])
                self.assertEqual((operand.shape, operand.tile.is_compact), ((m, n), is_compact))
            np.testing.assert_allclose(
                once.destinations[0].values, left.astype("f4") @ right.astype("f4"), rtol=1e-3, atol=1e-3
            )
            np.testing.assert_array_equal(once.destinations[0].values, twice.sources[0].values)
        self.assertEqual(list(steps), [])

    def test_ragged_operands_of_products(self):
        for sizes in SIZES:
            with self.subTest(sizes):
                self.check_products(sizes, is_compact=False)

    def test_ragged_operands_of_products_in_compact_tiles(self):
        for sizes in SIZES:
            with self.subTest(sizes):
                self.check_products(sizes, is_compact=True)

    def test_a_file_keeps_the_places_of_compact_tiles(self):
        trace, *_ = self.products(SIZES[0], COMPACT=1)
        path = self.source("", "products.npz")
        trace.save(path)
        loaded = check.Trace.load(path)
        self.assertEqual(str(loaded), str(trace))
        self.assertTrue(trace.compare(loaded))
        self.assertIn(
            True, {operand.tile.is_compact for step in loaded.steps for operand in step.operands if operand.tile}
        )


if __name__ == "__main__":
    unittest.main()
