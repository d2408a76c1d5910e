# SPDX-License-Identifier: Apache-2.0
"""Writes docs/instructions.md from the headers of the instructions: contracts, forms, element types, generations.

usage: python -m tools.instructions [--check]
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from tools.page import DOCS, write_or_check
from tools.pto_names import NAMES

PAGE = DOCS / "instructions.md"
HEADERS = DOCS.parent / "csrc" / "include" / "pto"
HEAD = """# Instructions

Made by `python -m tools.instructions` from the headers in `csrc/include/pto`; the names are those of
hw-native-sys/pto-isa.

- **chips**: generations on which the instruction runs; on another it raises a sentence. "none" stands for names that no
  chip has: kernels that use them run here only.
- **element types**: what the header checks, by generation; where a column is empty, the contract says it.
- **forms**: overloads, with leading template arguments as listed; events come last, but for the few that take none.

What differs from the chip stands in [limits.md](limits.md).
"""
_FUNCTION = re.compile(
    r"^(?P<doc>(?:///[^\n]*\n)*)(?P<template>template <[^{};]*?>\n)?"
    r"(?:\[\[[^\]]*\]\] )?inline (?:constexpr )?(?P<result>[\w:<>,= ]+?)\s(?P<name>[A-Z][A-Z0-9_]+)"
    r"\((?P<parameters>[^{};]*?)\) \{(?P<body>.*?)\n?\}$",
    re.MULTILINE | re.DOTALL,
)
_RULE = re.compile(r"constexpr TypeRule (k\w+) = \{(.*?)\};", re.DOTALL)
_TYPE_SET = re.compile(r"constexpr uint32_t (k\w+) =\s*([^;{]*);", re.DOTALL)
_TYPE_BIT = re.compile(r"^  (k\w+) = 1 << (\d+),$", re.MULTILINE)
_DETAIL = re.compile(r"^(?:\[\[[^\]]*\]\] )?(?:inline )?void (\w+)\([^;{]*\) \{\n.*?^\}", re.MULTILINE | re.DOTALL)
_DETAIL_CALL = re.compile(r"detail::(\w+)")


@dataclass
class Form:
    """One overload."""

    header: str
    doc: str
    signature: str
    body: str


@dataclass
class Instruction:
    """What the headers say about a name."""

    name: str
    forms: list[Form] = field(default_factory=list)

    @property
    def contract(self) -> str:
        """Its doc comments, each overload's once."""
        return "\n\n".join(dict.fromkeys(form.doc for form in self.forms if form.doc))


@cache
def texts() -> dict[str, str]:
    """Text of all headers, by path below HEADERS."""
    return {str(path.relative_to(HEADERS)): path.read_text(encoding="utf-8") for path in sorted(HEADERS.rglob("*.hpp"))}


def instructions(namespace: str) -> dict[str, Instruction]:
    """The functions of the headers of a namespace that have names of instructions."""
    found = {name: Instruction(name) for name in NAMES[namespace]}
    for header, text in texts().items():
        if header.startswith("comm/") != (namespace == "pto::comm"):
            continue
        for match in _FUNCTION.finditer(text):
            if match["name"] in found:
                found[match["name"]].forms.append(form_of(header, match))
    return found


def form_of(header: str, match: re.Match[str]) -> Form:
    """A function as the page shows it: without events and what only chooses between overloads."""
    doc = "\n".join(line.removeprefix("///").removeprefix(" ") for line in match["doc"].splitlines())
    template = " ".join((match["template"] or "").split()).removeprefix("template <").removesuffix(">")
    template = re.sub(r"(, )?(class\.\.\. Events|std::enable_if_t<.*> = 0)", "", template).strip(", ")
    parameters = re.sub(r"(, )?Events&\.\.\. events", "", " ".join(match["parameters"].split()))
    head = f"<{template}> " if template else ""
    return Form(header, doc, f"{head}{match['name']}({parameters})", match["body"])


