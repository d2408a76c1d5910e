# SPDX-License-Identifier: Apache-2.0
"""Runs the code of a page of docs/, so that it cannot rot.

A block "cpp add.cpp" is a file. A block "python" is executed, all of a page in one namespace; a block "sh" is run. What
they print, or the exception that they end with, is the block "text" behind them; without such a block they end without
an exception, and what they print is not looked at.
"""

import contextlib
import io
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from test.host.python_process import PACKAGES
from test.kernel.kernels_of_test import KernelTest

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of code: its language, the file that it is, and the number of its first line in the page."""

    language: str
    file: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2], m[3], text.count("\n", 0, m.start()) + 2) for m in _BLOCK.finditer(text)]


def _run_python(block: Block, page: Path, names: dict[str, object], raises: bool) -> str:
    name = f"<{page.name}, block in line {block.line}>"
    linecache.cache[name] = len(block.text), None, block.text.splitlines(keepends=True), name  # for tracebacks
    code = compile(block.text, name, "exec")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(code, names)
        except Exception as error:
            if not raises:
                raise
            print(f"{type(error).__name__}: {error}")
    return out.getvalue()


def _run_shell(block: Block, folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(PACKAGES), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run(
        ["sh", "-e", "-c", block.text], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"line {block.line}: expected exit code 0, got {done.returncode}\n{done.stderr}")
    return done.stdout


class PageTest(KernelTest):
    """A test that runs pages."""

    def run_page(self, page: Path, *languages: str) -> int:
        """Runs the blocks of some languages; returns how many."""
        self.maxDiff = None
        folder, names, count = self.folder(), {"__name__": "page"}, 0
        blocks = blocks_of(page)
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            if block.file:
                (folder / block.file).write_text(block.text, encoding="utf-8")
            if block.language not in languages:
                continue
            expected = following.text if following and following.language == "text" else None
            with self.subTest(page=page.name, line=block.line), contextlib.chdir(folder):
                if block.language == "python":
                    got = _run_python(block, page, names, raises=expected is not None)
                else:
                    got = _run_shell(block, folder)
                if expected is not None:
                    self.assertEqual(got.replace(f"{folder}/", ""), expected)
            count += 1
        return count
