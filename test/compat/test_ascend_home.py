# SPDX-License-Identifier: Apache-2.0
"""The folders of a run in the cache: one for each PTO_LIB_PATH, whole or not there, and gone when it is cleared."""

import contextlib
import fcntl
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from op_extension.compat import ascend_home
from op_extension.jit import cache


class AscendHomeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        given = mock.patch.dict(os.environ, {"NPU_CACHE_DIR": str(self.folder / "cache")})
        given.start()
        self.addCleanup(given.stop)

    def made(self):
        return sorted((self.folder / "cache" / "ascend").glob("*"))

    def test_a_relative_folder_means_another_one_elsewhere(self):
        found = set()
        for name in ("first", "second"):
            (self.folder / name / "pto" / "kernels").mkdir(parents=True)
            with contextlib.chdir(self.folder / name):
                pto = ascend_home.make("pto").pto
            self.assertEqual((pto / "kernels").resolve(), self.folder / name / "pto" / "kernels")
            found.add(pto)
        self.assertEqual(len(found), 2)

    def test_nothing_is_left_of_folders_that_could_not_be_made(self):
        for function in ("_make_pto", "_name"):
            with (
                mock.patch.object(ascend_home, function, side_effect=PermissionError),
                self.assertRaises(PermissionError),
            ):
                ascend_home.make("")
            self.assertEqual(self.made(), [])

    def test_only_a_run_that_was_faster_is_taken_for_one(self):
        root = self.folder / "cache" / "ascend" / "key"
        work = self.folder / "cache" / "work"
        for folder in (root, work):
            (folder / "home").mkdir(parents=True)
        ascend_home._name(work, root)
        with self.assertRaises(FileNotFoundError):
            ascend_home._name(work, root / "nowhere" / "key")

    def test_clearing_the_cache_leaves_those_that_are_in_use(self):
        root = ascend_home.make("").home.parent
        with cache.locked(root, fcntl.LOCK_SH):
            cache.Cache().clear()
            self.assertEqual(self.made(), [root])
        cache.Cache().clear()
        self.assertEqual(self.made(), [])


if __name__ == "__main__":
    unittest.main()
