# SPDX-License-Identifier: Apache-2.0
import copy
import io
import unittest

import torch
from torch.testing import assert_close

import npu_backend  # noqa: F401

COMPRESSED = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def some_dense():
    return torch.tensor([[0.0, 1.5, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, -4.0, 0.0], [0.0, 5.0, 0.0, 0.0]])


def compressed(dense, layout):
    blocks = (2, 2) if layout in (torch.sparse_bsr, torch.sparse_bsc) else None
    return dense.to_sparse(layout=layout, blocksize=blocks)


class CooTest(unittest.TestCase):
    def setUp(self):
        self.dense = some_dense()
        self.x = self.dense.npu().to_sparse()

    def test_parts_lie_on_the_device(self):
        self.assertEqual((self.x.device.type, self.x.layout), ("npu", torch.sparse_coo))
        self.assertEqual(self.x.indices().device, self.x.device)
        self.assertEqual(self.x.values().device, self.x.device)
        self.assertTrue(self.x.is_coalesced())
        assert_close(self.x.cpu(), self.dense.to_sparse(), rtol=0, atol=0)
        assert_close(self.x.to_dense().cpu(), self.dense, rtol=0, atol=0)

    def test_goes_to_the_device_and_back(self):
        on_cpu = self.dense.to_sparse()
        x = on_cpu.to("npu")
        self.assertEqual((x.device.type, x._nnz(), x.is_coalesced()), ("npu", 5, True))
        assert_close(x.cpu(), on_cpu, rtol=0, atol=0)
        x.values().zero_()
        self.assertEqual(on_cpu.values().abs().sum().item(), 15.5)  # a copy, not the same memory

    def test_is_made_of_given_indices_and_values_without_a_copy(self):
        indices = torch.tensor([[0, 1, 1], [2, 0, 0]], device="npu")
        values = torch.tensor([1.0, 2.0, 3.0], device="npu")
        x = torch.sparse_coo_tensor(indices, values, (2, 3))
        self.assertFalse(x.is_coalesced())
        self.assertEqual(x._values().data_ptr(), values.data_ptr())
        self.assertEqual(x._values().untyped_storage()._cdata, values.untyped_storage()._cdata)
        self.assertEqual(x.coalesce().to_dense().tolist(), [[0, 0, 1], [5, 0, 0]])
        self.assertEqual(torch.zeros(2, 3, layout=torch.sparse_coo, device="npu").to_dense().abs().sum().item(), 0)

    def test_in_place_operators_change_what_the_tensor_is_made_of(self):
        other = torch.eye(4).to_sparse()
        x, expected = self.x.clone(), self.dense.to_sparse()
        self.assertIs(x.add_(other.npu()), x)
        assert_close(x.to_dense().cpu(), expected.add_(other).to_dense(), rtol=0, atol=0)
        x.mul_(2.0)
        assert_close(x.to_dense().cpu(), expected.mul_(2.0).to_dense(), rtol=0, atol=0)
        values = x._values()
        x.neg_()
        assert_close(x.to_dense().cpu(), expected.neg_().to_dense(), rtol=0, atol=0)
        self.assertEqual(values.data_ptr(), x._values().data_ptr())
        x.zero_()
        self.assertEqual((x._nnz(), x.device.type), (0, "npu"))

    def test_products_and_sums_equal_those_on_cpu(self):
        on_cpu, right = self.dense.to_sparse(), torch.arange(12.0).view(4, 3)
        for name, f in {
            "mm": lambda s, d: s @ d,
            "sparse.mm": torch.sparse.mm,
            "addmm": lambda s, d: torch.addmm(torch.ones_like(d), s, d),
            "sum": lambda s, d: torch.sparse.sum(s, 1),
            "sparse times sparse": lambda s, d: s @ s,
            "product": lambda s, d: s * s,
            "scaled": lambda s, d: s * 2 + s,
            "t": lambda s, d: s.t(),
            "neg": lambda s, d: -s,
            "softmax": lambda s, d: torch.sparse.softmax(s, 1),
            "index_select": lambda s, d: s.index_select(0, torch.tensor([2, 0], device=s.device)),
            "cat": lambda s, d: torch.cat([s, s]),
        }.items():
            with self.subTest(operator=name):
                result, expected = f(self.x, right.npu()), f(on_cpu, right)
                self.assertEqual((result.device.type, result.layout), ("npu", expected.layout))
                assert_close(result.cpu().to_dense(), expected.to_dense(), rtol=0, atol=0)

    def test_gradients(self):
        right = torch.arange(12.0).view(4, 3)
        gradients = []
        for device in ("cpu", "npu"):
            dense = self.dense.clone().to(device).requires_grad_()
            weight = right.clone().to(device).requires_grad_()
            (torch.sparse.mm(dense.to_sparse(), weight) ** 2).sum().backward()
            gradients.append((dense.grad.cpu().to_dense(), weight.grad.cpu()))
        assert_close(gradients[1], gradients[0], rtol=0, atol=0)

    def test_embedding_with_sparse_gradient_trains(self):
        weights = []
        for device in ("cpu", "npu"):
            torch.manual_seed(0)
            embedding = torch.nn.Embedding(10, 3, sparse=True).to(device)
            optimizer = torch.optim.SparseAdam(embedding.parameters(), lr=0.1)
            for _ in range(3):
                optimizer.zero_grad()
                (embedding(torch.tensor([1, 4, 4, 7], device=device)) ** 2).sum().backward()
                self.assertTrue(embedding.weight.grad.is_sparse)
                optimizer.step()
            weights.append(embedding.weight.detach().cpu())
        assert_close(weights[1], weights[0], rtol=0, atol=0)

    def test_hybrid_and_empty_tensors(self):
        x = torch.sparse_coo_tensor(torch.tensor([[0, 2]]), torch.ones(2, 3), (4, 3), device="npu")
        self.assertEqual((x.sparse_dim(), x.dense_dim()), (1, 1))
        self.assertEqual(x.to_dense().sum().item(), 6)
        empty = torch.sparse_coo_tensor((2, 3), device="npu")
        self.assertEqual((empty.device.type, empty._nnz()), ("npu", 0))

    def test_copies_prints_and_pickles(self):
        assert_close(copy.deepcopy(self.x).cpu(), self.x.cpu(), rtol=0, atol=0)
        self.assertIn("device='npu:0'", repr(self.x))
        file = io.BytesIO()
        torch.save(self.x, file)
        file.seek(0)
        loaded = torch.load(file)
        self.assertEqual((loaded.device.type, loaded.layout), ("npu", torch.sparse_coo))
        assert_close(loaded.cpu(), self.x.cpu(), rtol=0, atol=0)

    def test_memory_is_the_device_s(self):
        del self.x
        before = torch.npu.memory_allocated()
        x = torch.ones(1000, 100, device="npu").to_sparse()
        expected = x._values().nbytes + x._indices().nbytes
        self.assertGreaterEqual(torch.npu.memory_allocated() - before, expected)
        del x
        self.assertEqual(torch.npu.memory_allocated(), before)

    def test_names_both_devices_on_mismatch(self):
        with self.assertRaisesRegex(RuntimeError, "npu:0.*cpu|cpu.*npu:0"):
            self.x @ torch.ones(4, 3)


