# SPDX-License-Identifier: Apache-2.0
"""Rules of this repository that no linter knows."""
