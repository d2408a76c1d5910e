# SPDX-License-Identifier: Apache-2.0
"""Writes docs/coverage.md: which names of torch_npu's ``torch.npu`` work here, which change nothing, which raise.

usage: python -m tools.coverage [--check]
"""

import functools
import inspect
import re
import sys
from operator import attrgetter

import torch

from npu_backend.npu import npu_config, unsupported
from tools.page import DOCS, write_or_check
from tools.torch_npu_names import NAMES

PAGE = DOCS / "coverage.md"
HEAD = """# Coverage of torch.npu

Made by `python -m tools.coverage` from the package itself; the names are those of Ascend's torch_npu.

- **works**: does what it does there, or what `torch.cuda` does where the two agree.
- **no effect**: is accepted and kept, and nothing here depends on it.
- **raises**: can be looked up; its use raises `NotImplementedError` with the sentence in the table.
"""


def status_of(name: str) -> tuple[str, str]:
    """Status of a name of torch.npu, and what there is to say about it."""
    if name in unsupported.CALLS or name in unsupported.OBJECTS:
        return "raises", unsupported.sentence(name).split(": ", 2)[2]
    found = attrgetter(name)(torch.npu)
    status = "no effect" if name in npu_config.NO_EFFECT else "works"
    if name in npu_config.SWITCHES:
        return status, "switches: " + ", ".join(npu_config.SWITCHES[name])
    if isinstance(found, functools.partial):
        return status, f"`torch.{name}` for npu."
    if not (inspect.isroutine(found) or inspect.isclass(found) or inspect.ismodule(found)):
        return status, ""
    lines = (inspect.getdoc(found) or "").splitlines()
    text = re.sub(r":\w+:`([^`]+)`|``([^`]+)``", lambda match: f"`{match[1] or match[2]}`", lines[0] if lines else "")
    if text.startswith("Not there: "):
        return "raises", text.removeprefix("Not there: ")
    return status, text


def page() -> str:
    """The text of docs/coverage.md."""
    statuses = {name: status_of(name) for names in NAMES.values() for name in names}
    counts = {kind: sum(status == kind for status, _ in statuses.values()) for kind in ("works", "no effect", "raises")}
    summary = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    parts = [HEAD, f"Of {len(statuses)} names: {summary}."]
    for heading, names in NAMES.items():
        parts += ["", f"## {heading}", "", "| name | status | |", "|---|---|---|"]
        parts += [f"| `{name}` | {statuses[name][0]} | {statuses[name][1].replace('|', '/')} |" for name in names]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page, "python -m tools.coverage", sys.argv[1:]))
