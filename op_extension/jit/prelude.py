# SPDX-License-Identifier: Apache-2.0
"""What kernels of one set of flags share: the precompiled headers, the bodies that exist once, the linker's command.

Made once under a lock, in about four seconds; without it a kernel compiles as well, only slower.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from op_extension._load import include_path
from op_extension._version import __version__
from op_extension.errors import CompileError
from op_extension.jit.cache import Cache, digest
from op_extension.jit.toolchain import LINK_FLAGS, Compiler, check_output, link_command, pass_flags, run

_TEXT = '#include "npu/signature.hpp"\n#include <pto/pto-inst.hpp>\n#include "kernel_operator.h"\n'
_UNUSED_SECONDS = 24 * 3600  # after which the precompiled headers of an older state go
# Of other compilers and flags, those go that nobody has used for so long, and all but so many.
_FORGOTTEN_SECONDS = 30 * 24 * 3600
_KEPT = 12
_SURELY_IDLE_SECONDS = 3600  # longer than a compiler reads them
_HEADER, _PRECOMPILED, _BODIES, _RECORD = "prelude.hpp", "prelude.hpp.gch", "bodies.o", "record.json"


class Prelude(NamedTuple):
    """Files of a set of flags."""

    header: Path
    bodies: Path
    link: list[str]
    key: str


def headers_state() -> str:
    """What changes when a shipped header does."""
    root = include_path()
    rows = []
    for folder, _, names in os.walk(root):
        for name in names:
            state = os.stat(os.path.join(folder, name))
            rows.append(f"{folder[len(root) :]}/{name} {state.st_size} {state.st_mtime_ns}")
    return digest(root, *sorted(rows))


def prelude(cache: Cache, compiler: Compiler, core: str, standard: str) -> Prelude:
    """The files for core ("vector" or "cube") and standard ("c++17"); makes them where they are not there yet.

    Raises:
        CompileError: the shipped headers do not compile.
    """
    flags = pass_flags(core, standard)
    slot = digest(compiler.identity, *flags)
    key = f"{slot}-{digest(__version__, headers_state(), *LINK_FLAGS)}"
    target = cache.root / "headers" / key
    found = _load(target, key)
    if found is None:
        with cache.lock(f"headers-{slot}"):
            found = _load(target, key)
            if found is None:
                _make(cache, compiler, flags, target)
                found = _load(target, key)
        _remove_unused(cache.root / "headers", slot, keep=key)
    if found is None:
        raise CompileError(f"op_extension.kernel: expected precompiled headers in {target}, got files of other sizes")
    return found


def discard(cache: Cache, made: Prelude) -> None:
    """Removes files that the compiler cannot read."""
    shutil.rmtree(cache.root / "headers" / made.key, ignore_errors=True)


def _load(folder: Path, key: str) -> Prelude | None:
    try:
        record = json.loads((folder / _RECORD).read_bytes())
        sizes = {name: (folder / name).stat().st_size for name in record["sizes"]}
    except (OSError, ValueError, TypeError, KeyError):
        return None
    if sizes != record["sizes"]:
        return None
    with suppress(OSError):
        os.utime(folder)  # used now
    return Prelude(folder / _HEADER, folder / _BODIES, record["link"], key)


def _make(cache: Cache, compiler: Compiler, flags: list[str], target: Path) -> None:
    with cache.work_folder() as work:
        ready = work / target.name  # a folder that gets its final name in one step
        ready.mkdir()
        (ready / _HEADER).write_text(_TEXT)
        command = [*compiler.command, *flags, f"-ffile-prefix-map={ready}=."]
        # Without line tables, which cost the linker time: reports name the kernel's lines.
        bodies = ["-g0", "-ffunction-sections", "-DNPU_BODIES_HERE", "-x", "c++", "-c", str(ready / _HEADER)]
        _check([*command, *bodies, "-o", str(ready / _BODIES)])
        made = [_BODIES]
        if "clang" not in run([*compiler.command, "--version"]).stdout:
            header = ["-DNPU_BODIES_ELSEWHERE", "-x", "c++-header", str(ready / _HEADER)]
            _check([*command, *header, "-o", str(ready / _PRECOMPILED)])
            made.append(_PRECOMPILED)
        check_output(compiler, *(ready / name for name in made))
        sizes = {name: (ready / name).stat().st_size for name in made}
        (ready / _RECORD).write_text(json.dumps({"sizes": sizes, "link": link_command(compiler)}))
        shutil.rmtree(target, ignore_errors=True)
        os.rename(ready, target)


def _check(command: list[str]) -> None:
    done = run(command)
    if done.returncode:
        raise CompileError(
            "op_extension.kernel: expected the headers of this package to compile, got errors",
            output=done.stderr,
            command=shlex.join(command),
        )


def _remove_unused(folder: Path, slot: str, keep: str) -> None:
    """Removes what is not used any more, some 30 MB each; never what another process may be reading."""
    ages: list[tuple[float, Path]] = []
    for other in folder.iterdir():
        with suppress(OSError):
            if other.name != keep:
                ages.append((time.time() - other.stat().st_mtime, other))
    for rank, (age, other) in enumerate(sorted(ages), start=2):
        is_older_state = other.name.startswith(f"{slot}-") and age > _UNUSED_SECONDS
        is_surplus = rank > _KEPT and age > _SURELY_IDLE_SECONDS
        if is_older_state or is_surplus or age > _FORGOTTEN_SECONDS:
            shutil.rmtree(other, ignore_errors=True)
