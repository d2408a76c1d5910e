# SPDX-License-Identifier: Apache-2.0
"""Each shipped header compiles by itself: what users include first decides nothing."""

import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.packaging.environment import ROOT

INCLUDE = ROOT / "csrc" / "include"
C_HEADERS = [INCLUDE / "npu" / "kernel.h", *(ROOT / "csrc" / "runtime").glob("npu_*.h")]


def complaints(language, standard, header):
    """What the compiler says about a file that includes header twice."""
    compiler = os.environ.get("CXX", "g++")
    folders = [INCLUDE, INCLUDE / "compat" / "device", ROOT / "csrc" / "runtime"]
    if "cpu" in header.parts:  # for programs that run kernels as functions of the host
        folders.append(INCLUDE / "compat" / "host")
    command = [compiler, "-x", language, f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    command += ["-Wno-psabi"]  # vector types stay within inline functions
    command += [f"-I{folder}" for folder in folders]
    text = f'#include "{header}"\n' * 2
    done = subprocess.run([*command, "-"], input=text, capture_output=True, text=True, timeout=300, check=False)
    return f"{header} as {standard}:\n{done.stderr}" if done.returncode else ""


def forwards(header):
    """Whether a header does no more than to include others that are there."""
    lines = [line for line in header.read_text(encoding="utf-8").splitlines() if line and not line.startswith("//")]
    names = [line.split()[1].strip('<>"') for line in lines if line.startswith("#include")]
    return len(names) == len(lines) - 1 and all((INCLUDE / name).is_file() for name in names)


class HeadersTest(unittest.TestCase):
    def assert_compile(self, language, standard, headers):
        self.assertGreater(len(headers), 1)
        with ThreadPoolExecutor(2) as pool:
            found = [text for text in pool.map(lambda header: complaints(language, standard, header), headers) if text]
        self.assertEqual(found, [], "\n".join(found))

    def test_instruction_layer_compiles_as_cxx17(self):
        headers = [path for path in sorted(INCLUDE.rglob("*.h*")) if "host" not in path.parts]
        self.assert_compile("c++", "gnu++17", [header for header in headers if not forwards(header)])

    def test_knows_headers_that_forward(self):
        self.assertTrue(forwards(INCLUDE / "pto" / "npu" / "a5" / "TLoad.hpp"))
        self.assertFalse(forwards(INCLUDE / "pto" / "tile.hpp"))

    def test_c_interface_compiles_as_c11(self):
        self.assert_compile("c", "c11", C_HEADERS)

    def test_a_header_that_does_not_compile_is_found(self):
        self.assertIn("No such file", complaints("c++", "gnu++17", INCLUDE / "npu" / "gone.hpp"))


if __name__ == "__main__":
    unittest.main()
