# SPDX-License-Identifier: Apache-2.0
"""What the hazard checker has found: as text, data and in the formats of CI. Its face is :mod:`op_extension.check`."""
