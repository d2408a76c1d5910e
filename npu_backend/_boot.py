# SPDX-License-Identifier: Apache-2.0
"""What Python adds to the library: the module ``torch.npu`` and methods such as ``Tensor.npu``."""

from __future__ import annotations

import importlib
import sys

from npu_backend import _library, _original

_SUBMODULES = ("amp", "devices", "memory", "npu_config", "random", "streams")


def _register_module() -> None:
    import torch

    module = importlib.import_module("npu_backend.npu")
    if getattr(torch, "npu", None) is not module:
        torch._register_device_module("npu", module)  # type: ignore[no-untyped-call]
    for name in _SUBMODULES:  # `import torch.npu.amp` finds these, not copies of them
        sys.modules[f"torch.npu.{name}"] = importlib.import_module(f"npu_backend.npu.{name}")


def _generate_methods() -> None:
    import torch
    from torch.utils import backend_registration

    if not hasattr(torch.Tensor, "is_npu"):
        backend_registration.generate_methods_for_privateuse1_backend(
            for_tensor=True, for_module=True, for_packed_sequence=True, for_storage=True
        )


def boot() -> None:
    """Makes the device known to PyTorch; does nothing the second time.

    Raises:
        ImportError: one sentence that says what is missing, in the way, or of another version.
    """
    folder = _original.torch_npu_folder()
    if folder is not None:
        raise ImportError(
            f"npu_backend: expected to be the only package for the device npu, got torch_npu in {folder}, too; "
            "uninstall one of them"
        )
    _library.load()
    from torch.utils import backend_registration

    backend_registration.rename_privateuse1_backend("npu")
    _register_module()
    _generate_methods()
    from npu_backend import _autograd_threads, _distributed, _dtensor_random, _dynamo, _patches, _sharing

    _autograd_threads.apply()
    _distributed.apply()
    _dtensor_random.apply()
    _dynamo.apply()
    _patches.apply()
    _sharing.apply()
