# SPDX-License-Identifier: Apache-2.0
"""What programs written for the chip find in place of its toolkit: drivers, build rules, packages."""
