# SPDX-License-Identifier: Apache-2.0
"""What torch.compile makes of a function on CPU tensors, where the machine has what it needs."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch._inductor import cpp_builder

from bench.row import RowUnavailable


def compiled(function: Callable[..., Tensor], *examples: Tensor) -> Callable[..., Tensor]:
    """``function`` by inductor, for operands like the examples.

    Raises:
        RowUnavailable: there is no C++ compiler, or the code of inductor does not compile.
    """
    try:
        cpp_builder.get_cpp_compiler()
    except Exception as error:  # of a class that is not public, as are those below
        raise RowUnavailable(f"torch.compile on CPU: expected a C++ compiler, got none ({_line(error)})") from error
    torch._dynamo.reset()  # what was compiled for other shapes counts against a limit
    code = torch.compile(function, fullgraph=True, dynamic=False)
    try:
        code(*examples)
    except Exception as error:
        raise RowUnavailable(f"torch.compile on CPU: expected code that compiles, got {_line(error)}") from error
    return code


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
