# SPDX-License-Identifier: Apache-2.0
"""What pip is told in a run: pins of torch that do not fit and torch-npu are left out, with a sentence for each."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

from op_extension.compat.overlay import STARTUP

sys.path.insert(0, str(STARTUP))
try:
    from op_extension_pip_front import Front
finally:
    sys.path.remove(str(STARTUP))

TORCH = "2.13.0"


class PipFrontTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def front(self, *words):
        """The arguments to go on with, and what was said."""
        front = Front(TORCH)
        self.addCleanup(front.close)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            return front.arguments([str(word) for word in words]), said.getvalue()

    def requirements(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_other_commands_and_requirements_stay_as_they_are(self):
        for words in (
            ["list"],
            ["--version"],
            [],
            ["install", "-U", "numpy", "torch>=2.1"],
            ["install", "torchvision"],
        ):
            with self.subTest(words=words):
                self.assertEqual(self.front(*words), (words, ""))

    def test_a_pin_of_another_torch_is_left_out_by_name(self):
        words, said = self.front("install", "numpy", "torch==2.8.0")
        self.assertEqual(words, ["install", "numpy"])
        self.assertEqual(
            said,
            "op-extension run: pip: expected torch 2.13.0 (it is installed, and the libraries of npu are built for "
            "it), got torch==2.8.0; left out\n",
        )

    def test_torch_npu_is_left_out_in_any_spelling(self):
        for name in ("torch-npu", "torch_npu==2.8.0.post2", "Torch.NPU >= 2"):
            with self.subTest(name=name):
                words, said = self.front("install", "wheel", name)
                self.assertEqual(words, ["install", "wheel"])
                self.assertRegex(said, r"expected no torch-npu \(op_extension's own .* got .*; left out")

    def test_nothing_is_left_to_install(self):
        words, said = self.front("install", "torch==2.8.0", "--no-deps")
        self.assertIsNone(words)
        self.assertIn("left out", said)

    def test_lines_of_requirements_files_are_left_out_by_number(self):
        inner = self.requirements("inner.txt", "torch-npu==2.8.0.post2  # the vendor's\nwheel\n")
        path = self.requirements("outer.txt", f"# pins\ntorch==2.8.0\n-r {inner.name}\nnumpy==1.26.0\n")
        words, said = self.front("install", "-r", path)
        self.assertEqual(words[:2], ["install", "-r"])
        lines = Path(words[2]).read_text().splitlines()
        self.assertEqual((lines[0], lines[1], lines[3]), ("# pins", "", "numpy==1.26.0"))
        self.assertEqual(Path(lines[2].removeprefix("-r ")).read_text(), "\nwheel\n")
        self.assertIn("outer.txt, line 2: expected torch 2.13.0", said)
        self.assertIn("inner.txt, line 1: expected no torch-npu", said)
        self.assertIn("got torch-npu==2.8.0.post2; left out", said)

    def test_what_a_requirements_file_names_is_found_from_its_copy(self):
        pins = self.requirements("pins.txt", "numpy<3\n")
        (self.folder / "wheels").mkdir()
        path = self.requirements("all.txt", "torch==2.8.0\n-c pins.txt\n-rpins.txt  # more\n--find-links wheels\n")
        lines = Path(self.front("install", f"-r{path}")[0][2]).read_text().splitlines()
        self.assertEqual(lines, ["", f"-c {pins}", f"-r {pins}  # more", f"--find-links {self.folder}/wheels"])

    def test_a_requirement_over_several_lines_is_left_out_whole(self):
        path = self.requirements("hashes.txt", "torch==2.8.0 \\\n  --hash=sha256:00 \\\n  --hash=sha256:01\nwheel\n")
        words, said = self.front("install", "-r", path)
        self.assertEqual(Path(words[2]).read_text(), "\n\n\nwheel\n")
        self.assertIn("hashes.txt, line 1: expected torch 2.13.0", said)

    def test_a_file_that_names_itself_is_read_once(self):
        path = self.requirements("circle.txt", "wheel\n-r circle.txt\n")
        words, said = self.front("install", "-r", path)
        self.assertEqual(Path(words[2]).read_text(), "wheel\n\n")
        self.assertIn("circle.txt, line 2: expected another file, got circle.txt in itself; left out", said)

    def test_constraints_are_read_and_copies_end_with_pip(self):
        path = self.requirements("constraints.txt", "torch==2.8.0\nnumpy<3\n")
        front = Front(TORCH)
        with contextlib.redirect_stderr(io.StringIO()):
            copy = Path(front.arguments(["install", "-c", str(path), "numpy"])[2])
        self.assertEqual(copy.read_text(), "\nnumpy<3\n")
        front.close()
        self.assertFalse(copy.parents[1].exists())

    def test_values_of_options_are_no_requirements(self):
        for words in (
            ["--log", "torch==1", "install", "wheel"],
            ["install", "--timeout", "60", "--retries=3", "--progress-bar", "off", "wheel"],
            ["install", "--no-binary", "torch-npu", "--only-binary", "torch==1", "wheel"],
            ["install", "--config-settings", "torch-npu=1", "wheel"],
            ["install", "wheel", "--", "numpy"],
        ):
            with self.subTest(words=words):
                self.assertEqual(self.front(*words), (words, ""))
        self.assertIsNone(self.front("--log", "file", "install", "--timeout", "60", "torch-npu")[0])

    def test_archives_and_addresses_are_read_by_their_project(self):
        for name in (
            *("torch_npu-2.8.0-cp311-cp311-linux_aarch64.whl", "dist/torch_npu-2.8.0-*.whl", "torch-npu-2.8.0.tar.gz"),
            *("https://host/torch-2.8.0%2Bcpu-cp311-cp311-linux_x86_64.whl#sha256=0", "torch @ https://host/a.whl"),
            "git+https://host/pytorch.git#egg=torch_npu",
        ):
            with self.subTest(name=name):
                words, said = self.front("install", "wheel", name)
                self.assertEqual(words, ["install", "wheel"])
                self.assertIn(f"got {name}; left out", said)
        for name in ("torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl", "torchvision-0.1-py3-none-any.whl", "./torch"):
            self.assertEqual(self.front("install", name), (["install", name], ""))

    def test_the_stand_in_is_not_uninstalled(self):
        self.assertIsNone(self.front("uninstall", "-y", "torch_npu")[0])
        self.assertEqual(self.front("uninstall", "-y", "torch_npu", "torch")[0], ["uninstall", "-y", "torch"])

    def test_the_users_folder_is_not_installed_to(self):
        self.assertEqual(self.front("install", "--user", "wheel"), (["install", "wheel"], ""))

    def test_a_file_without_pins_and_one_that_is_not_there_stay(self):
        path = self.requirements("plain.txt", "numpy\ntorch\n")
        for name in (path, self.folder / "gone.txt"):
            self.assertEqual(self.front("install", f"--requirement={name}")[0], ["install", f"--requirement={name}"])

    def test_a_folder_called_torch_is_no_requirement(self):
        words = ["install", "--target", "torch==1", "numpy"]
        self.assertEqual(self.front(*words), (words, ""))

    def test_a_wheel_for_another_python_means_the_one_that_was_built(self):
        built = self.folder / "op_extension-0.0.0-cp311-cp311-linux_x86_64.whl"
        built.touch()
        named = self.folder / "op_extension-0.0.0-cp39-cp39-linux_aarch64.whl"
        for command in ("install", "uninstall"):
            words, said = self.front(command, named)
            self.assertEqual(words, [command, str(built)])
            self.assertIn(f"expected {named.name}, got {built.name} in its folder; taken", said)
        other = self.folder / "op_extension-0.0.1-cp39-cp39-linux_aarch64.whl"
        self.assertEqual(self.front("install", other), (["install", str(other)], ""))


if __name__ == "__main__":
    unittest.main()
