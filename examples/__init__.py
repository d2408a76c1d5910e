# SPDX-License-Identifier: Apache-2.0
"""Programs that show the package at work."""
