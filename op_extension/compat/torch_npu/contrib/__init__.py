# SPDX-License-Identifier: Apache-2.0
"""Of torch_npu's contributed modules: ``transfer_to_npu``."""
