# SPDX-License-Identifier: Apache-2.0
"""Trains a small residual net on handwritten digits, on npu and beside it on cpu, from one seed.

On npu the bias and the residual connection are ``torch.ops.npu.my_add``: a tile kernel on emulated AI cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from tqdm import tqdm

import op_extension

FEATURES, HIDDEN, CLASSES = 64, 128, 10
TEST_EVERY = 5  # one sample in five is kept for the test


class ResidualNet(nn.Module):
    """Two layers with a residual connection, and a classifier.

    Args:
        add: sum of two tensors that broadcast.
    """

    def __init__(self, add: Callable[[Tensor, Tensor], Tensor]) -> None:
        """Makes the layers with random weights."""
        super().__init__()
        self.add = add
        self.enter = nn.Linear(FEATURES, HIDDEN, bias=False)
        self.bias = nn.Parameter(torch.zeros(HIDDEN))
        self.inner = nn.Linear(HIDDEN, HIDDEN)
        self.leave = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """Logits ``(N, 10)`` of images ``(N, 64)``."""
        h = self.add(self.enter(x), self.bias).relu()
        return self.leave(self.add(h, self.inner(h).relu()))

    ADDS = 2  # calls of add per forward; the one with the bias sums its gradient over the batch


@dataclass
class Epoch:
    """What an epoch ended with."""

    loss: float
    accuracy: float


class Digits:
    """The digits that come with scikit-learn: 1797 images of 8 x 8 pixels."""

    def __init__(self) -> None:
        """Reads the images and keeps one in five for the test."""
        images, labels = load_digits(return_X_y=True)
        x, y = torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels)
        test = torch.arange(len(y)) % TEST_EVERY == 0
        self.train_x, self.train_y = x[~test], y[~test]
        self.test_x, self.test_y = x[test], y[test]

    def batches(self, size: int, seed: int) -> list[Tensor]:
        """Indices of the training images, shuffled, in pieces of ``size``."""
        order = torch.randperm(len(self.train_y), generator=torch.Generator().manual_seed(seed))
        return list(order.split(size))


class Training:
    """One net on one device."""

    def __init__(self, device: str, add: Callable[[Tensor, Tensor], Tensor], digits: Digits, seed: int) -> None:
        """Makes the net from ``seed`` on cpu, so that nets on all devices start equal."""
        torch.manual_seed(seed)
        self.device = device
        self.digits = digits
        self.net = ResidualNet(add).to(device)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)

    def step(self, batch: Tensor) -> float:
        """One step on the images ``batch``; the loss."""
        x, y = self.digits.train_x[batch].to(self.device), self.digits.train_y[batch].to(self.device)
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def accuracy(self) -> float:
        """Share of the test images that the net names right."""
        guess = self.net(self.digits.test_x.to(self.device)).argmax(dim=1)
        return (guess.cpu() == self.digits.test_y).float().mean().item()


def train(epochs: int, batch_size: int, seed: int) -> Iterator[dict[str, Epoch]]:
    """Trains on both devices at once; yields what each ended an epoch with, by device."""
    digits = Digits()
    trainings = [
        Training("npu", torch.ops.npu.my_add, digits, seed),
        Training("cpu", torch.add, digits, seed),
    ]
    for epoch in range(epochs):
        batches = digits.batches(batch_size, seed + epoch)
        losses = {training.device: 0.0 for training in trainings}
        # disable=None: no bar where the output is no terminal
        for batch in tqdm(batches, desc=f"epoch {epoch + 1:2}/{epochs}", leave=False, disable=None):
            for training in trainings:
                losses[training.device] += training.step(batch) / len(batches)
        yield {t.device: Epoch(losses[t.device], t.accuracy()) for t in trainings}


def launches() -> tuple[int, int]:
    """Launches of the tile kernels so far, as the runtime counts them: forward, backward."""
    count = op_extension.check.launch_count
    return count("my_add_float"), count("sum_to_float")


def at_least_one(text: str) -> int:
    """A number of epochs or samples."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {number}")
    return number


def main() -> int:
    """Runs the demo; the exit code tells whether npu learned as cpu did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=at_least_one, default=12)
    parser.add_argument("--batch-size", type=at_least_one, default=32)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    print("epoch   npu loss  npu accuracy   cpu loss  cpu accuracy")
    for number, epoch in enumerate(train(options.epochs, options.batch_size, options.seed), start=1):
        npu, cpu = epoch["npu"], epoch["cpu"]
        print(f"{number:5}   {npu.loss:8.4f}  {npu.accuracy:12.3f}   {cpu.loss:8.4f}  {cpu.accuracy:12.3f}", flush=True)
    forward, backward = launches()
    print(f"device: {torch.npu.get_device_name()}")
    print(f"accuracy: {npu.accuracy:.3f} on npu, {cpu.accuracy:.3f} on cpu")
    print(f"launches of the tile kernels: {forward} forward, {backward} backward")
    if npu.accuracy < 0.95:
        print(f"demo: expected an accuracy of at least 0.95 on npu, got {npu.accuracy:.3f}; more --epochs help")
        return 1
    if abs(npu.accuracy - cpu.accuracy) > 0.02:
        print(f"demo: expected accuracies at most 0.02 apart, got {abs(npu.accuracy - cpu.accuracy):.3f}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
