# SPDX-License-Identifier: Apache-2.0
"""Writes docs/operators.md from the documented names of op_extension.ops.

usage: python -m tools.operators [--check]
"""

import inspect
import re
import sys

import torch

from op_extension import ops
from tools.page import DOCS, write_or_check

PAGE = DOCS / "operators.md"
HEAD = """# Operators

Made by `python -m tools.operators` from `op_extension/ops.py`. Each is `torch.ops.npu.<name>` and
`op_extension.ops.<name>`, for tensors on `npu` and, with the same bits, on `cpu`.
"""
SECTION = re.compile(r"^(Args|Returns|Raises):$")
ENTRY = re.compile(r"^    (\w+): (.*)$")


def schemas(name: str) -> list[str]:
    """Schemas of the overloads of an operator."""
    packet = getattr(torch.ops.npu, name)
    return [str(getattr(packet, overload)._schema) for overload in packet.overloads()]


def markdown(text: str) -> str:
    """Text of a docstring in the marks of the page."""
    return re.sub(r":\w+:`([^`]+)`|``([^`]+)``", lambda match: f"`{match[1] or match[2]}`", text)


def section(name: str) -> str:
    """What the page says about one operator."""
    head = [f"## {name}", "", "```", *schemas(name), "```", "", ""]
    lines: list[str] = []
    inside = ""
    for line in inspect.getdoc(getattr(ops, name)).splitlines():
        heading, entry = SECTION.match(line), ENTRY.match(line)
        if heading:
            inside = heading[1]
            lines += [f"**{inside}**", ""]
        elif inside in ("Args", "Raises") and entry:
            lines.append(f"- `{entry[1]}`: {entry[2]}")
        elif inside and line.startswith("    "):
            lines.append(line.removeprefix("    ") if inside == "Returns" else "  " + line.strip())
        else:
            lines.append(line)
    return "\n".join(head) + markdown("\n".join(lines))


def page() -> str:
    """The text of docs/operators.md."""
    return "\n\n".join([HEAD.rstrip(), *(section(name) for name in sorted(ops.__all__))]) + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page, "python -m tools.operators", sys.argv[1:]))
