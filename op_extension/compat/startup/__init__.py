# SPDX-License-Identifier: Apache-2.0
"""Modules that each Python of a run imports by themselves: this folder is on its path."""
