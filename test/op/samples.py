# SPDX-License-Identifier: Apache-2.0
"""Arguments for each operator of torch.ops.npu, by name: for tests that hold for all of them.

An operator whose required arguments are tensors of one shape needs no entry here. Every other one does: without it the
tests fail, and say so.
"""

from collections.abc import Iterator

import torch
from torch._ops import OpOverload

from op_extension import ops

IMAGE = (2, 3, 4, 4)  # four dimensions, for channels_last


class Shape(tuple):
    """A tensor of this shape among the arguments."""


class Labels(tuple):
    """Class 0 for as many rows among the arguments."""


def _same(overload: OpOverload, *shapes: tuple[int, ...]) -> list[tuple]:
    count = len([a for a in overload._schema.arguments if not a.has_default_value()])
    return [(Shape(shape),) * count for shape in shapes]


_IMAGES = (Shape((2, 3, 5, 5)), Shape((4, 3, 3, 3)))
# Arguments with elements, and without.
_FULL = {
    "my_conv": [(*_IMAGES, Shape((4,)), 2, 1), _IMAGES],
    "my_cross_entropy": [(Shape((4, 5)), Labels((4,))), (Shape((4, 5)), Labels((4,)), 1, "none")],
    "my_flash_attention": [(Shape(IMAGE),) * 3, (Shape((2, 3, 5, 4)), Shape(IMAGE), Shape(IMAGE), True, 0.5)],
    "my_gemm": [(Shape((4, 5)), Shape((5, 3)))],
    "my_layer_norm": [(Shape(IMAGE), [4, 4], Shape((4, 4)), Shape((4, 4))), (Shape(IMAGE), [4])],
    "my_mul": [(Shape(IMAGE), 2.5)],
    "my_rms_norm": [(Shape(IMAGE), [4], Shape((4,))), (Shape(IMAGE), [3, 4, 4])],
    "my_softmax": [(Shape(IMAGE), 1), (Shape(IMAGE), -1)],
    "my_split": [(Shape(IMAGE), 1), (Shape(IMAGE), -1)],
    "my_topk": [(Shape(IMAGE), 2), (Shape(IMAGE), 1, 1, False)],
    "sum_to": [(Shape(IMAGE), [3, 1, 4])],
}
_EMPTY = {
    "my_conv": [(Shape((0, 3, 5, 5)), _IMAGES[1], Shape((4,)), 1, 1)],
    "my_cross_entropy": [(Shape((0, 5)), Labels((0,)), -100, "sum"), (Shape((0, 5)), Labels((0,)), -100, "none")],
    "my_flash_attention": [(Shape((0, 3, 5, 4)),) * 3, (Shape((2, 3, 0, 4)), Shape(IMAGE), Shape(IMAGE))],
    "my_gemm": [(Shape(a), Shape(b)) for a, b in (((0, 5), (5, 3)), ((4, 0), (0, 3)), ((4, 5), (5, 0)))],
    "my_layer_norm": [(Shape((0, 4)), [4], Shape((4,)), Shape((4,))), (Shape((3, 0, 4)), [4])],
    "my_mul": [(Shape((0,)), 2.5), (Shape((3, 0, 4)), 2.5)],
    "my_rms_norm": [(Shape((0, 4)), [4], Shape((4,))), (Shape((3, 0, 4)), [0, 4])],
    "my_softmax": [(Shape((0,)), 0), (Shape((3, 0, 4)), 1), (Shape((3, 0, 4)), 2)],
    "my_split": [(Shape((0,)), 0), (Shape((3, 0, 4)), 1), (Shape((3, 0, 4)), -1), (Shape((1, 2)), 0)],
    "my_topk": [(Shape((0,)), 0), (Shape((3, 0, 4)), 2, 0), (Shape((3, 0, 4)), 0, 1), (Shape((3, 4)), 0)],
    "sum_to": [(Shape((3, 0, 4)), [3, 1, 4]), (Shape((3, 0, 4)), [0, 4])],
}


def operators() -> Iterator[OpOverload]:
    """All overloads of all documented names."""
    for name in ops.__all__:
        packet = getattr(torch.ops.npu, name)
        yield from (getattr(packet, overload) for overload in packet.overloads())


def shapes_of(overload: OpOverload, empty: bool = False) -> list[tuple]:
    """Arguments with a Shape in the place of each tensor, some of them without elements if empty.

    Raises:
        LookupError: the operator takes other things than tensors, and has no entry here.
    """
    name = overload._schema.name.removeprefix("npu::")
    table = _EMPTY if empty else _FULL
    required = [a for a in overload._schema.arguments if not a.has_default_value()]
    only_tensors = all(isinstance(a.type, torch.TensorType) for a in required)
    if name in table and (overload._overloadname == "default" or not only_tensors):
        return table[name]
    if not only_tensors:
        raise LookupError(f"{overload}: expected arguments for it in test/op/samples.py, got none")
    return _same(overload, *([(0,), (3, 0, 4)] if empty else [IMAGE]))


def widest(overload: OpOverload) -> tuple[torch.dtype, dict[str, float]]:
    """The dtype that gradients are checked in, and how far apart derivatives and differences may be there."""
    if overload._schema.name in ("npu::my_topk", "npu::my_flash_attention"):  # no float64 is sorted, or multiplied
        return torch.float32, {"eps": 1e-3, "atol": 1e-2, "rtol": 1e-2}
    return torch.float64, {}


def tensors(arguments: tuple, dtype: torch.dtype, device: str, wanted: bool = False) -> list:
    """The arguments with leaves of random values in the place of shapes."""
    generator = torch.Generator().manual_seed(11)
    made = []
    for argument in arguments:
        if isinstance(argument, Shape):
            values = torch.randn(argument, generator=generator, dtype=torch.float64)
            argument = values.to(device, dtype).requires_grad_(wanted)
        elif isinstance(argument, Labels):
            argument = torch.zeros(argument, dtype=torch.int64, device=device)
        made.append(argument)
    return made


def relaid(x: torch.Tensor, layout: str) -> torch.Tensor:
    """A tensor of the shape of x with other strides; of other values where it is expanded."""
    if layout == "transposed" and x.dim() > 1:
        return x.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout == "expanded" and x.dim() > 0:
        return x[:1].expand_as(x)
    if layout == "channels_last" and x.dim() == 4:
        return x.contiguous(memory_format=torch.channels_last)
    if layout == "step_sliced" and x.dim() > 0:
        wide = x.new_zeros([2 * n for n in x.shape])
        steps = tuple(slice(1, None, 2) for _ in x.shape)
        wide[steps] = x
        return wide[steps]
    return x


LAYOUTS = ("contiguous", "transposed", "expanded", "channels_last", "step_sliced")
