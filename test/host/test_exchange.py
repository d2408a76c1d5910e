# SPDX-License-Identifier: Apache-2.0
import copy
import io
import pickle
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy
import torch
from torch import nn
from torch.testing import assert_close
from torch.utils.data import DataLoader, TensorDataset

import npu_backend  # noqa: F401

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import output_of, run_python


class DlpackTest(unittest.TestCase):
    """Trial 5."""

    def test_device_is_kDLExtDev(self):
        for index in (0, 1):
            code, got = torch.ones(2, device=f"npu:{index}").__dlpack_device__()
            self.assertEqual((int(code), got), (12, index))
        code, index = torch.arange(6.0, device="npu").__dlpack_device__()
        self.assertEqual((int(code), index), (12, 0))
        self.assertEqual(int(torch.ones(2).__dlpack_device__()[0]), 1)

    def test_from_dlpack_shares_memory_and_keeps_strides(self):
        x = torch.arange(6.0, device="npu").view(2, 3).t()
        y = torch.from_dlpack(x)
        self.assertEqual((y.device, y.stride()), (x.device, x.stride()))
        x[0, 0] = 9
        y[2, 1] = 7
        self.assertEqual((y[0, 0].item(), x[2, 1].item()), (9.0, 7.0))
        assert_close((y + 1).cpu(), x.cpu() + 1)

    def test_capsule_of_a_freed_tensor_stays_valid(self):
        y = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(torch.arange(3.0, device="npu")))
        self.assertEqual(y.tolist(), [0.0, 1.0, 2.0])

    def test_numpy_refuses_or_gets_a_copy_on_cpu(self):
        x = torch.arange(6.0, device="npu").view(2, 3).t()
        with self.assertRaisesRegex((BufferError, TypeError, RuntimeError), "Unsupported device"):  # numpy's own words
            numpy.from_dlpack(x)
        y = numpy.from_dlpack(x, device="cpu")
        self.assertEqual(y.tolist(), x.tolist())

    def test_copies_on_request_and_moves_to_cpu(self):
        x = torch.arange(3.0, device="npu")
        y = torch.from_dlpack(x, copy=True)
        y[0] = 9
        self.assertEqual((y.device, x[0].item()), (x.device, 0.0))
        self.assertEqual(torch.from_dlpack(x, device="cpu", copy=True).device.type, "cpu")


