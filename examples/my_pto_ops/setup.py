# SPDX-License-Identifier: Apache-2.0
"""Builds my_pto_ops with PyTorch's own extension builder."""

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

import op_extension

setup(
    name="my_pto_ops",
    version="0.1.0",
    ext_modules=[
        CppExtension(
            name="my_pto_ops",
            sources=["my_ops.cpp"],
            include_dirs=op_extension.include_paths(),
            library_dirs=op_extension.library_dirs(),
            libraries=["pto"],
            extra_compile_args=["-std=c++20", "-O3", *op_extension.kernel_compile_args()],
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
