# SPDX-License-Identifier: Apache-2.0
"""A training script as people write it for an accelerator: a small network for digits, loaders, optimiser, schedule."""

import unittest

import torch
from torch import nn
from torch.nn import functional
from torch.testing import assert_close
from torch.utils.data import DataLoader, TensorDataset

import npu_backend  # noqa: F401

CLASSES = 10
SIDE = 28  # pixels


def digits(count, seed):
    """Images of ten shapes under noise, and which shape each shows."""
    shapes = torch.randn(CLASSES, 1, SIDE, SIDE, generator=torch.Generator().manual_seed(99))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, CLASSES, (count,), generator=generator)
    noise = 0.5 * torch.randn(count, 1, SIDE, SIDE, generator=generator)
    return TensorDataset(shapes[labels] + noise, labels)


class DigitNet(nn.Module):
    """Two convolutions and two linear layers, with dropout behind each pair."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25)
        )
        self.classify = nn.Sequential(
            nn.Flatten(), nn.Linear(16 * 12 * 12, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, CLASSES)
        )

    def forward(self, images):
        return functional.log_softmax(self.classify(self.features(images)), dim=1)


class DigitTraining:
    """The same training on any device. Seeds are set per step, since npu draws from a generator of its own."""

    def __init__(self, device):
        self.device = torch.device(device)
        torch.manual_seed(1)
        self.model = DigitNet().to(self.device)
        self.optimiser = torch.optim.Adadelta(self.model.parameters(), lr=0.5)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimiser, step_size=1, gamma=0.7)
        options = {"batch_size": 32, "pin_memory": True, "num_workers": 1}
        order = torch.Generator().manual_seed(2)
        self.train_batches = DataLoader(digits(192, seed=3), shuffle=True, generator=order, **options)
        self.test_batches = DataLoader(digits(96, seed=4), **options)

    def batches(self, loader):
        for images, labels in loader:
            yield (
                images.to(self.device, non_blocking=True),
                labels.to(self.device, non_blocking=True),
            )

    def train(self):
        """Losses of one pass over the training data."""
        losses = []
        self.model.train()
        for step, (images, labels) in enumerate(self.batches(self.train_batches)):
            torch.manual_seed(step)
            self.optimiser.zero_grad()
            loss = functional.nll_loss(self.model(images), labels)
            loss.backward()
            self.optimiser.step()
            losses.append(loss.item())
        self.schedule.step()
        return losses

    def evaluate(self):
        """Mean loss and number of right answers over the test data."""
        loss, right = 0.0, 0
        self.model.eval()
        with torch.no_grad():
            for images, labels in self.batches(self.test_batches):
                scores = self.model(images)
                loss += functional.nll_loss(scores, labels, reduction="sum").item()
                right += scores.argmax(dim=1).eq(labels).sum().item()
        return loss / len(self.test_batches.dataset), right


class DigitsTest(unittest.TestCase):
    def test_losses_and_answers_equal_those_on_cpu(self):
        on_cpu, on_npu = DigitTraining("cpu"), DigitTraining("npu")
        answers = []
        for epoch in range(2):
            with self.subTest(epoch=epoch):
                expected, losses = on_cpu.train(), on_npu.train()
                assert_close(losses, expected, rtol=1e-4, atol=1e-5)
                (expected_loss, expected_right), (loss, right) = on_cpu.evaluate(), on_npu.evaluate()
                self.assertAlmostEqual(loss, expected_loss, delta=1e-4)
                self.assertEqual(right, expected_right)
                answers.append(right)
        self.assertGreater(answers[1], answers[0])
        self.assertGreater(answers[1], 96 // 2)  # of 96; by chance one in ten
        self.assertEqual({p.device.type for p in on_npu.model.parameters()}, {"npu"})


if __name__ == "__main__":
    unittest.main()
