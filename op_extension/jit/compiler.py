# SPDX-License-Identifier: Apache-2.0
"""From a source file to a library with one pass of one kernel."""

from __future__ import annotations

import re
import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from op_extension._load import include_path
from op_extension._version import __version__
from op_extension.jit import prelude as preludes
from op_extension.jit.cache import Cache, Dependency, digest
from op_extension.jit.diagnostics import compile_error, link_error
from op_extension.jit.toolchain import (
    LINK_FLAGS,
    Compiler,
    check_output,
    find_compiler,
    isa_level,
    pass_flags,
    run,
    runtime_library,
)

_UNIT = """\
#line 1 "<defines>"
{defines}
#include "{source}"
#line 1 "<entry>"
extern "C" {{
extern __attribute__((visibility("default"))) const npuKernelPass npu_pass;
extern __attribute__((visibility("default"))) const npuSignature npu_signature;
const npuKernelPass npu_pass = npu::Entry<&{entry}>::kPass;
const npuSignature npu_signature = npu::Signature<&{entry}>::kSignature;
}}
"""


@dataclass(frozen=True)
class Request:
    """A kernel and how to compile it. Folders are absolute."""

    source: Path
    entry: str
    defines: tuple[str, ...]
    include_dirs: tuple[str, ...]
    flags: tuple[str, ...]
    standard: str

    def own_flags(self) -> list[str]:
        """What comes behind the flags that all kernels share."""
        folders = (f"-I{folder}" for folder in self.include_dirs)
        return [*folders, *self.flags]

    def define_lines(self) -> str:
        """Directives for the macros: behind the shipped headers, which they must not change."""
        pairs = (define.partition("=") for define in self.defines)
        return "\n".join(f"#define {name} {value if equals else 1}" for name, equals, value in pairs)


def library(request: Request, core: str) -> Path:
    """The library of a pass, "vector" or "cube"; from the cache if it is there.

    It exports ``npu_pass`` and ``npu_signature``.

    Raises:
        FileNotFoundError: there is no such source.
        CompileError: it does not compile, or there is no compiler.
    """
    compiler = find_compiler()
    cache = Cache()
    text = request.source.read_bytes()
    shared = pass_flags(core, request.standard)
    key = digest(
        __version__,
        compiler.identity,
        preludes.headers_state(),
        str(request.source),
        text,
        request.entry,
        request.define_lines(),
        shlex.join([*shared, *request.own_flags(), *LINK_FLAGS]),
    )
    found = cache.find(key)
    if found is not None:
        return found
    with cache.lock(key):
        return cache.find(key, warn=True) or _build(cache, key, compiler, request, core)


def _build(cache: Cache, key: str, compiler: Compiler, request: Request, core: str) -> Path:
    started = time.time_ns()
    made = preludes.prelude(cache, compiler, core, request.standard)
    with cache.work_folder() as work:
        built = work / "kernel.so"
        _compile(cache, compiler, request, core, made, work)
        dependencies = _dependencies(work / "unit.d", work, started)
        about = {"source": str(request.source), "entry": request.entry, "core": core, "level": isa_level()}
        return cache.store(key, built, dependencies, about)


def _compile(cache: Cache, compiler: Compiler, request: Request, core: str, made: preludes.Prelude, work: Path) -> None:
    unit = work / "unit.cpp"
    unit.write_text(_UNIT.format(source=request.source, entry=request.entry, defines=request.define_lines()))
    shared = [*compiler.command, *pass_flags(core, request.standard), "-DNPU_BODIES_ELSEWHERE"]
    command = [*shared, "-include", str(made.header), *request.own_flags(), f"-ffile-prefix-map={work}=."]
    command += ["-MMD", "-MF", str(work / "unit.d"), "-pipe", "-c", str(unit), "-o", str(work / "in.o")]
    done = run(command)
    if done.returncode and ".gch" in done.stderr:  # a precompiled header that was cut or overwritten
        preludes.discard(cache, made)
        fresh = preludes.prelude(cache, compiler, core, request.standard)
        command[command.index(str(made.header))] = str(fresh.header)
        done = run(command)
    if done.returncode:
        foreign = (include_path(), str(work), str(made.header.parent), "/usr/include", "/usr/lib")
        raise compile_error(done.stderr, shlex.join(command), foreign, request.entry, request.source, core)
    check_output(compiler, work / "in.o", work / "unit.d")
    _link(compiler, request, made, work)
    check_output(compiler, work / "kernel.so")


def _link(compiler: Compiler, request: Request, made: preludes.Prelude, work: Path) -> None:
    changes_link = any(flag.startswith(("-l", "-L", "-Wl,", "-f", "-p")) for flag in request.flags)
    files = {"in.o": [str(work / "in.o"), str(made.bodies)], "out.so": [str(work / "kernel.so")]}
    if made.link and not changes_link:
        command = [path for word in made.link for path in files.get(word, [word])]
    else:
        command = [*compiler.command, "-shared", f"-Wl,{','.join(LINK_FLAGS)}", *files["in.o"], *request.flags]
        command += [str(runtime_library()), "-o", *files["out.so"]]
    done = run(command)
    if done.returncode:
        raise link_error(done.stderr, shlex.join(command), request.source)


def _dependencies(rules: Path, work: Path, started: int) -> list[Dependency]:
    """The files that a make rule names, apart from the generated unit."""
    text = rules.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
    # What make treats as special is escaped in a rule; quotes and other backslashes stand for themselves.
    words = re.findall(r"(?:\\[\s#:]|\S)+", text.partition(": ")[2])
    names = [re.sub(r"\\([\s#:])", r"\1", word).replace("$$", "$") for word in words]
    found = [Dependency.of(Path(name)) for name in names if not name.startswith(str(work))]
    for dependency in found:
        if dependency.mtime >= started:  # changed while it was read, perhaps: compile again next time
            dependency.digest, dependency.mtime = "", 0
    return found
