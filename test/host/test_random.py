# SPDX-License-Identifier: Apache-2.0
import unittest

import torch
from torch.testing import assert_close

import npu_backend  # noqa: F401

DRAWS = {
    "randn": lambda device, **k: torch.randn(1000, device=device, **k),
    "rand": lambda device, **k: torch.rand(1000, device=device, **k),
    "randint": lambda device, **k: torch.randint(0, 100, (1000,), device=device, **k),
    "randperm": lambda device, **k: torch.randperm(1000, device=device, **k),
    "bernoulli_": lambda device, **k: torch.empty(1000, device=device).bernoulli_(0.3, **k),
    "exponential_": lambda device, **k: torch.empty(1000, device=device).exponential_(**k),
    "multinomial": lambda device, **k: torch.ones(50, device=device).multinomial(20, **k),
    "normal": lambda device, **k: torch.normal(torch.ones(1000, device=device), 2.0, **k),
}


class RandomTest(unittest.TestCase):
    def test_equal_seeds_draw_the_numbers_of_cpu(self):
        for name, draw in DRAWS.items():
            with self.subTest(draw=name):
                torch.manual_seed(11)
                expected = draw("cpu")
                torch.manual_seed(11)
                assert_close(draw("npu").cpu(), expected, rtol=0, atol=0)

    def test_generators_draw_the_numbers_of_cpu(self):
        for name, draw in DRAWS.items():
            with self.subTest(draw=name):
                actual = draw("npu", generator=torch.Generator("npu").manual_seed(4))
                expected = draw("cpu", generator=torch.Generator().manual_seed(4))
                assert_close(actual.cpu(), expected, rtol=0, atol=0)

    def test_dropout_draws_the_numbers_of_cpu(self):
        x = torch.randn(1000)
        torch.manual_seed(2)
        expected = torch.nn.functional.dropout(x, 0.3)
        torch.manual_seed(2)
        assert_close(torch.nn.functional.dropout(x.npu(), 0.3).cpu(), expected)

    def test_dropout_of_p_0_and_1_and_in_evaluation(self):
        x = torch.ones(8, device="npu", requires_grad=True)
        for p, training, value in ((0.0, True, 1.0), (1.0, True, 0.0), (0.5, False, 1.0)):
            y = torch.nn.functional.dropout(x, p, training)
            (gradient,) = torch.autograd.grad(y.sum(), x)
            self.assertEqual((y.tolist(), gradient.tolist()), ([value] * 8, [value] * 8))

    def test_draws_on_cpu_do_not_disturb_npu(self):
        torch.npu.manual_seed(5)
        expected = torch.randn(10, device="npu")
        torch.npu.manual_seed(5)
        torch.randn(10)
        self.assertTrue(torch.equal(torch.randn(10, device="npu"), expected))

    def test_devices_have_streams_of_their_own(self):
        torch.npu.manual_seed_all(6)
        first = torch.randn(4, device="npu:0")
        torch.randn(4, device="npu:0")
        self.assertEqual(torch.randn(4, device="npu:1").tolist(), first.tolist())

    def test_state_is_saved_and_restored(self):
        for index in (0, 1):
            state = torch.npu.get_rng_state(index)
            self.assertEqual((state.dtype, state.device.type), (torch.uint8, "cpu"))
            first = torch.rand(3, device=f"npu:{index}")
            torch.npu.set_rng_state(state, index)
            self.assertTrue(torch.equal(torch.rand(3, device=f"npu:{index}"), first))
        states = torch.npu.get_rng_state_all()
        self.assertEqual(len(states), torch.npu.device_count())
        torch.npu.set_rng_state_all(states)

    def test_fork_rng_restores_the_generators(self):
        torch.npu.manual_seed(1)
        with torch.random.fork_rng(devices=[0], device_type="npu"):
            first = torch.rand(3, device="npu")
        self.assertTrue(torch.equal(torch.rand(3, device="npu"), first))

    def test_initial_seed_is_what_was_set(self):
        torch.manual_seed(123)
        self.assertEqual(torch.npu.initial_seed(), 123)
        self.assertEqual(torch.npu.default_generators[1].initial_seed(), 123)
        torch.npu.seed()
        self.assertNotEqual(torch.npu.initial_seed(), 123)

    def test_generator_of_another_device_is_refused(self):
        for generator in (torch.Generator(), torch.Generator("npu:1")):
            with self.assertRaisesRegex(RuntimeError, "generator"):
                torch.rand(2, device="npu:0", generator=generator)

    def test_checkpoint_repeats_the_draws(self):
        x = torch.randn(16, device="npu", requires_grad=True)
        y = torch.utils.checkpoint.checkpoint(torch.nn.functional.dropout, x, use_reentrant=False)
        kept = y.detach() != 0
        y.sum().backward()
        self.assertTrue(torch.equal(x.grad != 0, kept))


if __name__ == "__main__":
    unittest.main()
