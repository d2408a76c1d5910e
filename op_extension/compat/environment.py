# SPDX-License-Identifier: Apache-2.0
"""Environment variables of a command under ``op-extension run``, and the same as lines for a shell."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from op_extension.compat import shipped

if TYPE_CHECKING:
    from op_extension.compat.overlay import Overlay

_HOME = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_INSTALL_PATH", "ASCEND_CANN_PACKAGE_PATH")
# A script's own instructions source a file of an installed toolkit; where there is none, the one of the run is meant.
_BASH_ENV = """\
if [ -n "${{BASH_ENV_OF_PROGRAM:-}}" ]; then builtin source "$BASH_ENV_OF_PROGRAM"; fi
if [[ "${{BASH_EXECUTION_STRING:-}}" == *set_env.sh* || "${{BASH_EXECUTION_STRING:-}}" == *setenv.bash* ]] ||
   {{ [ -f "$0" ] && grep -qs 'set_env\\.sh\\|setenv\\.bash' -- "$0"; }}; then
  _op_extension_source() {{
    if [ ! -e "${{1:-}}" ] && [[ "${{1##*/}}" == set_env.sh || "${{1##*/}}" == setenv.bash ]]; then
      echo "op-extension run: expected $1, got no such file; took {home}/set_env.sh" >&2
      builtin source {home}/set_env.sh
    else
      builtin source "$@"
    fi
  }}
  source() {{ _op_extension_source "$@"; }}
  .() {{ _op_extension_source "$@"; }}
fi
"""
_ADD = """\
_op_extension_add() {
  case ":$(eval "printf %s \\"\\${$1:-}\\""):" in
    *":$2:"*) ;;
    *) eval "export $1=\\"$2\\${$1:+:\\$$1}\\"" ;;
  esac
}
"""


def folders(home: Path, pto: Path) -> dict[str, str]:
    """Variables that name one folder."""
    return {**{name: str(home) for name in _HOME}, "PTO_LIB_PATH": str(pto)}


def searched(home: Path) -> dict[str, list[str]]:
    """Variables that list folders, and what comes first in them."""
    libraries = [str(home / "lib64"), str(shipped.library_folder())]
    return {
        "PATH": [str(home / "bin")],
        "LIBRARY_PATH": libraries,
        "LD_LIBRARY_PATH": libraries,
        "CPLUS_INCLUDE_PATH": [str(folder) for folder in shipped.include_folders()],
        "C_INCLUDE_PATH": [str(folder) for folder in shipped.include_folders()],
    }


def variables(overlay: Overlay, given: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command, from the one that is given."""
    home = overlay.folders.home
    first = searched(home)
    first["PATH"] = [str(overlay.folder / "bin"), *first["PATH"], str(Path(sys.executable).parent)]
    first["PYTHONPATH"] = [str(Path(__file__).resolve().parent / "startup")]
    changed = {name: _joined(entries, given.get(name, "")) for name, entries in first.items()}
    changed |= folders(home, overlay.folders.pto)
    changed |= {"NPU_OVERLAY": str(overlay.folder), "VIRTUAL_ENV": str(overlay.folder)}
    # Sources for the host, too, that name folders of other headers with the names of ours are to find ours.
    # By its name: what reads CXX takes it apart at blanks, which a path may have.
    changed["CXX"] = given.get("CXX") or "bisheng"
    script = str(home / "bash_env.sh")
    if given.get("BASH_ENV") not in (None, "", script):
        changed["BASH_ENV_OF_PROGRAM"] = given["BASH_ENV"]
    changed["BASH_ENV"] = script
    constraints = str(overlay.folder / "constraints.txt")
    # pip parts these by blanks.
    others = [word for word in given.get("PIP_CONSTRAINT", "").split() if word != constraints]
    if " " not in constraints:
        changed["PIP_CONSTRAINT"] = " ".join([*others, constraints])
    return {**given, **changed}


def exports(overlay: Overlay) -> str:
    """Lines that give a shell the variables of :func:`variables`."""
    given = dict(os.environ)
    changed = variables(overlay, given)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in changed.items() if given.get(name) != value]
    return "\n".join(lines)


def write_scripts(folder: Path, home: Path, pto: Path) -> None:
    """``set_env.sh`` and its like in folder, which becomes home, and what bash reads before a script."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in folders(home, pto).items()]
    for name, entries in searched(home).items():
        lines += [f"_op_extension_add {name} {shlex.quote(entry)}" for entry in reversed(entries)]
    text = "\n".join([_ADD.rstrip(), *lines, "unset -f _op_extension_add", ""])
    for path in (folder / "set_env.sh", folder / "bin" / "setenv.bash"):
        path.write_text(text, encoding="utf-8")
    (folder / "bash_env.sh").write_text(_BASH_ENV.format(home=shlex.quote(str(home))), encoding="utf-8")


def _joined(entries: list[str], given: str) -> str:
    return os.pathsep.join(dict.fromkeys([*entries, *(entry for entry in given.split(os.pathsep) if entry)]))
