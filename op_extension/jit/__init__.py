# SPDX-License-Identifier: Apache-2.0
"""Compiling kernels while the program runs: compiler, cache, messages. :mod:`op_extension.kernel` is its face."""

from __future__ import annotations
