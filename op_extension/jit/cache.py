# SPDX-License-Identifier: Apache-2.0
"""The folder of compiled kernels. Several processes may use it at once.

kernels/<key>.json         what was compiled, its dependencies, the digest of the library
kernels/<key>-<digest>.so  the library; never changed once it has its name
headers/<key>/             precompiled headers
ascend/<key>/              folders that commands under ``op-extension run`` look for
locks/, work/
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FORMAT = 1
_FOLDERS = ("kernels", "headers", "locks", "work")
RUNS = "ascend"
_ALL = "all"  # the lock that whoever makes an entry shares, and whoever clears has for himself


def folder() -> Path:
    """NPU_CACHE_DIR, or ~/.cache/op_extension."""
    given = os.environ.get("NPU_CACHE_DIR")
    if given:
        if not given.isprintable():  # a line break would end a line of the compiler's make rules
            raise ValueError(f"NPU_CACHE_DIR: expected a path of printable characters, got {given!r}")
        return Path(given).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "op_extension"


def digest(*parts: str | bytes) -> str:
    """Hash of parts, each with its length."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def file_digest(path: Path) -> str:
    """Hash of the content of a file."""
    return digest(path.read_bytes())


@contextmanager
def locked(folder: Path, how: int) -> Iterator[bool]:
    """A lock on a folder itself, so that no file is left beside it; yields whether it is held.

    Always where the file system has no locks.
    """
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        is_held = True
        try:
            fcntl.flock(opened, how)
        except BlockingIOError:
            is_held = False
        except OSError:
            pass
        yield is_held
    finally:
        os.close(opened)


@dataclass
class Dependency:
    """A file that was read, as it was then."""

    path: str
    size: int
    mtime: int
    digest: str

    @classmethod
    def of(cls, path: Path) -> Dependency:
        """The file as it is now."""
        state = path.stat()
        return cls(str(path), state.st_size, state.st_mtime_ns, file_digest(path))

    def holds(self) -> bool:
        """Whether the file is still the same."""
        try:
            state = os.stat(self.path)
            if state.st_size != self.size:
                return False
            return state.st_mtime_ns == self.mtime or file_digest(Path(self.path)) == self.digest
        except OSError:
            return False


_replacements: dict[Path, Path] = {}
_replacements_lock = threading.Lock()


def _replacement(root: Path, error: OSError) -> Path:
    """A folder instead of root, which cannot be written: one for the life of the process, removed at its end."""
    with _replacements_lock:
        if root not in _replacements:
            own = Path(tempfile.mkdtemp(prefix="op_extension_"))
            for name in _FOLDERS:
                (own / name).mkdir()
            atexit.register(_remove_in, os.getpid(), own)
            _replacements[root] = own
            warnings.warn(
                f"op_extension cache: expected a folder to write to in {root} (NPU_CACHE_DIR), got: {error}; "
                f"compiled kernels go to {own} in this process",
                RuntimeWarning,
                stacklevel=3,
            )
        return _replacements[root]


def _remove_in(process: int, folder: Path) -> None:
    if os.getpid() == process:  # not at the end of a forked child
        shutil.rmtree(folder, ignore_errors=True)


class Damaged(Exception):
    """An entry is not what this package wrote."""