class CompressedTest(unittest.TestCase):
    def test_every_layout_goes_there_and_back(self):
        dense = some_dense()
        for layout in COMPRESSED:
            with self.subTest(layout=layout):
                on_cpu = compressed(dense, layout)
                for x in (on_cpu.to("npu"), compressed(dense.npu(), layout)):
                    self.assertEqual((x.device.type, x.layout), ("npu", layout))
                    self.assertEqual(x.values().device, x.device)
                    assert_close(x.to_dense().cpu(), dense, rtol=0, atol=0)
                    assert_close(x.cpu(), on_cpu, rtol=0, atol=0)

    def test_is_made_of_given_parts(self):
        rows, columns = torch.tensor([0, 1, 2], device="npu"), torch.tensor([1, 0], device="npu")
        values = torch.tensor([1.0, 2.0], device="npu")
        x = torch.sparse_csr_tensor(rows, columns, values, (2, 2))
        self.assertEqual(x.values().data_ptr(), values.data_ptr())
        self.assertEqual(x.to_dense().tolist(), [[0, 1], [2, 0]])
        self.assertEqual(x.crow_indices().tolist(), [0, 1, 2])
        self.assertIn("device='npu:0'", repr(x))

    def test_wrong_parts_raise(self):
        rows, columns = torch.tensor([0, 1, 5], device="npu"), torch.tensor([1, 0], device="npu")
        with self.assertRaisesRegex(RuntimeError, "crow_indices"):
            torch.sparse_csr_tensor(rows, columns, torch.ones(2, device="npu"), (2, 2), check_invariants=True)

    def test_operators_equal_those_on_cpu(self):
        on_cpu, right = compressed(some_dense(), torch.sparse_csr), torch.arange(12.0).view(4, 3)
        for name, f in {
            "mm": lambda s, d: s @ d,
            "sampled_addmm": lambda s, d: torch.sparse.sampled_addmm(s, d, d.t()),
            "mm with reduction": lambda s, d: torch.sparse.mm(s, d, "amax"),
            "scaled": lambda s, d: s * 2,
            "sin": lambda s, d: s.sin(),
            "to coo": lambda s, d: s.to_sparse(),
            "to csc": lambda s, d: s.to_sparse_csc(),
            "clone": lambda s, d: s.clone(),
        }.items():
            with self.subTest(operator=name):
                result, expected = f(on_cpu.to("npu"), right.npu()), f(on_cpu, right)
                self.assertEqual((result.device.type, result.layout), ("npu", expected.layout))
                assert_close(result.cpu().to_dense(), expected.to_dense())

    def test_gradients_of_products(self):
        for reduction in (None, "sum", "mean", "amax", "amin"):
            with self.subTest(reduction=reduction):
                gradients = []
                for device in ("cpu", "npu"):
                    x = compressed(some_dense(), torch.sparse_csr).to(device).requires_grad_()
                    weight = torch.arange(12.0).view(4, 3).to(device).requires_grad_()
                    product = x @ weight if reduction is None else torch.sparse.mm(x, weight, reduction)
                    product.sum().backward()
                    gradients.append((x.grad.cpu().to_dense(), weight.grad.cpu()))
                assert_close(gradients[1], gradients[0])


if __name__ == "__main__":
    unittest.main()
