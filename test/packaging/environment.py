# SPDX-License-Identifier: Apache-2.0
"""Python environments that see the torch of this one, and the wheel to install there."""

import functools
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE_PACKAGES = Path(sysconfig.get_path("purelib"))
OWN_FILES = ("op_extension", "npu_backend", "__editable__", "_op_extension")
ADD = "import torch, op_extension; x = torch.ones(3, device='npu'); print(torch.ops.npu.my_add(x, x).tolist())"


def clean_variables(**variables):
    """This process's variables without those of Python and the loader; variables on top."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LD_", "NPU_", "TORCH"))}
    return {**kept, "PYTHONNOUSERSITE": "1", "OMP_NUM_THREADS": "2", **variables}


def run(command, **options):
    """Runs command to its end; output as text."""
    options.setdefault("env", clean_variables())
    return subprocess.run(command, capture_output=True, text=True, timeout=1500, check=False, **options)


def succeed(command, **options):
    """Standard output of a command that must end with 0."""
    done = run(command, **options)
    if done.returncode:
        raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


@functools.cache
def scratch():
    """Folder of this process for environments and wheels."""
    folder = tempfile.TemporaryDirectory(prefix="op_extension_packaging_")
    scratch.keep = folder
    return Path(folder.name)


@functools.cache
def wheel():
    """NPU_TEST_WHEEL, or a wheel with the libraries of the in-place build."""
    if "NPU_TEST_WHEEL" in os.environ:
        return Path(os.environ["NPU_TEST_WHEEL"]).resolve()
    folder = scratch() / "wheel"
    command = [sys.executable, "setup.py", "--quiet", "build", "--build-base", folder / "build"]
    command += ["bdist_wheel", "--dist-dir", folder, "--bdist-dir", folder / "bdist"]
    succeed(command, cwd=ROOT, env=clean_variables(NPU_WHEEL_FROM_INPLACE="1"))
    (found,) = folder.glob("*.whl")
    return found


class Environment:
    """A virtual environment with links to the packages of this one, ours left out."""

    def __init__(self, name, packages=None):
        self.folder = scratch() / name
        succeed([sys.executable, "-m", "venv", "--without-pip", self.folder])
        self.python = self.folder / "bin" / "python"
        (self.site_packages,) = self.folder.glob("lib/python*/site-packages")
        for entry in SITE_PACKAGES.iterdir():
            ours = entry.name.startswith(OWN_FILES)
            if not ours and (packages is None or entry.name.split("-")[0] in packages):
                (self.site_packages / entry.name).symlink_to(entry)
        self.empty_folder = self.folder / "empty"
        self.empty_folder.mkdir()

    def pip(self, *arguments, **options):
        """Runs this interpreter's pip for the environment."""
        command = [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--python",
            self.python,
        ]
        return run([*command, *arguments], **options)

    def install(self, *arguments, **options):
        """Installs without looking anywhere else: what is needed is linked already."""
        done = self.pip("install", "--no-index", *arguments, **options)
        if done.returncode:
            raise AssertionError(f"pip install {arguments}:\n{done.stdout}\n{done.stderr}")

    def run(self, code, folder=None, **variables):
        """Runs Python code in folder, an empty one when not given."""
        command = [self.python, "-c", code]
        return run(command, cwd=folder or self.empty_folder, env=clean_variables(**variables))

    def rename_torch(self, version):
        """Makes the linked torch call itself version, in its module and in its metadata."""
        link = self.site_packages / "torch"
        real = link.resolve()
        link.unlink()
        link.mkdir()
        for entry in real.iterdir():
            if entry.name not in {"version.py", "__pycache__"}:
                (link / entry.name).symlink_to(entry)
        text = (real / "version.py").read_text(encoding="utf-8")
        (link / "version.py").write_text(f"{text}\n__version__ = '{version}'\n", encoding="utf-8")
        (info,) = self.site_packages.glob("torch-*.dist-info")
        copied = self.site_packages / f"torch-{version}.dist-info"
        shutil.copytree(info, copied, ignore=shutil.ignore_patterns("licenses", "RECORD"))
        info.unlink()
        lines = (copied / "METADATA").read_text(encoding="utf-8").splitlines(keepends=True)
        lines = [f"Version: {version}\n" if line.startswith("Version:") else line for line in lines]
        (copied / "METADATA").write_text("".join(lines), encoding="utf-8")


@functools.cache
def installed():
    """One environment with the wheel installed, for tests that do not change it."""
    environment = Environment("installed")
    environment.install(wheel())
    return environment


def last_line(text):
    """The last line of an output that is not empty."""
    return [line for line in text.splitlines() if line.strip()][-1]