class SerializationTest(unittest.TestCase):
    """Trial 19."""

    def saved(self, value):
        file = io.BytesIO()
        torch.save(value, file)
        return file.getvalue()

    def load(self, data, **options):
        return torch.load(io.BytesIO(data), **options)

    def test_loads_to_where_it_was_or_where_asked(self):
        data = self.saved({"w": torch.arange(6.0, device="npu:1")[2:], "p": nn.Parameter(torch.ones(2, device="npu"))})
        for options, device in [
            ({}, "npu:1"),
            ({"map_location": "cpu"}, "cpu"),
            ({"map_location": "npu:0"}, "npu:0"),
            ({"map_location": torch.device("npu", 1)}, "npu:1"),
            ({"map_location": "npu"}, "npu:0"),
            ({"map_location": torch.device("npu")}, "npu:0"),
            ({"map_location": {"npu:1": "cpu"}}, "cpu"),
            ({"map_location": {"npu:1": "npu:0"}}, "npu:0"),
            ({"map_location": lambda storage, _: storage}, "cpu"),
            ({"map_location": lambda storage, _: storage.npu(0)}, "npu:0"),
            ({"map_location": lambda storage, _: None}, "npu:1"),
            ({"weights_only": True}, "npu:1"),
            ({"weights_only": True, "map_location": "npu:0"}, "npu:0"),
        ]:
            with self.subTest(**{k: str(v) for k, v in options.items()}):
                loaded = self.load(data, **options)
                self.assertEqual(loaded["w"].device, torch.device(device))
                self.assertEqual(loaded["w"].tolist(), [2.0, 3.0, 4.0, 5.0])
                self.assertIsInstance(loaded["p"], nn.Parameter)

    def test_views_keep_sharing(self):
        x = torch.zeros(4, device="npu")
        a, b = self.load(self.saved((x[:2], x[1:])))
        a.fill_(5)
        self.assertEqual(b.tolist(), [5.0, 0.0, 0.0])

    def test_missing_device_is_an_error(self):
        data = self.saved(torch.ones(2, device="npu"))
        for place, sentence in (("npu:9", "NPU device 9"), ("npu1", "npu1")):
            with self.assertRaisesRegex(RuntimeError, sentence):
                self.load(data, map_location=place)

    def test_tensors_of_cpu_and_from_a_mapped_file_load_to_npu(self):
        self.assertEqual(self.load(self.saved(torch.ones(2)), map_location="npu:1").device.index, 1)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "tensors.pt")
            torch.save(torch.arange(4.0, device="npu"), file)
            self.assertEqual(torch.load(file, mmap=True, map_location="cpu").npu().tolist(), [0.0, 1.0, 2.0, 3.0])

    def test_loads_on_cpu_without_the_package(self):
        data = self.saved(torch.arange(3.0, device="npu"))
        code = (
            "import io, sys, torch\n"
            f"x = torch.load(io.BytesIO({data!r}), map_location='cpu')\n"
            "print(x.tolist(), hasattr(torch, 'npu'))"
        )
        self.assertEqual(output_of(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0").strip(), "[0.0, 1.0, 2.0] False")

    def test_loading_without_the_package_names_npu(self):
        data = self.saved(torch.arange(3.0, device="npu"))
        done = run_python(f"import io, torch\ntorch.load(io.BytesIO({data!r}))", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("npu", done.stderr)

    def test_modules_and_optimisers_are_copied_and_pickled(self):
        model = nn.Linear(3, 2).npu()
        optimiser = torch.optim.Adam(model.parameters())
        model(torch.ones(1, 3, device="npu")).sum().backward()
        optimiser.step()
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            self.assertEqual(other.weight.device.type, "npu")
            assert_close(other.weight, model.weight, rtol=0, atol=0)
            self.assertNotEqual(other.weight.data_ptr(), model.weight.data_ptr())
        state = copy.deepcopy(optimiser.state_dict())
        torch.optim.Adam(model.parameters()).load_state_dict(state)
        for other in (copy.deepcopy(optimiser), pickle.loads(pickle.dumps(optimiser))):
            (weight, _), (own, _) = (o.param_groups[0]["params"] for o in (optimiser, other))
            self.assertEqual(own.device, weight.device)
            for name, value in optimiser.state[weight].items():
                self.assertEqual(other.state[own][name].device, value.device)
                assert_close(other.state[own][name], value, rtol=0, atol=0)
            own.grad = weight.grad.clone()
            before = own.detach().clone()
            other.step()
            self.assertFalse(torch.equal(own, before))

    def test_tensors_storages_and_generators_are_copied_and_pickled(self):
        x = torch.arange(3.0, device="npu:1")
        generator = torch.Generator("npu:1").manual_seed(5)
        for duplicate in (copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))):
            y = duplicate(x)
            self.assertEqual((y.device, y.tolist()), (x.device, x.tolist()))
            self.assertNotEqual(y.data_ptr(), x.data_ptr())
            self.assertEqual(duplicate(torch.device("npu:1")), x.device)
            self.assertEqual(duplicate(torch.npu.get_device_properties()), torch.npu.get_device_properties())
        self.assertEqual(copy.deepcopy(x.untyped_storage()).device, x.device)
        drawn = [torch.rand(3, device="npu:1", generator=g) for g in (pickle.loads(pickle.dumps(generator)), generator)]
        self.assertTrue(torch.equal(*drawn))
        with self.assertRaisesRegex(RuntimeError, "expected offset 0, got 4"):
            generator.set_offset(4)


class Batch:
    """A batch of a type of the user's own."""

    def __init__(self, samples):
        self.values = torch.stack([value for (value,) in samples])

    def pin_memory(self):
        self.values = self.values.pin_memory()
        return self


class PinnedMemoryTest(unittest.TestCase):
    """Trial 22."""

    def test_tensors_are_pinned(self):
        x = torch.arange(3.0)
        self.assertFalse(x.is_pinned())
        pinned = x.pin_memory()
        self.assertTrue(pinned.is_pinned())
        self.assertTrue(torch.empty(4, pin_memory=True)[1:].is_pinned())
        self.assertEqual(pinned.npu(non_blocking=True).tolist(), [0.0, 1.0, 2.0])

    def test_pin_of_an_npu_tensor_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "pin"):
            torch.ones(2, device="npu").pin_memory()
        with self.assertRaisesRegex(RuntimeError, "Only dense CPU tensors can be pinned"):
            torch.empty(2, device="npu", pin_memory=True)

    def test_loader_pins_its_batches(self):
        loader = DataLoader(TensorDataset(torch.arange(8.0)), 4, pin_memory=True, num_workers=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertTrue(next(iter(loader))[0].is_pinned())
            batches = [batch for (batch,) in loader]
        self.assertTrue(all(batch.is_pinned() for batch in batches))
        self.assertEqual(torch.cat(batches).tolist(), list(range(8)))

    def test_loader_pins_batches_of_the_user_without_a_warning(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loader = DataLoader(TensorDataset(torch.arange(6.0)), 3, pin_memory=True, collate_fn=Batch)
            batches = [batch.values for batch in loader]
        self.assertEqual([batch.is_pinned() for batch in batches], [True, True])
        self.assertEqual(batches[1].npu(non_blocking=True).tolist(), [3.0, 4.0, 5.0])


if __name__ == "__main__":
    unittest.main()