class Cache:
    """The entries below a folder."""

    def __init__(self, root: Path | None = None) -> None:
        """Args: root, the folder; :func:`folder` when None."""
        self.root = root or folder()
        try:
            for name in _FOLDERS:
                (self.root / name).mkdir(mode=0o700, parents=True, exist_ok=True)
            if not os.access(self.root / "kernels", os.W_OK):
                raise PermissionError(f"no permission to write to {self.root}")
        except OSError as error:
            self.root = _replacement(self.root, error)

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Only one process at a time, and none that clears the cache.

        Without effect where the file system has no locks: names change in one step.
        """
        with self._locked(_ALL, fcntl.LOCK_SH), self._locked(key, fcntl.LOCK_EX):
            yield

    @contextmanager
    def _locked(self, name: str, how: int) -> Iterator[None]:
        with (self.root / "locks" / name).open("w") as file:
            with suppress(OSError):
                fcntl.flock(file, how)
            yield

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        """A folder of its own, removed at the end."""
        with tempfile.TemporaryDirectory(dir=self.root / "work", ignore_cleanup_errors=True) as name:
            yield Path(name)

    def find(self, key: str, warn: bool = False) -> Path | None:
        """The library of an entry that is whole and whose dependencies have not changed."""
        manifest = self.root / "kernels" / f"{key}.json"
        try:
            return self._library(manifest, key)
        except FileNotFoundError:
            return None
        except (Damaged, OSError) as error:
            if warn:
                warnings.warn(
                    f"op_extension cache: expected a kernel that this package has compiled in {manifest}, "
                    f"got {error}; compiling it again",
                    RuntimeWarning,
                    stacklevel=2,
                )
            return None

    def _library(self, manifest: Path, key: str) -> Path | None:
        entry = self._manifest(manifest, key)
        try:
            dependencies = [Dependency(*row) for row in entry["dependencies"]]
            library = self.root / "kernels" / f"{key}-{entry['library']}.so"
        except (KeyError, TypeError) as error:
            raise Damaged(f"a manifest without {error}") from None
        if not all(dependency.holds() for dependency in dependencies):
            return None
        self._check_owner(library)
        if file_digest(library) != entry["library"]:
            raise Damaged(f"{library.name} with another content than was written")
        return library

    def _manifest(self, manifest: Path, key: str) -> dict[str, Any]:
        text = manifest.read_bytes()
        self._check_owner(manifest)
        try:
            entry = json.loads(text)
        except ValueError:
            raise Damaged("a text that is no JSON") from None
        if not isinstance(entry, dict) or entry.get("format") != _FORMAT or entry.get("key") != key:
            raise Damaged("the manifest of another entry")
        return entry

    @staticmethod
    def _check_owner(path: Path) -> None:
        try:
            state = path.stat()
        except FileNotFoundError:
            raise Damaged(f"no file {path.name}") from None
        if state.st_uid not in (os.geteuid(), 0):
            raise Damaged(f"a file {path.name} of user {state.st_uid}")
        if not stat.S_ISREG(state.st_mode):
            raise Damaged(f"{path.name}, which is no file")

    def store(self, key: str, built: Path, dependencies: list[Dependency], about: dict[str, str]) -> Path:
        """Moves a library into the cache; the entry appears in one step."""
        content = file_digest(built)
        library = self.root / "kernels" / f"{key}-{content}.so"
        os.replace(built, library)
        rows = [[d.path, d.size, d.mtime, d.digest] for d in dependencies]
        entry = {"format": _FORMAT, "key": key, "library": content, "dependencies": rows, **about}
        handle, name = tempfile.mkstemp(dir=self.root / "work")
        with os.fdopen(handle, "w") as file:
            json.dump(entry, file)
        os.replace(name, self.root / "kernels" / f"{key}.json")
        for other in (self.root / "kernels").glob(f"{key}-*.so"):
            if other != library:
                other.unlink(missing_ok=True)
        return library

    def entries(self) -> Iterator[tuple[dict[str, Any], int]]:
        """Manifest and bytes of each kernel."""
        for manifest in sorted((self.root / "kernels").glob("*.json")):
            with suppress(Damaged, OSError):
                entry = self._manifest(manifest, manifest.stem)
                library = self.root / "kernels" / f"{manifest.stem}-{entry.get('library')}.so"
                yield entry, manifest.stat().st_size + library.stat().st_size

    def size(self, part: str = "") -> int:
        """Bytes of all files, or of those in one of the folders."""
        size = 0
        for path in (self.root / part).rglob("*"):
            with suppress(OSError):  # another process may remove it meanwhile
                state = path.lstat()
                size += state.st_size if stat.S_ISREG(state.st_mode) else 0
        return size

    def clear(self) -> int:
        """Removes all entries once nobody makes one; returns the bytes that are free now.

        Libraries that are loaded stay usable, and so do the folders of a command that runs.
        """
        with self._locked(_ALL, fcntl.LOCK_EX):
            before = self.size()
            for folder in _FOLDERS:
                for path in (self.root / folder).iterdir():
                    if path.is_dir():
                        shutil.rmtree(path, ignore_errors=True)
                    elif path.name != _ALL:
                        path.unlink(missing_ok=True)
            for path in (self.root / RUNS).glob("*"):
                with locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB) as is_idle:
                    if is_idle:
                        shutil.rmtree(path, ignore_errors=True)
            return before - self.size()
