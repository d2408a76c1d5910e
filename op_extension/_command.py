# SPDX-License-Identifier: Apache-2.0
"""Whether this process is the command ``op-extension``, which Ctrl-C ends quietly while it still imports.

The package imports this module first.
"""

from __future__ import annotations

import sys
from pathlib import Path

from op_extension import _signals

# "-m" stands in place of the file while Python looks for the module of `python -m op_extension.cli`.
IS_COMMAND = Path(sys.argv[0]).name == "op-extension" or (sys.argv[0] == "-m" and "op_extension.cli" in sys.orig_argv)

if IS_COMMAND:
    _signals.end_at_interrupt()
