# SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional net on handwritten digits, on npu and beside it on cpu, from one seed.

On npu all layers are operators of ``torch.ops.npu``, forward and backward: tile kernels on emulated AI cores. It leaves
a checkpoint, which is read again on cpu, and a picture of the training curves.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm

import op_extension

matplotlib.use("Agg")  # pictures go to files
from matplotlib import pyplot

SIDE, CLASSES = 8, 10
CHANNELS = (16, 32)
TEST_EVERY = 5  # one sample in five is kept for the test


@dataclass(frozen=True)
class Operators:
    """The operators a net is made of."""

    conv: Callable[..., Tensor]
    relu: Callable[[Tensor], Tensor]
    gemm: Callable[[Tensor, Tensor], Tensor]
    add: Callable[[Tensor, Tensor], Tensor]


OURS = Operators(torch.ops.npu.my_conv, torch.ops.npu.my_relu, torch.ops.npu.my_gemm, torch.ops.npu.my_add)
TORCHS = Operators(nn.functional.conv2d, torch.relu, torch.mm, torch.add)


class ConvNet(nn.Module):
    """Two convolutions and a classifier."""

    def __init__(self, operators: Operators) -> None:
        """Makes the layers with random weights."""
        super().__init__()
        self.operators = operators
        first, second = CHANNELS
        self.enter = nn.Conv2d(1, first, 3)
        self.inner = nn.Conv2d(first, second, 3)
        features = second * (SIDE // 2) ** 2
        self.weight = nn.Parameter(torch.randn(features, CLASSES) * features**-0.5)
        self.bias = nn.Parameter(torch.zeros(CLASSES))

    def forward(self, x: Tensor) -> Tensor:
        """Logits ``(N, 10)`` of images ``(N, 1, 8, 8)``."""
        conv, relu = self.operators.conv, self.operators.relu
        h = relu(conv(x, self.enter.weight, self.enter.bias, 1, 1))
        h = relu(conv(h, self.inner.weight, self.inner.bias, 2, 1)).flatten(1)
        logits = self.operators.gemm(h, self.weight)
        return self.operators.add(logits, self.bias.to(logits.dtype))


@dataclass
class Epoch:
    """What an epoch ended with."""

    loss: float
    accuracy: float
    seconds: float


class Digits:
    """The digits that come with scikit-learn: 1797 images of 8 x 8 pixels."""

    def __init__(self) -> None:
        """Reads the images and keeps one in five for the test."""
        images, labels = load_digits(return_X_y=True)
        x = torch.tensor(images, dtype=torch.float32).view(-1, 1, SIDE, SIDE) / 16
        y = torch.tensor(labels)
        test = torch.arange(len(y)) % TEST_EVERY == 0
        self.train_x, self.train_y = x[~test], y[~test]
        self.test_x, self.test_y = x[test], y[test]

    def batches(self, size: int, seed: int) -> DataLoader[tuple[Tensor, ...]]:
        """Training images and labels in pinned memory, shuffled, in pieces of ``size``."""
        return DataLoader(
            TensorDataset(self.train_x, self.train_y),
            batch_size=size,
            shuffle=True,
            pin_memory=True,
            generator=torch.Generator().manual_seed(seed),
        )


class Training:
    """One net on one device."""

    def __init__(self, device: str, operators: Operators, digits: Digits, seed: int, amp: bool) -> None:
        """Makes the net from ``seed`` on cpu, so that nets on all devices start equal."""
        torch.manual_seed(seed)
        self.device = device
        self.digits = digits
        self.amp = amp
        self.seconds = 0.0
        self.net = ConvNet(operators).to(device)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)
        self.scaler = torch.amp.GradScaler(device, enabled=amp)

    def step(self, images: Tensor, labels: Tensor) -> float:
        """One step on a batch; the loss."""
        started = time.perf_counter()
        x, y = images.to(self.device, non_blocking=True), labels.to(self.device, non_blocking=True)
        self.optimizer.zero_grad()
        with torch.autocast(self.device, torch.float16) if self.amp else nullcontext():
            loss = nn.functional.cross_entropy(self.net(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        value = loss.item()  # waits for the device
        self.seconds += time.perf_counter() - started
        return value

    @torch.no_grad()
    def accuracy(self) -> float:
        """Share of the test images that the net names right."""
        guess = self.net(self.digits.test_x.to(self.device)).argmax(dim=1)
        return (guess.cpu() == self.digits.test_y).float().mean().item()

    def end_epoch(self, loss: float) -> Epoch:
        """Looks at the net after an epoch of this mean loss."""
        epoch = Epoch(loss, self.accuracy(), self.seconds)
        self.seconds = 0.0
        return epoch


def train(trainings: list[Training], digits: Digits, options: argparse.Namespace) -> Iterator[list[Epoch]]:
    """Trains on all devices with the same batches; yields what each ended an epoch with."""
    for epoch in range(options.epochs):
        batches = digits.batches(options.batch_size, options.seed + epoch)
        losses = [0.0] * len(trainings)
        for images, labels in tqdm(batches, desc=f"epoch {epoch + 1:2}/{options.epochs}", leave=False, disable=None):
            for i, training in enumerate(trainings):
                losses[i] += training.step(images, labels) / len(batches)
        yield [training.end_epoch(loss) for training, loss in zip(trainings, losses, strict=True)]


def accuracy_of_checkpoint(path: Path, digits: Digits) -> float:
    """Accuracy of the net in a checkpoint, read on cpu and computed by torch's operators."""
    net = ConvNet(TORCHS)
    net.load_state_dict(torch.load(path, map_location="cpu"))
    with torch.no_grad():
        return (net(digits.test_x).argmax(dim=1) == digits.test_y).float().mean().item()


def instructions_of_a_step(training: Training, batch_size: int) -> str:
    """How often the cores execute some instructions in a step."""
    digits = training.digits
    with op_extension.check.count_instructions() as counts:
        training.step(digits.train_x[:batch_size], digits.train_y[:batch_size])
    names = ("TLOAD", "TMATMUL", "TADD", "TRELU", "TSTORE")
    return ", ".join(f"{counts[name].executions} {name}" for name in names)


def draw(path: Path, devices: list[str], history: list[list[Epoch]]) -> None:
    """Draws loss and accuracy over the epochs."""
    figure, (losses, accuracies) = pyplot.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    numbers = range(1, len(history) + 1)
    for device, epochs, style in zip(devices, zip(*history, strict=True), ("o-", "x--"), strict=True):
        losses.plot(numbers, [epoch.loss for epoch in epochs], style, label=device)
        accuracies.plot(numbers, [epoch.accuracy for epoch in epochs], style, label=device)
    losses.set(xlabel="epoch", ylabel="training loss", yscale="log")
    accuracies.set(xlabel="epoch", ylabel="test accuracy")
    losses.legend()
    figure.savefig(path)
    pyplot.close(figure)


def at_least_one(text: str) -> int:
    """A number of epochs or samples."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {number}")
    return number


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=at_least_one, default=8)
    parser.add_argument("--batch-size", type=at_least_one, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--amp", action="store_true", help="float16 where autocast says so, on npu")
    parser.add_argument("--output", type=Path, default=Path("build/demo"), help="folder of checkpoint and picture")
    return parser.parse_args()


def main() -> int:
    """Runs the demo; the exit code tells whether npu learned as cpu did."""
    options = parse()
    options.output.mkdir(parents=True, exist_ok=True)
    checkpoint, picture = options.output / "digits.pt", options.output / "training.png"
    digits = Digits()
    on_npu = Training("npu", OURS, digits, options.seed, options.amp)
    trainings = [on_npu, Training("cpu", TORCHS, digits, options.seed, amp=False)]
    history = []
    print("epoch   npu loss  accuracy  seconds   cpu loss  accuracy  seconds")
    for number, epochs in enumerate(train(trainings, digits, options), start=1):
        columns = (f"{epoch.loss:8.4f}  {epoch.accuracy:8.3f}  {epoch.seconds:7.2f}" for epoch in epochs)
        print(f"{number:5}   {'   '.join(columns)}", flush=True)
        history.append(epochs)
    npu, cpu = history[-1]
    torch.save(on_npu.net.state_dict(), checkpoint)
    draw(picture, [training.device for training in trainings], history)

    print(f"device: {torch.npu.get_device_name()}")
    print(f"accuracy: {npu.accuracy:.3f} on npu, {cpu.accuracy:.3f} on cpu")
    print(f"accuracy of {checkpoint} on cpu: {accuracy_of_checkpoint(checkpoint, digits):.3f}")
    print(f"tile instructions of one more step: {instructions_of_a_step(on_npu, options.batch_size)}")
    print(f"training curves: {picture}")
    learned = npu.accuracy >= 0.95 and abs(npu.accuracy - cpu.accuracy) <= 0.02
    if not learned:
        print("demo: expected an accuracy of at least 0.95 on npu, within 0.02 of that on cpu; more epochs give it")
    return 0 if learned else 1


if __name__ == "__main__":
    raise SystemExit(main())
