# SPDX-License-Identifier: Apache-2.0
"""The folder of a run: an environment of its own for what the command installs, and the folders it looks for.

It is a virtual environment that sees the packages of the one it was made in. So pip, ``setup.py install`` and others
install into it, and refuse to remove what lies outside.
"""

from __future__ import annotations

import fcntl
import importlib.metadata
import json
import os
import shlex
import site
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

from op_extension.compat import ascend_home, environment, shipped
from op_extension.jit import cache

STARTUP = Path(__file__).resolve().parent / "startup"
_UNFINISHED = "run.json.unfinished"  # there while an overlay is made, so that what is left of one is known as such
_METADATA = """\
Metadata-Version: 2.1
Name: torch_npu
Version: {version}
Summary: stands in for torch_npu; part of op_extension
"""
# A package called op_extension in the overlay hides ours, and with it the entry point that brings the device.
# A Python that is told to leave PYTHONPATH alone, or gets another, starts as the others do. The last .pth file by name:
# what a command installs with one of its own comes before the packages of this environment.
_START = "zzz_op_extension_startup.pth"
_ENTRY_POINTS = "[torch.backends]\ntorch_npu = npu_backend:_autoload\n"


@dataclass(frozen=True)
class Overlay:
    """Where what is in the folder."""

    folder: Path
    folders: ascend_home.Folders

    @property
    def python(self) -> Path:
        """The interpreter that installs into the overlay."""
        return self.folder / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """Where it installs to."""
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        return self.folder / "lib" / version / "site-packages"

    def installed(self) -> list[str]:
        """Names and versions of what a command has installed."""
        found = importlib.metadata.distributions(path=[str(self.site_packages)])
        return sorted(f"{one.name} {one.version}" for one in found if one.name != "torch_npu")


def make(folder: Path) -> Overlay:
    """Makes an overlay in folder, or takes the one that is there.

    Raises:
        ValueError: the folder holds something else, or an overlay of another environment.
    """
    overlay = Overlay(folder.absolute(), ascend_home.make(os.environ.get("PTO_LIB_PATH", "")))
    if os.pathsep in str(overlay.folder):
        raise ValueError(f"overlay {folder}: expected a path without {os.pathsep}, which parts those of PATH")
    if overlay.folder.exists() and not overlay.folder.is_dir():
        raise ValueError(f"overlay {folder}: expected a folder, got a file")
    overlay.folder.mkdir(parents=True, exist_ok=True)
    with cache.locked(overlay.folder, fcntl.LOCK_EX):
        facts = _facts(overlay)
        record, unfinished = overlay.folder / "run.json", overlay.folder / _UNFINISHED
        if record.is_file():
            _check(folder, _read(folder, record), facts)
        elif any(overlay.folder.iterdir()) and not unfinished.is_file():
            raise ValueError(f"overlay {folder}: expected an empty folder or an overlay, got a folder with other files")
        else:
            unfinished.touch()
            _fill(overlay)
            unfinished.write_text(json.dumps(facts, indent=1), encoding="utf-8")
            unfinished.rename(record)
    return overlay


def _read(folder: Path, record: Path) -> dict[str, object]:
    text = record.read_text(encoding="utf-8", errors="replace")
    try:
        kept = json.loads(text)
    except ValueError:
        kept = None
    if not isinstance(kept, dict):
        raise ValueError(f"overlay {folder}: expected what op-extension wrote in run.json, got {text!r:.60}")
    return kept


def _check(folder: Path, kept: dict[str, object], facts: dict[str, object]) -> None:
    for name in ("python", "prefix", "root"):
        if kept.get(name) != facts[name]:
            raise ValueError(f"overlay {folder}: expected one made for {facts[name]}, got one for {kept.get(name)}")


def _fill(overlay: Overlay) -> None:
    """All but ``run.json``, in an empty folder or over what another process has not finished."""
    venv.EnvBuilder(symlinks=True).create(overlay.folder)
    _programs(overlay)
    _stand_in_metadata(overlay)
    start = f"{STARTUP}\nimport op_extension_startup; op_extension_startup.begin()\n"
    (overlay.site_packages / _START).write_text(start, encoding="utf-8")
    constraint = f"torch=={importlib.metadata.version('torch').split('+')[0]}\n"
    (overlay.folder / "constraints.txt").write_text(constraint, encoding="utf-8")


def _facts(overlay: Overlay) -> dict[str, object]:
    """What ``op_extension_startup`` is told."""
    return {
        "python": list(sys.version_info[:2]),
        "prefix": os.path.realpath(sys.prefix),
        "root": str(shipped.ROOT),
        "sites": _site_folders(),
        "overlay_site": str(overlay.site_packages),
        "overlay_python": str(overlay.python),
        "torch": importlib.metadata.version("torch").split("+")[0],
        "folders": environment.folders(overlay.folders.home, overlay.folders.pto),
    }


def _site_folders() -> list[str]:
    """Folders of packages of this environment."""
    found = [*site.getsitepackages(), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return [folder for folder in dict.fromkeys(found) if Path(folder).is_dir()]


def _programs(overlay: Overlay) -> None:
    python = shlex.quote(str(overlay.python))
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for name in ("pip", "pip3", f"pip{version}"):
        ascend_home.write_program(overlay.folder / "bin" / name, f'#!/bin/sh\nexec {python} -m pip "$@"\n')
    # A package called op_extension in the overlay would hide the one with this command.
    code = (
        f"import sys; sys.path.insert(0, {str(shipped.ROOT)!r}); sys.argv[0] = 'op-extension'; "
        "from op_extension.cli import main; sys.exit(main())"
    )
    text = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(code)} "$@"\n'
    ascend_home.write_program(overlay.folder / "bin" / "op-extension", text)


def _stand_in_metadata(overlay: Overlay) -> None:
    """So that ``importlib.metadata.version("torch_npu")`` answers, and pip asks no index for it."""
    version = importlib.metadata.version("torch").split("+")[0]
    folder = overlay.site_packages / f"torch_npu-{version}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(_METADATA.format(version=version), encoding="utf-8")
    (folder / "entry_points.txt").write_text(_ENTRY_POINTS, encoding="utf-8")
    (folder / "INSTALLER").write_text("op-extension\n", encoding="utf-8")
