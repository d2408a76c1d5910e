# SPDX-License-Identifier: Apache-2.0
"""The folder of compiled kernels: what is found again, what is not, and what several processes do to it."""

import json
import os
import shutil
import sys
import time
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import torch

import op_extension
from op_extension.jit import compiler, prelude
from op_extension.jit.cache import Cache

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import run_python, start_python
from test.kernel.kernels_of_test import KernelTest, cache_folder

TEXT = '#include "value.h"\nextern "C" void k(int* x) {{ *x = kValue + {}; }}\n'


class CacheTest(KernelTest):
    def setUp(self):
        super().setUp()
        self.path = self.source(TEXT.format(0))
        self.header = self.path.parent / "value.h"
        self.header.write_text("constexpr int kValue = 1;\n")

    def load(self, **options):
        return op_extension.kernel.load(self.path, entry="k", **options)

    def value(self, **options):
        """What the kernel writes, and how often something was compiled for it."""
        x = torch.zeros(1, dtype=torch.int32)
        with mock.patch.object(compiler, "_build", wraps=compiler._build) as build:
            self.load(**options)[1](x)
        return x.item(), build.call_count

    def entry(self):
        """Manifest and library of the kernel."""
        library = self.load().libraries["vector"]
        return library.parent / f"{library.name.split('-')[0]}.json", library

    def test_finds_a_kernel_again(self):
        self.assertEqual(self.value(), (1, 1))
        self.assertEqual(self.value(), (1, 0))

    def test_finds_it_in_a_new_process(self):
        self.value()
        code = f"""
import torch, op_extension
from unittest import mock
from op_extension.jit import compiler, toolchain
k = op_extension.kernel.load({str(self.path)!r}, entry="k")
x = torch.zeros(1, dtype=torch.int32)
with mock.patch.object(toolchain.subprocess, "run", side_effect=AssertionError("a process")):
    k[1](x)
print(x.item())
"""
        done = run_python(code)
        self.assertEqual((done.stdout, done.stderr), ("1\n", ""))

    def test_compiles_again_when_the_source_changes_or_goes_back(self):
        self.value()
        self.path.write_text(TEXT.format(10))
        self.assertEqual(self.value(), (11, 1))
        self.path.write_text(TEXT.format(0))
        self.assertEqual(self.value(), (1, 0))

    def test_compiles_again_when_a_header_of_the_source_changes(self):
        self.value()
        self.header.write_text("constexpr int kValue = 2;\n")
        self.assertEqual(self.value(), (2, 1))

    def test_a_header_that_is_only_touched_changes_nothing(self):
        self.value()
        os.utime(self.header, (1, 1))
        self.assertEqual(self.value(), (1, 0))

    def test_compiles_again_for_other_flags(self):
        self.value()
        for options in (
            {"defines": ["A=1"]},
            {"defines": ["A=2"]},
            {"std": "c++20"},
            {"flags": ["-O1"]},
            {"core": "cube"},
        ):
            self.assertEqual(self.value(**options), (1, 1), options)
            self.assertEqual(self.value(**options), (1, 0), options)

    def test_compiles_again_for_another_compiler(self):
        self.value()
        with mock.patch.dict(os.environ, {"CXX": "g++ -DOTHER"}):
            self.assertEqual(self.value(), (1, 1))

    def test_compiles_again_when_a_shipped_header_changes(self):
        self.value()
        with mock.patch("op_extension.jit.prelude.headers_state", return_value="another state"):
            self.assertEqual(self.value(), (1, 1))

    def assert_rebuilt_with_a_warning(self, pattern):
        with self.assertWarnsRegex(RuntimeWarning, f"cache: expected a kernel .*got {pattern}; compiling it again"):
            self.assertEqual(self.value(), (1, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(self.value(), (1, 0))

    def test_rebuilds_a_damaged_library_with_a_warning(self):
        _, library = self.entry()
        for damage in (b"", b"no library", library.read_bytes()[:-1]):
            library = self.entry()[1]
            library.unlink()
            library.write_bytes(damage)
            self.assert_rebuilt_with_a_warning(".*another content than was written")
        self.entry()[1].unlink()
        self.assert_rebuilt_with_a_warning("no file .*so")

    def test_rebuilds_a_damaged_manifest_with_a_warning(self):
        for damage, pattern in (
            ("", "a text that is no JSON"),
            ("{", "a text that is no JSON"),
            ("[]", "the manifest of another entry"),
            ("{}", "the manifest of another entry"),
        ):
            self.entry()[0].write_text(damage)
            self.assert_rebuilt_with_a_warning(pattern)
        manifest = self.entry()[0]
        entry = json.loads(manifest.read_text())
        del entry["dependencies"]
        manifest.write_text(json.dumps(entry))
        self.assert_rebuilt_with_a_warning("a manifest without 'dependencies'")

    def test_rebuilds_a_foreign_entry_with_a_warning(self):
        manifest, _ = self.entry()
        with mock.patch.object(self, "path", self.source(TEXT.format(5))):
            (self.path.parent / "value.h").write_text("constexpr int kValue = 1;\n")
            foreign = self.entry()[0]
        shutil.copy(foreign, manifest)
        self.assert_rebuilt_with_a_warning("the manifest of another entry")

    def test_rebuilds_a_library_of_another_user_with_a_warning(self):
        _, library = self.entry()
        if os.geteuid() == 0:
            os.chown(library, 4711, -1)
            self.assert_rebuilt_with_a_warning("a file .*so of user 4711")
        else:
            other_user = mock.patch("op_extension.jit.cache.os.geteuid", return_value=4711)
            with other_user, self.assertWarnsRegex(RuntimeWarning, f"a file .* of user {os.getuid()}"):
                self.value()

    def test_precompiled_headers_are_bounded(self):
        folder = self.folder()

        def make(name, age):
            (folder / name).mkdir()
            os.utime(folder / name, (time.time() - age,) * 2)

        day = 24 * 3600
        for number in range(10, 30):
            make(f"other{number}-a", 2 * 3600 + number)
        make("other-old", 31 * day)
        make("own-old", 2 * day)
        make("own-new", 0)
        for number in range(20):
            make(f"used{number}-a", 60)
        prelude._remove_unused(folder, "own", keep="own-new")
        left = {path.name for path in folder.iterdir()}
        self.assertEqual(left, {"own-new", *(f"used{number}-a" for number in range(20))})

    def test_the_newest_precompiled_headers_stay(self):
        folder = self.folder()
        for number in range(20):
            (folder / f"other{number}-a").mkdir()
            os.utime(folder / f"other{number}-a", (time.time() - 7200 - number,) * 2)
        prelude._remove_unused(folder, "own", keep="own-new")
        self.assertEqual({path.name for path in folder.iterdir()}, {f"other{number}-a" for number in range(11)})

    def test_damaged_precompiled_headers_are_made_again(self):
        self.value()
        for file in (cache_folder() / "headers").glob("*/*.gch"):
            file.write_bytes(b"cut")
        self.path.write_text(TEXT.format(7))
        self.assertEqual(self.value(), (8, 1))
        self.assertTrue(any(f.stat().st_size > 1000 for f in (cache_folder() / "headers").glob("*/*.gch")))

    def test_eight_processes_that_compile_one_kernel_at_once_all_succeed(self):
        folder = self.folder()
        code = f"""
import torch, op_extension
x = torch.zeros(1, dtype=torch.int32)
op_extension.kernel.load({str(self.path)!r}, entry="k")[1](x)
print(x.item())
"""
        waits = [start_python(code, NPU_CACHE_DIR=str(folder)) for _ in range(8)]
        done = [wait() for wait in waits]
        self.assertEqual([(d.stdout, d.stderr) for d in done], [("1\n", "")] * 8)
        self.assertEqual(len(list((folder / "kernels").glob("*.so"))), 1)
        self.assertEqual(len(list((folder / "headers").iterdir())), 1)
        self.assertEqual(list((folder / "work").iterdir()), [])

    def test_clearing_waits_for_those_who_compile_and_leaves_no_locks(self):
        cache = Cache(self.folder())
        with ThreadPoolExecutor() as pool:
            with cache.lock("key"), cache.work_folder() as work:
                (work / "unit.cpp").write_text("12345")
                clearing = pool.submit(cache.clear)
                with self.assertRaises(TimeoutError):
                    clearing.result(timeout=0.5)
                self.assertTrue((work / "unit.cpp").is_file())
                (cache.root / "kernels" / "made.so").write_text("123")
            self.assertEqual(clearing.result(timeout=60), 3)
        self.assertEqual([path.name for path in (cache.root / "locks").iterdir()], ["all"])

    def test_the_size_passes_files_that_vanish(self):
        cache = Cache(self.folder())
        (cache.root / "kernels" / "there").write_text("12345")
        (cache.root / "kernels" / "gone").symlink_to("nowhere")
        with mock.patch.object(Path, "is_file", return_value=True):  # as it was a moment ago
            self.assertEqual(cache.size(), 5)

    def test_a_folder_that_cannot_be_written_is_named_and_replaced(self):
        file = self.folder() / "file"
        file.write_text("")
        below = mock.patch.dict(os.environ, {"NPU_CACHE_DIR": str(file / "below")})
        with below, self.assertWarnsRegex(RuntimeWarning, "expected a folder to write to in .*file/below"):
            cache = Cache()
        self.assertTrue(cache.root.is_dir())
        with below, warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(Cache().root, cache.root)
            self.assertEqual([self.value(), self.value()], [(1, 1), (1, 0)])

    def test_the_folder_that_replaces_another_goes_with_the_process(self):
        code = """
import os, warnings
from op_extension.jit.cache import Cache
warnings.simplefilter("ignore")
folder = Cache().root
if os.fork() == 0:
    raise SystemExit  # a forked child leaves it alone
os.wait()
print(folder, folder.is_dir())
"""
        done = run_python(code, NPU_CACHE_DIR="/dev/null/below")
        folder, was_there = done.stdout.split()
        self.assertEqual((was_there, Path(folder).exists(), done.stderr), ("True", False, ""))

    def test_the_folder_is_in_the_home_unless_the_environment_names_one(self):
        from op_extension.jit import cache

        with mock.patch.dict(os.environ, {"NPU_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": "/home/someone"}):
            self.assertEqual(cache.folder(), Path("/home/someone/.cache/op_extension"))
        self.assertEqual(cache.folder(), cache_folder())


if __name__ == "__main__":
    unittest.main()
