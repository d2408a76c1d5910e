# SPDX-License-Identifier: Apache-2.0
"""The arrows between the rooms of this repository: who may include or import whom.

Arrows point down only. usage: python tools/layering.py [ROOT]
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Rooms by folder; the longest match counts. A file can be a room, too: what a room lets others see.
ROOMS = {
    "csrc/include/npu": "npu",
    "csrc/include/npu/arch.hpp": "systems on chip",
    "csrc/include/npu/kernel.h": "kernel symbol",
    "csrc/include/npu/half.hpp": "16-bit floats",
    "csrc/include/npu/host_core.hpp": "host core",
    "csrc/include/npu/isa_levels.hpp": "instruction set levels",
    "csrc/include/npu/core_layout.hpp": "core layout",
    "csrc/include/npu/entry.hpp": "kernel entry",
    "csrc/include/npu/parameter.hpp": "kernel parameters",
    "csrc/include/npu/signature.hpp": "kernel entry",
    "csrc/include/pto": "pto",
    "csrc/include/pto/cpu": "host programs",
    "csrc/include/compat/device": "compat/device",
    "csrc/include/compat/host": "compat/host",
    "csrc/observe": "observe",
    "csrc/runtime": "runtime",
    "csrc/runtime/npu_runtime.h": "npu_runtime.h",
    "csrc/runtime/npu_trace.h": "npu_runtime.h",
    "csrc/ranks": "ranks",
    "csrc/kernel": "kernel",
    "csrc/kernel/tiling": "kernel arguments",
    "csrc/kernel/tiling.h": "kernel arguments",
    "csrc/kernel/row_tiling.h": "kernel arguments",
    "csrc/op": "op",
    "csrc/host": "host",
    "csrc/host/device/tensor_interface.h": "tensor interface",
    "csrc/host/device/tensor_argument.h": "tensor arguments",
    "csrc/python": "python",
}
# What a room may include, besides itself and the standard libraries.
INCLUDES = {
    "systems on chip": set(),
    "kernel symbol": set(),
    "16-bit floats": set(),
    "instruction set levels": set(),
    "host core": {"npu"},
    "core layout": {"npu"},
    "kernel entry": {"core layout", "kernel symbol", "16-bit floats"},
    "kernel parameters": {"kernel symbol"},
    "npu": {"systems on chip", "kernel symbol", "16-bit floats", "core layout"},
    "pto": {"npu", "systems on chip", "16-bit floats", "host programs"},
    "host programs": {"npu", "systems on chip", "pto", "16-bit floats", "host core", "compat/host"},
    "compat/device": {"npu", "systems on chip", "pto"},
    "compat/host": {
        "npu_runtime.h",
        "systems on chip",
        "16-bit floats",
        "core layout",
        "host core",
        "kernel entry",
        "kernel parameters",
    },
    "observe": {"npu", "systems on chip", "kernel symbol"},
    "npu_runtime.h": {"kernel symbol"},
    "runtime": {"npu", "systems on chip", "core layout", "host core", "kernel symbol", "observe", "npu_runtime.h"},
    "ranks": {"npu_runtime.h", "compat/host"},
    "kernel arguments": set(),
    "kernel": {"pto", "compat/device", "kernel arguments"},
    "op": {"npu_runtime.h", "kernel symbol", "kernel arguments", "instruction set levels"},
    "host": {
        "op",
        "npu_runtime.h",
        "kernel symbol",
        "kernel parameters",
        "compat/host",
        "tensor interface",
        "tensor arguments",
    },
    "tensor interface": {"npu_runtime.h"},
    "tensor arguments": {"tensor interface", "kernel parameters"},
    "python": {
        "npu_runtime.h",
        "kernel symbol",
        "kernel parameters",
        "tensor interface",
        "tensor arguments",
        "instruction set levels",
    },
}
FRAMEWORKS = {
    "torch": re.compile(r"^(torch|ATen|c10|caffe2)/|^Python\.h$"),
    "pybind11": re.compile(r"^pybind11/"),
}
FRAMEWORK_OF_ROOM = {
    "host": {"torch"},
    "python": {"pybind11"},
    "compat/host": {"torch"},
}
SEARCH = (
    "csrc/include",
    "csrc/include/compat/device",
    "csrc/include/compat/host",
    "csrc/runtime",
    "csrc",
    "csrc/host",
)
CHECKERS = {"hazard_checker", "timing_model", "cost_table", "recorder"}
INCLUDE_LINE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)

# Python: a module (and all in it) must not import what is listed.
NOT_IMPORTED_BY = {
    "npu_backend": {"op_extension"},
    "op_extension.jit": {
        "op_extension.check",
        "op_extension.cli",
        "op_extension.doctor",
        "op_extension.kernel",
        "op_extension.ops",
    },
}


def room_of(name: str) -> str | None:
    """Room of a file named relative to the root, None outside of the rooms."""
    fits = [folder for folder in ROOMS if name == folder or name.startswith(folder + "/")]
    return ROOMS[max(fits, key=len)] if fits else None


def resolve(root: Path, includer: Path, name: str) -> str | None:
    """The file of the repository that an include line names, relative to root."""
    for folder in (includer.parent, *(root / entry for entry in SEARCH)):
        candidate = (folder / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def source_files(root: Path) -> Iterator[Path]:
    """The C and C++ files of csrc."""
    for path in sorted((root / "csrc").rglob("*")):
        if path.suffix in {".c", ".cc", ".cpp", ".h", ".hpp"} and path.is_file():
            yield path


def broken_includes(root: Path) -> list[str]:
    """One sentence for each include line that points up or sideways."""
    found = []
    for path in source_files(root):
        own_name = path.relative_to(root).as_posix()
        room = room_of(own_name)
        if room is None:
            found.append(f"{own_name}: expected a file in one of the rooms of tools/layering.py, got none")
            continue
        for quote, name in INCLUDE_LINE.findall(path.read_text(encoding="utf-8")):
            found += broken_include(root, path, room, quote, name)
    return found


def broken_include(root: Path, path: Path, room: str, quote: str, name: str) -> list[str]:
    """The sentence for one include line, or nothing."""
    where = path.relative_to(root).as_posix()
    for framework, pattern in FRAMEWORKS.items():
        if pattern.search(name):
            if framework in FRAMEWORK_OF_ROOM.get(room, set()):
                return []
            return [f"{where}: expected no {framework} in the room {room}, got #include {name}"]
    target = resolve(root, path, name)
    if target is None:
        if quote == "<":
            return []
        return [f"{where}: expected a header of this repository in quotes, got #include {name}"]
    target_room = room_of(target)
    if target_room == room or target_room in INCLUDES[room]:
        return []
    allowed = ", ".join(sorted(INCLUDES[room])) or "nothing else"
    return [f"{where}: expected {room} to include {allowed}, got #include {name} ({target_room})"]


def named_checkers(root: Path) -> list[str]:
    """One sentence for each place of include/ that names a checker."""
    stems = CHECKERS | {path.stem for path in (root / "csrc" / "observe").glob("*.[hc]pp")}
    camel = {"".join(part.title() for part in stem.split("_")) for stem in stems}
    names = re.compile(r"\b(" + "|".join(sorted(stems | camel)) + r")\b")
    found = []
    for path in source_files(root):
        where = path.relative_to(root).as_posix()
        if where.startswith("csrc/include/"):
            for name in names.findall(path.read_text(encoding="utf-8")):
                found.append(f"{where}: expected no name of a checker in include/, got {name}")
    return found


def nodes_that_run(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all in it, except what stands under ``if TYPE_CHECKING``."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING"):
            yield from nodes_that_run(child)


def imported_modules(path: Path, module: str) -> Iterator[str]:
    """Full names of the modules that a file imports when it runs, wherever in it the import stands."""
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    for node in nodes_that_run(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def broken_imports(root: Path) -> list[str]:
    """One sentence for each Python import that points up or sideways."""
    found = []
    for package in ("npu_backend", "op_extension"):
        for path in sorted((root / package).rglob("*.py")):
            where = path.relative_to(root)
            module = ".".join(where.with_suffix("").parts).removesuffix(".__init__")
            for owner, forbidden in NOT_IMPORTED_BY.items():
                if not is_in(module, owner):
                    continue
                bad = {name for name in imported_modules(path, module) for f in forbidden if is_in(name, f)}
                found += [f"{where.as_posix()}: expected {owner} not to import {name}, got it" for name in sorted(bad)]
    return found


def is_in(module: str, package: str) -> bool:
    """Whether module is package or lies in it."""
    return module == package or module.startswith(package + ".")


def broken_arrows(root: Path) -> list[str]:
    """One sentence for each broken rule under root."""
    return broken_includes(root) + named_checkers(root) + broken_imports(root)


def main() -> int:
    """Prints what is broken; 1 when anything is."""
    found = broken_arrows(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
