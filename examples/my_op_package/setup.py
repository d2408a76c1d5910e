# SPDX-License-Identifier: Apache-2.0
"""Builds my_op_package with PyTorch's own extension builder."""

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

import op_extension

library = CppExtension(
    "my_op_package._C",
    sources=["csrc/scaled_add.cpp", "csrc/scaled_add_kernel.cpp"],
    include_dirs=op_extension.include_paths(),
    library_dirs=op_extension.library_dirs(),
    libraries=op_extension.libraries(),
    extra_compile_args=op_extension.kernel_compile_args(),
)

setup(
    name="my_op_package",
    version="0.1.0",
    packages=["my_op_package"],
    install_requires=["op_extension"],
    ext_modules=[library],
    cmdclass={"build_ext": BuildExtension.with_options(no_python_abi_suffix=True)},
    zip_safe=False,
)
