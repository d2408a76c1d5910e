# SPDX-License-Identifier: Apache-2.0
import copy
import threading
import unittest
import warnings

import torch
from torch import nn
from torch.testing import assert_close

import npu_backend  # noqa: F401
import op_extension  # noqa: F401  (registers my_add)


def mlp():
    return nn.Sequential(nn.Linear(10, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3))


def cnn():
    # No bias in front of a normalisation: its gradient is rounding noise, which Adam scales up.
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 3, groups=2, bias=False), nn.GroupNorm(2, 4), nn.Flatten(), nn.Linear(16, 3),
    )  # fmt: skip


OPTIMISERS = {
    "SGD": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    "SGD foreach": lambda p: torch.optim.SGD(p, 0.1, foreach=True),
    "Adam fused": lambda p: torch.optim.Adam(p, 0.01, fused=True),
    "AdamW": lambda p: torch.optim.AdamW(p, 0.01),
    "RMSprop": lambda p: torch.optim.RMSprop(p, 0.01),
}


def train(model, optimiser, inputs, labels, steps=3):
    optimiser = optimiser(model.parameters())
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
    return losses


class TrainingTest(unittest.TestCase):
    def check_equals_cpu(self, make, optimiser, shape):
        torch.manual_seed(7)
        on_cpu = make()
        on_npu = copy.deepcopy(on_cpu).npu()
        inputs, labels = torch.randn(8, *shape), torch.arange(8) % 3
        expected = train(on_cpu, optimiser, inputs, labels)
        losses = train(on_npu, optimiser, inputs.npu(), labels.npu())
        assert_close(torch.tensor(losses), torch.tensor(expected))
        for p, q in zip(on_npu.parameters(), on_cpu.parameters(), strict=True):
            self.assertEqual(p.grad.device.type, "npu")
            assert_close(p.cpu(), q, rtol=1e-4, atol=1e-5)

    def test_steps_equal_those_on_cpu(self):
        for name, optimiser in OPTIMISERS.items():
            with self.subTest(model="mlp", optimiser=name):
                self.check_equals_cpu(mlp, optimiser, (10,))
            with self.subTest(model="cnn", optimiser=name):
                self.check_equals_cpu(cnn, optimiser, (1, 8, 8))

    def test_gradients_of_layers_equal_those_on_cpu(self):
        for name, make, shape in [
            ("LSTM", lambda: nn.LSTM(4, 6, 2, bidirectional=True), (5, 2, 4)),
            ("GRU", lambda: nn.GRU(4, 6, 2), (5, 2, 4)),
            ("LSTMCell", lambda: nn.LSTMCell(4, 6), (5, 4)),
            ("GRUCell", lambda: nn.GRUCell(4, 6, bias=False), (5, 4)),
            ("TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), (5, 2, 8)),
            ("ConvTranspose2d", lambda: nn.ConvTranspose2d(3, 4, 3, stride=2), (2, 3, 5, 5)),
            ("Conv1d", lambda: nn.Conv1d(4, 4, 3, groups=4), (2, 4, 9)),
            ("Conv3d", lambda: nn.Conv3d(1, 2, 2), (1, 1, 4, 4, 4)),
        ]:
            with self.subTest(layer=name):
                torch.manual_seed(3)
                on_cpu = make()
                on_npu, inputs = copy.deepcopy(on_cpu).npu(), torch.randn(shape)
                outputs = [m(x) for m, x in ((on_cpu, inputs), (on_npu, inputs.npu()))]
                expected, actual = (o[0] if isinstance(o, tuple) else o for o in outputs)
                assert_close(actual.cpu(), expected)
                expected.square().sum().backward()
                actual.square().sum().backward()
                for p, q in zip(on_npu.parameters(), on_cpu.parameters(), strict=True):
                    assert_close(p.grad.cpu(), q.grad, rtol=1e-4, atol=1e-5)

    def test_parameters_stay_the_same_objects_when_their_module_moves(self):
        module = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
        weight = module.weight
        module.npu()
        self.assertIs(module.weight, weight)
        self.assertEqual(weight.device.type, "npu")
        before = weight.detach().clone()
        module(torch.ones(1, 3, device="npu")).sum().backward()
        optimizer.step()  # it was made before the module moved
        assert_close(weight.detach(), before - 0.5, rtol=0, atol=0)
        module.cpu()
        self.assertIs(module.weight, weight)
        self.assertEqual(weight.device.type, "cpu")

    def test_packed_sequence_keeps_batch_sizes_on_cpu(self):
        packed = nn.utils.rnn.pack_padded_sequence(torch.randn(4, 2, 3, device="npu"), [4, 2])
        self.assertEqual((packed.data.device.type, packed.batch_sizes.device.type), ("npu", "cpu"))
        output, _ = nn.LSTM(3, 5).npu()(packed)
        self.assertEqual(output.data.shape, (6, 5))

    def test_backward_in_several_threads(self):
        torch.manual_seed(5)
        model, errors, results = mlp().npu(), [], {}
        inputs = torch.randn(8, 10)

        def work(index):
            try:
                own = copy.deepcopy(model)
                for _ in range(20):
                    own.zero_grad()
                    own(inputs.npu()).sum().backward()
                results[index] = [p.grad.cpu() for p in own.parameters()]
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        for index in range(1, 4):
            for a, b in zip(results[0], results[index], strict=True):
                assert_close(a, b, rtol=0, atol=0)

    def test_double_backward_and_hessian(self):
        x = torch.tensor([2.0, 3.0], device="npu")
        hessian = torch.autograd.functional.hessian(lambda t: (t**3).sum(), x)
        self.assertEqual(hessian.tolist(), [[12.0, 0.0], [0.0, 18.0]])


class MixedPrecisionTest(unittest.TestCase):
    """Trial 10."""

    def test_losses_and_normalisations_are_computed_in_float(self):
        x = torch.randn(4, 4, device="npu")
        with torch.autocast("npu", dtype=torch.float16), warnings.catch_warnings():
            warnings.simplefilter("error")
            half = x @ x
            for name, function in {
                "softmax": lambda: half.softmax(-1),
                "log_softmax": lambda: half.log_softmax(-1),
                "mse": lambda: nn.functional.mse_loss(half, half * 2),
                "smooth l1": lambda: nn.functional.smooth_l1_loss(half, half * 2),
                "layer norm": lambda: nn.functional.layer_norm(half, (4,)),
                "sum": half.sum,
                "cat": lambda: torch.cat([half, x]),
                "stack": lambda: torch.stack([half, x]),
            }.items():
                with self.subTest(function=name):
                    self.assertEqual(function().dtype, torch.float32)

    def test_can_be_switched_off_inside(self):
        x = torch.randn(4, 4, device="npu")
        with torch.autocast("npu"):
            with torch.autocast("npu", enabled=False):
                self.assertEqual((x @ x).dtype, torch.float32)
            self.assertEqual((x @ x).dtype, torch.float16)
            self.assertEqual((x.cpu() @ x.cpu()).dtype, torch.float32)

    def test_another_dtype_warns_and_leaves_it_off(self):
        x = torch.randn(4, 4, device="npu")
        with self.assertWarnsRegex(UserWarning, "npu Autocast only supports dtypes of torch.float16, torch.bfloat16"):
            context = torch.autocast("npu", dtype=torch.float64)
        with context:
            self.assertEqual((x @ x).dtype, torch.float32)

    def test_my_add_computes_in_the_dtype_of_its_operands(self):
        x = torch.randn(4, device="npu")
        with torch.autocast("npu", dtype=torch.float16):
            self.assertEqual(torch.ops.npu.my_add(x, x).dtype, torch.float32)
            self.assertEqual(torch.ops.npu.my_add(x.half(), x.half()).dtype, torch.float16)

    def test_backward_of_a_graph_in_half_precision(self):
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).npu()
        scaler = torch.amp.GradScaler("npu")
        with torch.autocast("npu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(torch.randn(3, 4, device="npu")), torch.tensor([0, 1, 0]).npu())
        scaler.scale(loss).backward()
        for parameter in model.parameters():
            self.assertEqual((parameter.grad.dtype, parameter.grad.isfinite().all().item()), (torch.float32, True))

    def test_autocast_chooses_the_dtype(self):
        x = torch.randn(4, 4, device="npu")
        for dtype in (torch.float16, torch.bfloat16):
            with self.subTest(dtype=dtype), torch.autocast("npu", dtype=dtype):
                self.assertEqual((x @ x).dtype, dtype)
                self.assertEqual(nn.functional.linear(x, x).dtype, dtype)
                self.assertEqual((x @ x).softmax(0).dtype, torch.float32)
                self.assertEqual((x @ x).exp().dtype, torch.float32)
                self.assertEqual(torch.addcmul(x, (x @ x), (x @ x)).dtype, torch.float32)
                self.assertEqual((x @ x).relu().dtype, dtype)
                self.assertEqual(torch.empty(2, device="npu").fill_(1).dtype, torch.float32)
        self.assertEqual((x @ x).dtype, torch.float32)

    def test_binary_cross_entropy_is_refused_under_autocast(self):
        x = torch.rand(3, device="npu")
        with torch.autocast("npu"), self.assertRaisesRegex(RuntimeError, "unsafe to autocast"):
            nn.functional.binary_cross_entropy(x, x)

    def test_scaler_skips_a_step_with_infinite_gradients(self):
        model = nn.Linear(3, 1).npu()
        optimiser = torch.optim.SGD(model.parameters(), 0.1)
        scaler = torch.npu.amp.GradScaler(init_scale=2.0)
        before = model.weight.detach().clone()
        for factor, changes in ((float("inf"), False), (1.0, True)):
            optimiser.zero_grad()
            with torch.npu.amp.autocast():
                loss = (model(torch.ones(2, 3, device="npu")) * factor).sum()
            scaler.scale(loss).backward()
            scaler.step(optimiser)
            scaler.update()
            self.assertEqual(not torch.equal(model.weight, before), changes)
        self.assertEqual(scaler.get_scale(), 1.0)


if __name__ == "__main__":
    unittest.main()
