# SPDX-License-Identifier: Apache-2.0
"""The installed wheel in an environment that has torch and nothing else of this repository."""

import shutil
import unittest

from test.packaging.environment import (
    ADD,
    ROOT,
    Environment,
    installed,
    last_line,
    wheel,
)

ONES = "import torch; print(torch.ones(2, device='npu') + 1)"
CLEAN = "import sys, torch; print('npu_backend' in sys.modules, torch.ones(2).sum().item())"


class InstalledTest(unittest.TestCase):
    def assert_prints(self, done, text):
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{text}\n", ""))

    def assert_one_sentence(self, done, pattern):
        """An exception whose message is one line; never an abort."""
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(last_line(done.stderr), rf"^\w*(Error|Exception): {pattern}")

    def test_import_torch_alone_brings_the_device(self):
        self.assert_prints(installed().run(ONES), "tensor([2., 2.], device='npu:0')")

    def test_import_op_extension_brings_the_operators(self):
        self.assert_prints(installed().run(ADD), "[2.0, 2.0, 2.0]")

    def test_either_package_may_be_imported_before_torch(self):
        for package in ("npu_backend", "op_extension"):
            with self.subTest(package=package):
                code = f"import {package}, torch; print((torch.ones(2).npu() + 1).tolist())"
                self.assert_prints(installed().run(code), "[2.0, 2.0]")

    def test_loading_the_library_alone_brings_device_and_operators(self):
        library = installed().site_packages / "op_extension" / "lib" / "libop_extension.so"
        code = (
            f"import torch; torch.ops.load_library({str(library)!r}); x = torch.ones(2); "
            "print(torch.ops.npu.my_add(x, x).tolist(), "
            "torch.ops.npu.my_add(x.to('npu'), x.to('npu')).cpu().tolist())"
        )
        done = installed().run(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        self.assert_prints(done, "[2.0, 2.0] [2.0, 2.0]")

    def test_a_folder_of_sources_without_library_is_named(self):
        folder = installed().folder / "sources"
        for package in ("op_extension", "npu_backend"):
            ignored = shutil.ignore_patterns("lib", "include", "__pycache__")
            shutil.copytree(ROOT / package, folder / package, ignore=ignored)
        done = installed().run(ADD, folder=folder)
        self.assert_one_sentence(done, r".*got a folder without")
        done = installed().run("import torch; print(torch.ones(2).sum().item())", folder=folder)
        self.assertEqual((done.returncode, done.stdout), (0, "2.0\n"), done.stderr)

    def test_a_second_copy_of_a_library_ends_in_one_sentence(self):
        for package, library in (("npu_backend", "npu_backend"), ("op_extension", "op_extension")):
            path = ROOT / package / "lib" / f"lib{library}.so"
            self.assertTrue(path.is_file(), path)
            with self.subTest(library=library):
                done = installed().run(f"import op_extension, torch; torch.ops.load_library({str(path)!r})")
                self.assertIn(done.returncode, (0, 1), done.stderr)
                sentences = [line for line in done.stderr.splitlines() if "expected" in line and "got" in line]
                self.assertEqual(len(sentences), 1, done.stderr)

    def test_an_editable_copy_of_the_operators_works_with_the_device_of_the_wheel(self):
        code = (
            f"import torch, sys; sys.path.insert(0, {str(ROOT)!r}); import op_extension; "
            "x = torch.ones(2, device='npu'); print(torch.ops.npu.my_add(x, x).tolist())"
        )
        self.assert_prints(installed().run(code), "[2.0, 2.0]")

    def test_under_another_torch_the_import_names_both_versions(self):
        environment = Environment("other_torch")
        environment.install("--no-deps", wheel())
        environment.rename_torch("2.99.1")
        # A library of another torch may fail to load, or crash: the question comes first.
        library = environment.site_packages / "npu_backend" / "lib" / "libnpu_backend.so"
        library.write_bytes(b"none" + library.read_bytes()[4:])
        done = environment.run("import op_extension", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        self.assert_one_sentence(done, r".*(2\.13.*2\.99\.1|2\.99\.1.*2\.13)")
        done = environment.run("import torch; print(torch.ones(2).sum().item())")
        self.assertEqual((done.returncode, done.stdout), (0, "2.0\n"), done.stderr)

    def test_uninstalling_leaves_torch_clean(self):
        environment = Environment("uninstalled")
        environment.install(wheel())
        self.assert_prints(environment.run(CLEAN), "True 2.0")
        done = environment.pip("uninstall", "--yes", "op_extension")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_prints(environment.run(CLEAN), "False 2.0")
        left = [p.name for p in environment.site_packages.iterdir() if "npu" in p.name.lower()]
        left += [p.name for p in environment.site_packages.glob("op_extension*")]
        self.assertEqual([name for name in left if not name.startswith("numpy")], [])

    def test_building_without_torch_ends_with_advice(self):
        environment = Environment("no_torch", packages={"setuptools", "wheel", "_distutils_hack"})
        arguments = ("install", "--no-index", "--no-deps", "--no-build-isolation", str(ROOT))
        done = environment.pip(*arguments)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("op_extension: expected torch in the environment", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
