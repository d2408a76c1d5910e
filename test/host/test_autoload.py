# SPDX-License-Identifier: Apache-2.0
"""Trial 16, and 25 with test_process.py: what `import torch` does in an environment that has the package installed."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import npu_backend

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import PACKAGES, output_of, run_python

PLUS_ONE = "print((torch.ones(2, device='npu') + 1).tolist())"
LIBRARY = npu_backend._boot._library.library_path()


def declare(folder, name="npu", value="npu_backend:_autoload"):
    """Makes folder look like a site-packages in which a distribution declares the entry point."""
    info = Path(folder, f"{name}-1.0.dist-info")
    info.mkdir()
    Path(info, "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    Path(info, "entry_points.txt").write_text(f"[torch.backends]\n{name} = {value}\n")


class AutoloadTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.site = Path(scratch.name, "site")
        self.site.mkdir()
        declare(self.site)

    def copy_package(self):
        """A copy of the package without its library, which comes before the real one."""
        ignore = shutil.ignore_patterns("lib", "__pycache__")
        shutil.copytree(PACKAGES / "npu_backend", self.site / "npu_backend", ignore=ignore)
        return self.site / "npu_backend"

    def test_import_torch_brings_the_device(self):
        code = f"import torch\n{PLUS_ONE}\nprint(torch.npu.device_count())"
        self.assertEqual(output_of(code, path=[self.site]), "[2.0, 2.0]\n2\n")

    def test_any_order_of_imports_works(self):
        for imports in (
            "import npu_backend, torch",
            "import torch, npu_backend",
            "import npu_backend._boot, torch",
            "import op_extension",
            "import op_extension, torch",
            "import torch, op_extension",
            "import torch.npu.amp",
        ):
            for autoload in ("0", "1"):
                with self.subTest(imports=imports, autoload=autoload):
                    if imports == "import torch.npu.amp" and autoload == "0":
                        continue  # nothing says that there is such a module then
                    output = output_of(
                        f"{imports}\nimport torch\n{PLUS_ONE}",
                        path=[self.site],
                        cwd="/",
                        TORCH_DEVICE_BACKEND_AUTOLOAD=autoload,
                    )
                    self.assertEqual(output, "[2.0, 2.0]\n")

    def test_variable_0_leaves_torch_alone(self):
        code = "import torch, sys; print(hasattr(torch, 'npu'), 'npu_backend' in sys.modules)"
        self.assertEqual(output_of(code, path=[self.site], TORCH_DEVICE_BACKEND_AUTOLOAD="0"), "False False\n")

    def check_import_torch_survives(self, sentence):
        done = run_python("import torch\nprint(torch.ones(2).tolist())", path=[self.site], cwd=self.site)
        self.assertEqual((done.returncode, done.stdout), (0, "[1.0, 1.0]\n"), done.stderr)
        self.assertIn("npu_backend", done.stderr)
        self.assertRegex(done.stderr, sentence)
        done = run_python("import torch, npu_backend", path=[self.site], cwd=self.site, arguments=["-W", "ignore"])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1], f"ImportError: .*{sentence}")

    def test_missing_library_is_a_sentence_and_a_warning(self):
        self.copy_package()
        self.check_import_torch_survives("expected libnpu_backend.so in .*, got a folder without a library; build it")

    def test_broken_library_is_a_sentence_and_a_warning(self):
        lib = self.copy_package() / "lib"
        lib.mkdir()
        text = LIBRARY.read_bytes()
        built_for = text[text.index(b"npu_backend built for torch") :].split(b"\0")[0]
        (lib / LIBRARY.name).write_bytes(b"no library" + built_for + b"\0")
        self.check_import_torch_survives("expected .*libnpu_backend.so to load, got: ")

    def test_library_for_another_torch_names_both_versions(self):
        lib = self.copy_package() / "lib"
        lib.mkdir()
        text = LIBRARY.read_bytes()
        place = text.index(b"npu_backend built for torch ") + len(b"npu_backend built for torch ")
        end = text.index(b"\0", place)
        other = b"2.10.1".ljust(end - place, b"+")
        (lib / LIBRARY.name).write_bytes(text[:place] + other + text[end:])
        self.check_import_torch_survives(
            r"expected torch 2\.10\.1.*, for which it was built, got torch 2\.13\.\d.*; "
            r"install torch==2\.10\.1.*, or build npu_backend again with this torch"
        )

    def test_torch_npu_beside_it_keeps_the_device(self):
        Path(self.site, "torch_npu").mkdir()
        Path(self.site, "torch_npu", "__init__.py").write_text("")
        self.check_import_torch_survives("expected to be the only package for the device npu, got torch_npu in ")


if __name__ == "__main__":
    unittest.main()