@cache
def rules() -> dict[str, tuple[int, int]]:
    """Sets of element types on A2/A3 and on A5, as the headers define them."""
    everything = "\n".join(texts().values())
    values: dict[str, int] = {name: 1 << int(bit) for name, bit in _TYPE_BIT.findall(everything)}
    pending = [(name, [text]) for name, text in _TYPE_SET.findall(everything)]
    pending += [(name, re.split(r",\s*", text)) for name, text in _RULE.findall(everything)]
    found: dict[str, tuple[int, int]] = {}
    for _ in range(4):  # sets that name others
        for name, parts in pending:
            if not all(re.fullmatch(r"[\w\s|&~().]+", part) for part in parts):
                continue
            try:
                sets = [value_of(part, values, found) for part in parts]
            except KeyError:
                continue
            if len(sets) == 2:
                found[name] = (sets[0], sets[1])
            elif len(sets) == 1:
                values[name] = sets[0]
    return found


def value_of(text: str, values: dict[str, int], found: dict[str, tuple[int, int]]) -> int:
    """The value of a C++ expression of sets of types."""
    names = {
        f"{name}.{side}": pair[at] for name, pair in found.items() for at, side in enumerate(("a3", "a5"))
    } | values
    python = re.sub(r"k\w+(?:\.a[35])?", lambda match: str(names[match[0]]), text)
    if not re.fullmatch(r"[\d\s|&~()]+", python):
        raise KeyError(text)
    return int(eval(" ".join(python.split()))) & 0xFFFFFFFF


@cache
def details() -> dict[str, str]:
    """Text of the functions of the headers' insides, by name."""
    found: dict[str, str] = {}
    for text in texts().values():
        for match in _DETAIL.finditer(text):
            found[match[1]] = found.get(match[1], "") + match[0]
    return found


def types_of(instruction: Instruction) -> tuple[str, str]:
    """Names of element types on A2/A3 and on A5; empty where no rule of the headers says them."""
    bodies = [form.body for form in instruction.forms]
    bodies += [details().get(name, "") for body in list(bodies) for name in _DETAIL_CALL.findall(body)]
    for body in bodies:
        named = [name for name in re.findall(r"\bk\w+", re.sub(r"CheckOperandType[^;]*;", "", body)) if name in rules()]
        if named:
            low, high = rules()[named[0]]
            return type_names(low), type_names(high)
    return "", ""


@cache
def spelled() -> list[str]:
    """Names of element types by bit."""
    listed = re.search(r"kNames\[\] = \{(\"int8\".*?)\};", texts()["check.hpp"], re.DOTALL)
    return re.findall(r'"(\w+)"', listed[1]) if listed else []


def type_names(types: int) -> str:
    """A set of types in words."""
    return ", ".join(name for bit, name in enumerate(spelled()) if types >> bit & 1 and name != "double")


def chips_of(instruction: Instruction) -> str:
    """Generations that have the instruction, as its contract says."""
    contract = " ".join(instruction.contract.split("\n\n")[0].split())
    if "No chip has it" in contract:
        return "none"
    return "A5" if "On A5 alone" in contract else "A2/A3, A5"


def table(found: dict[str, Instruction]) -> Iterator[str]:
    """One row per name."""
    yield "| name | status | chips | forms | element types on A2/A3 | on A5 | header |"
    yield "|---|---|---|---|---|---|---|"
    for name, instruction in sorted(found.items()):
        if not instruction.forms:
            yield f"| `{name}` | missing | | | | | |"
            continue
        low, high = types_of(instruction)
        headers = ", ".join(f"`{header}`" for header in dict.fromkeys(form.header for form in instruction.forms))
        cells = [f"[`{name}`](#{name.lower()})", "available", chips_of(instruction), str(len(instruction.forms))]
        yield "| " + " | ".join([*cells, low, high, headers]) + " |"


def sections(found: dict[str, Instruction]) -> Iterator[str]:
    """Contract and forms of each name."""
    for name, instruction in sorted(found.items()):
        if instruction.forms:
            forms = dict.fromkeys(form.signature for form in instruction.forms)
            yield from ("", f"### {name}", "", "```text", *forms, "", instruction.contract, "```")


def page() -> str:
    """The text of docs/instructions.md."""
    parts = [HEAD]
    for namespace in NAMES:
        found = instructions(namespace)
        there = sum(bool(instruction.forms) for instruction in found.values())
        parts += [f"## {namespace}", "", f"Of {len(found)} names {there} are available.", "", *table(found)]
        parts += [*sections(found), ""]
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page, "python -m tools.instructions", sys.argv[1:]))
