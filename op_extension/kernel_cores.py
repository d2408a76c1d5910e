# SPDX-License-Identifier: Apache-2.0
"""The kinds of core that a kernel's declaration names: ``__global__ __vector__ void k(...)``, and other spellings."""

from __future__ import annotations

import re

#: What may stand between the words of a declaration.
SPECIFIERS = (
    r"(?:\s|__\w+__(?:\s*\([^()]*\))?|AICORE|\[aicore\]|\[\[[^\]]*\]\]|inline|noexcept|PTO_\w+"
    r"|__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\))*"
)
_DECLARATION = re.compile(
    rf"\b__global__(?P<before>{SPECIFIERS})\bvoid(?P<behind>{SPECIFIERS})\b(?P<name>\w+)\s*\(", re.DOTALL
)
_WORDS = {
    ("vector",): re.compile(r"\b__vector__\b|\baiv\b"),
    ("cube",): re.compile(r"\b__cube__\b|\baic\b"),
    ("vector", "cube"): re.compile(r"\b__mix__\s*\(\s*1\s*,\s*2\s*\)"),
}


def named_by(specifiers: str) -> tuple[str, ...] | None:
    """The kinds of core that the words of a declaration name; None: those for which the kernel is not empty."""
    return next((cores for cores, words in _WORDS.items() if words.search(specifiers)), None)


def declared_in(code: str) -> dict[str, tuple[str, ...]]:
    """The kinds of core of the kernels that code, without comments, declares and that name them."""
    found = {}
    for match in _DECLARATION.finditer(code):
        cores = named_by(match["before"] + match["behind"])
        if cores is not None:
            found[match["name"]] = cores
    return found


def as_cpp(cores: tuple[str, ...] | None) -> str:
    """The value of npu::Cores."""
    if cores is None:
        return "::npu::Cores::kNotEmpty"
    return "::npu::Cores::kBoth" if len(cores) > 1 else f"::npu::Cores::k{cores[0].title()}"
