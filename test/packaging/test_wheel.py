# SPDX-License-Identifier: Apache-2.0
"""What is in the wheel."""

import email
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile
from importlib.metadata import version
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.packaging.environment import ROOT, SITE_PACKAGES, scratch, wheel

KERNELS = re.compile(r"op_extension/lib/libop_kernels_[\w-]+\.so")
LIBRARIES = {
    "npu_backend/lib/libnpu_runtime.so",
    "npu_backend/lib/libnpu_backend.so",
    "npu_backend/lib/libpto.so",  # a script of the linker
    "op_extension/lib/libop_extension.so",
    "op_extension/lib/libhcomm.so",
    "op_extension/lib/libmpi.so",
    f"op_extension/_runtime{sysconfig.get_config_var('EXT_SUFFIX')}",
}


class BuildTest(unittest.TestCase):
    def test_leaves_what_else_is_in_the_folder_that_it_builds_into(self):
        with tempfile.TemporaryDirectory() as name:
            own, stale = Path(name, "own.txt"), Path(name, "npu_backend", "gone.py")
            stale.parent.mkdir()
            for file in (own, stale):
                file.write_text("")
            command = [sys.executable, "setup.py", "-q", "build_py", f"--build-lib={name}"]
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
            self.assertTrue(Path(name, "npu_backend", "__init__.py").is_file())
            self.assertEqual((own.exists(), stale.exists()), (True, False))


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.archive = zipfile.ZipFile(wheel())
        cls.addClassCleanup(cls.archive.close)
        cls.names = cls.archive.namelist()
        cls.libraries = [name for name in cls.names if name.endswith(".so")]
        (metadata,) = [name for name in cls.names if name.endswith(".dist-info/METADATA")]
        cls.info = metadata.rpartition("/")[0]
        cls.metadata = email.message_from_bytes(cls.archive.read(metadata))

    def test_is_for_this_python_and_platform(self):
        tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        self.assertRegex(wheel().name, rf"^op_extension-[\d.]+-cp311-cp311-{tag}\.whl$")
        self.assertIn("Root-Is-Purelib: false", self.archive.read(f"{self.info}/WHEEL").decode())

    def test_requires_the_torch_it_was_built_with(self):
        minor = ".".join(version("torch").split("+")[0].split(".")[:2])
        needed = [line for line in self.metadata.get_all("Requires-Dist") if "extra" not in line]
        self.assertEqual(sorted(needed), ["numpy", f"torch=={minor}.*"])

    def test_the_extra_asks_for_the_distribution_that_brings_torch_npu(self):
        asked = [line for line in self.metadata.get_all("Requires-Dist") if "extra" in line]
        own = self.metadata["Version"]
        self.assertEqual([line.replace('"', "'") for line in asked], [f"op_extension_compat=={own}; extra == 'compat'"])

    def test_names_its_licence_and_holds_its_text(self):
        self.assertEqual(self.metadata["License-Expression"], "Apache-2.0")
        text = self.archive.read(f"{self.info}/licenses/LICENSE").decode()
        self.assertEqual(text, (ROOT / "LICENSE").read_text(encoding="utf-8"))

    def test_has_the_entry_point_of_the_device(self):
        text = self.archive.read(f"{self.info}/entry_points.txt").decode()
        self.assertRegex(text, r"(?m)^\[torch\.backends\]\nnpu = npu_backend:_autoload$")

    def test_holds_libraries_headers_and_type_information(self):
        headers = ROOT / "csrc" / "include"
        expected = {
            f"op_extension/include/{path.relative_to(headers).as_posix()}"
            for path in headers.rglob("*")
            if path.is_file()
        }
        self.assertGreater(len(expected), 10)
        expected |= LIBRARIES | {f"op_extension/include/{name}.h" for name in ("npu_runtime", "npu_trace")}
        expected |= {"op_extension/cmake/ascendc.cmake", "op_extension/py.typed", "npu_backend/py.typed"}
        self.assertEqual(expected - set(self.names), set())

    def test_holds_all_modules_and_nothing_else(self):
        modules = {
            path.relative_to(ROOT).as_posix()
            for package in ("op_extension", "npu_backend")
            for path in (ROOT / package).rglob("*.py")
        }
        self.assertEqual(modules - set(self.names), set())
        top = {name.split("/")[0] for name in self.names}
        self.assertEqual(top, {"op_extension", "npu_backend", self.info})
        self.assertEqual({name for name in self.libraries if not KERNELS.match(name)}, LIBRARIES)
        self.assertEqual(len(set(self.libraries)), len(self.libraries))

    def test_holds_kernels_for_the_levels_it_was_built_for(self):
        levels = sorted(name for name in self.libraries if KERNELS.match(name))
        if "NPU_TEST_WHEEL" in os.environ and platform.machine() == "x86_64":
            self.assertEqual(len(levels), 3, levels)
        else:
            self.assertGreaterEqual(len(levels), 1, levels)

    def test_holds_no_path_of_the_machine_that_built_it(self):
        paths = [f"{ROOT}/", f"{SITE_PACKAGES}/", f"{scratch()}/"]
        for name in self.names:
            content = self.archive.read(name)
            for path in paths:
                with self.subTest(name=name, path=path):
                    self.assertNotIn(path.encode(), content)

    def test_libraries_look_for_each_other_beside_themselves_only(self):
        for name in self.libraries:
            with self.subTest(name=name):
                file = self.archive.extract(name, scratch() / "extracted")
                if name.endswith("/libpto.so"):
                    continue
                command = ["readelf", "--dynamic", "--wide", file]
                text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                runpaths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", text)
                for entry in ":".join(runpaths).split(":"):
                    self.assertRegex(entry, r"^\$ORIGIN(/|$)")


if __name__ == "__main__":
    unittest.main()
