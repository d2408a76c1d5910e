# SPDX-License-Identifier: Apache-2.0
"""Timings of operators on npu, each beside the same work of torch on CPU in the same run."""
