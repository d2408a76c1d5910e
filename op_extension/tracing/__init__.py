# SPDX-License-Identifier: Apache-2.0
"""Instructions of launches with their operands. Its face is :func:`op_extension.check.trace`."""
