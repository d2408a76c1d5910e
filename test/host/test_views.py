# SPDX-License-Identifier: Apache-2.0
import unittest

import torch
from torch.testing import assert_close

import npu_backend  # noqa: F401

VIEWS = {
    "slice": lambda x: x[1:, ::2],
    "transpose": lambda x: x.t(),
    "reshape": lambda x: x.view(-1),
    "expand": lambda x: x[:, :1].expand(4, 3),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "diagonal": lambda x: x.diagonal(),
    "as_strided": lambda x: x.as_strided((2, 2), (1, 6), 1),
    "split": lambda x: x.split(2)[1],
    "chunk": lambda x: x.chunk(2, 1)[0],
    "select": lambda x: x.select(0, 2),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "detach": lambda x: x.detach(),
    "view_dtype": lambda x: x.view(torch.int32),
    "view_as_complex": lambda x: torch.view_as_complex(x.view(4, 3, 2)),
    "alias": torch.ops.aten.alias.default,
}


class ViewTest(unittest.TestCase):
    def setUp(self):
        self.base = torch.arange(24.0).view(4, 6)

    def test_view_equals_that_on_cpu_and_shares_the_storage(self):
        for name, view in VIEWS.items():
            with self.subTest(view=name):
                x = self.base.npu()
                y, expected = view(x), view(self.base)
                self.assertEqual(y.stride(), expected.stride())
                self.assertEqual(y.storage_offset(), expected.storage_offset())
                self.assertEqual(y.untyped_storage()._cdata, x.untyped_storage()._cdata)
                assert_close(y.cpu(), expected, rtol=0, atol=0)

    def test_writing_through_a_view_changes_the_base(self):
        for name, view in VIEWS.items():
            if name == "expand":
                continue
            with self.subTest(view=name):
                x, expected = self.base.npu(), self.base.clone()
                view(x).zero_()
                view(expected).zero_()
                assert_close(x.cpu(), expected, rtol=0, atol=0)

    def test_in_place_and_out_return_the_same_tensor(self):
        x, out = torch.ones(3, device="npu"), torch.empty(3, device="npu")
        self.assertIs(x.add_(1), x)
        self.assertIs(torch.add(x, 1, out=out), out)
        self.assertEqual(out.tolist(), [3.0, 3.0, 3.0])

    def test_out_is_resized(self):
        for shape in ((0,), (2, 2)):
            with self.subTest(shape=shape):
                out = torch.empty(shape, device="npu")
                storage = out.untyped_storage()._cdata
                if shape == (0,):
                    torch.add(torch.ones(5, device="npu"), 1, out=out)
                else:
                    with self.assertWarns(UserWarning):
                        torch.add(torch.ones(5, device="npu"), 1, out=out)
                self.assertEqual(out.tolist(), [2.0] * 5)
                self.assertEqual(out.untyped_storage()._cdata, storage)
                self.assertEqual(out.untyped_storage().device.type, "npu")

    def test_a_kernel_that_returns_a_conjugate_view(self):
        torch.manual_seed(0)
        left, right = torch.randn(3, 3, dtype=torch.complex64), torch.randn(4, 3, dtype=torch.complex64)
        factors, pivots = torch.linalg.lu_factor(left)
        for adjoint in (False, True):
            with self.subTest(adjoint=adjoint):
                expected = torch.linalg.lu_solve(factors, pivots, right, left=False, adjoint=adjoint)
                x = torch.linalg.lu_solve(factors.npu(), pivots.npu(), right.npu(), left=False, adjoint=adjoint)
                self.assertEqual(x.is_conj(), expected.is_conj())
                assert_close(x.cpu(), expected, rtol=0, atol=0)

    def test_several_outputs_are_written(self):
        values, indices = torch.empty(0, device="npu"), torch.empty(0, dtype=torch.int64, device="npu")
        x = torch.tensor([[3.0, 1.0], [2.0, 5.0]], device="npu")
        torch.max(x, 1, out=(values, indices))
        self.assertEqual((values.tolist(), indices.tolist()), ([3.0, 5.0], [0, 1]))

    def test_the_same_tensor_as_input_and_output(self):
        x = torch.tensor([1.0, 2.0], device="npu")
        torch.mul(x, x, out=x)
        self.assertEqual(x.tolist(), [1.0, 4.0])

    def test_kernel_that_fails_after_a_resize_leaves_a_usable_tensor(self):
        out = torch.empty(0, device="npu")
        with self.assertRaises((RuntimeError, IndexError)):
            torch.index_select(torch.ones(4, device="npu"), 0, torch.tensor([9], device="npu"), out=out)
        out.resize_(100).fill_(2)
        self.assertEqual(out.sum().item(), 200)


class CopyTest(unittest.TestCase):
    def test_conjugate_and_negative_bits_survive_copies(self):
        x = torch.tensor([1 + 2j, 3 - 4j])
        for name, view in {"conj": torch.conj, "imag of conj": lambda t: t.conj().imag}.items():
            with self.subTest(view=name):
                expected = view(x).resolve_conj().resolve_neg()
                y = view(x.npu())
                for copied in (
                    y.cpu(),
                    y.clone().cpu(),
                    torch.empty_like(expected, device="npu").copy_(y).cpu(),
                    torch.empty_like(expected).copy_(y),
                    y.npu(1).cpu(),
                ):
                    assert_close(copied.resolve_conj().resolve_neg(), expected, rtol=0, atol=0)

    def test_copy_into_a_conjugate_view(self):
        x = torch.zeros(2, dtype=torch.complex64, device="npu")
        x.conj().copy_(torch.tensor([1 + 2j, 3j]))
        self.assertEqual(x.tolist(), [1 - 2j, -3j])

    def test_copy_converts_broadcasts_and_crosses_devices(self):
        x = torch.empty(2, 3, dtype=torch.float16, device="npu:1")
        x.copy_(torch.arange(3, device="npu:0"))
        self.assertEqual(x.tolist(), [[0.0, 1.0, 2.0]] * 2)

    def test_index_tensors_may_lie_on_cpu(self):
        x = torch.arange(4.0, device="npu")
        self.assertEqual(x[torch.tensor([0, 2])].tolist(), [0.0, 2.0])
        x[torch.tensor([1])] = 7
        x[x > 6] = -1
        self.assertEqual(x.tolist(), [0.0, -1.0, 2.0, 3.0])

    def test_other_tensors_may_not(self):
        for name, function in {
            "add": lambda: torch.ones(3, device="npu") + torch.ones(3),
            "matmul": lambda: torch.ones(3, 3, device="npu") @ torch.ones(3, 3),
            "two devices": lambda: torch.ones(3, device="npu") + torch.ones(3, device="npu:1"),
            "gather": lambda: torch.ones(3, device="npu").gather(0, torch.zeros(3, dtype=torch.int64)),
            "cat": lambda: torch.cat([torch.ones(3, device="npu"), torch.ones(3, device="npu:1")]),
        }.items():
            with (
                self.subTest(operation=name),
                self.assertRaisesRegex(RuntimeError, "Expected all tensors to be on the same device"),
            ):
                function()
        self.assertEqual((torch.ones(1, device="npu") + torch.tensor(2.0)).item(), 3)

    def test_numpy_of_an_npu_tensor_is_a_type_error(self):
        with self.assertRaises(TypeError):
            torch.ones(1, device="npu").numpy()


if __name__ == "__main__":
    unittest.main()
