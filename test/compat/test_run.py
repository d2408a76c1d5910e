# SPDX-License-Identifier: Apache-2.0
"""op-extension run: a command's own packages, folders and variables, and what of this environment it leaves alone."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import zipfile
from concurrent import futures
from pathlib import Path
from unittest import mock

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from op_extension import cli
from op_extension.compat import environment, in_the_way, overlay, shipped
from test.compat.driver import heed_interrupts
from test.host.python_process import PACKAGES, run_python

WHOSE = "import importlib.util as u; print(u.find_spec('op_extension').origin)"


def write_wheel(folder, name, version):
    """A wheel with one package, whose only file is empty."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}/__init__.py", "")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", f"{name}/__init__.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return path


class RunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="run of ")  # with blanks
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.overlay = overlay.make(cls.folder / "overlay")
        # As `op-extension run` does; its own start, which imports torch, is tested in RunCommandTest.
        given = {**os.environ, "PYTHONPATH": str(PACKAGES)}
        cls.variables = environment.variables(cls.overlay, given)

    def run_command(self, *command, cwd=None, **variables):
        done = subprocess.run(
            [str(word) for word in command],
            cwd=cwd or self.folder,
            env={**self.variables, **variables},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        return done.stdout


class PackagesTest(RunTest):
    def test_a_package_of_our_name_goes_into_the_overlay_and_leaves_ours_whole(self):
        wheel = write_wheel(self.folder, "op_extension", "0.0.0")
        install = ("pip", "install", "--quiet", "--no-index", "--no-deps", wheel)
        self.run_command(*install)
        theirs = str(self.overlay.site_packages / "op_extension" / "__init__.py")
        for python in ("python3", sys.executable):  # of the run, and this environment's own
            self.assertEqual(self.run_command(python, "-c", WHOSE).strip(), theirs)
        self.assertEqual(self.overlay.installed(), ["op_extension 0.0.0"])
        self.assertRegex(self.run_command("op-extension", "--version"), r"op-extension \d")
        self.assertIn(str(PACKAGES), run_python(WHOSE).stdout)

        self.run_command("pip", "uninstall", "--yes", wheel)
        self.assertFalse(Path(theirs).exists())
        self.run_command("pip", "uninstall", "--yes", "op_extension")  # ours, if it is installed, lies outside
        self.assertTrue((PACKAGES / "op_extension" / "__init__.py").is_file())

    def test_the_environments_own_pip_installs_into_the_overlay(self):
        wheel = write_wheel(self.folder, "a_package_of_the_program", "1.0")
        self.run_command(sys.executable, "-m", "pip", "install", "--quiet", "--no-index", wheel)
        self.assertTrue((self.overlay.site_packages / "a_package_of_the_program").is_dir())

    def test_an_environment_made_in_the_run_sees_torch_and_torch_npu(self):
        self.run_command("python3", "-m", "venv", "--without-pip", "inner")
        code = "import importlib.util as u, sys; print(sys.prefix, *(u.find_spec(n).origin for n in sys.argv[1:]))"
        found = self.run_command("inner/bin/python", "-c", code, "torch", "torch_npu").split("inner ")[1]
        self.assertIn("torch/__init__.py", found)
        self.assertIn("op_extension/compat/torch_npu/__init__.py", found)

    def test_a_python_that_is_not_told_of_the_run_finds_its_packages(self):
        code = "import importlib.util as u; print(*(u.find_spec(n).origin for n in ('torch', 'torch_npu')))"
        for python, path in ((("python3", "-I"), ""), (("python3", "-E"), ""), (("python3",), str(self.folder))):
            with self.subTest(python=python, path=path):
                found = self.run_command(*python, "-c", code, PYTHONPATH=path)
                self.assertRegex(found, r"/torch/__init__.py .*/op_extension/compat/torch_npu/__init__.py\n")

    def test_an_original_torch_npu_is_not_shadowed(self):
        original = self.folder / "original" / "torch_npu"
        original.mkdir(parents=True)
        (original / "__init__.py").touch()
        code = "import importlib.util as u; print(u.find_spec('torch_npu').origin)"
        path = os.pathsep.join([self.variables["PYTHONPATH"], str(original.parent)])
        self.assertEqual(self.run_command("python3", "-c", code, PYTHONPATH=path).strip(), f"{original}/__init__.py")

    def test_its_version_is_known_to_the_metadata(self):
        code = "import importlib.metadata as m; print(m.version('torch_npu') == m.version('torch').split('+')[0])"
        self.assertEqual(self.run_command("python3", "-c", code), "True\n")


class FoldersTest(RunTest):
    def script(self, *lines):
        path = self.folder / "script.sh"
        path.write_text("\n".join(["set -e", *lines]), encoding="utf-8")
        return self.run_command("bash", path).splitlines()

    def test_printed_instructions_find_the_folders_of_the_run(self):
        home = self.overlay.folders.home
        for command, place in (
            ("source", "ascend-toolkit/set_env.sh"),
            ("source", "bin/setenv.bash"),
            (".", "set_env.sh"),
        ):
            with self.subTest(command=command, place=place):
                lines = self.script(
                    "export ASCEND_HOME_PATH=/nowhere/Ascend/",
                    f"{command} /nowhere/Ascend/{place}",
                    'echo "$ASCEND_HOME_PATH"',
                    "command -v bisheng npu-smi npu_smi",
                )
                self.assertEqual(
                    lines, [str(home), *(str(home / "bin" / n) for n in ("bisheng", "npu-smi", "npu_smi"))]
                )

    def test_the_compiler_is_one_word_wherever_the_folders_lie(self):
        given = {name: value for name, value in os.environ.items() if name != "CXX"}
        self.assertEqual(environment.variables(self.overlay, given)["CXX"], "bisheng")
        self.assertEqual(environment.variables(self.overlay, {"CXX": "ccache g++"})["CXX"], "ccache g++")

    def test_a_folder_that_is_not_there_is_replaced_when_python_starts(self):
        code = "import os; print(os.environ['ASCEND_HOME_PATH'], os.environ['PTO_LIB_PATH'])"
        printed = self.run_command("python3", "-c", code, ASCEND_HOME_PATH="/nowhere", PTO_LIB_PATH=str(self.folder))
        self.assertEqual(printed, f"{self.overlay.folders.home} {self.folder}\n")

    def test_scripts_that_source_other_files_keep_bash_as_it_is(self):
        (self.folder / "lists.sh").write_text("declare -A list=([a]=1)\n", encoding="utf-8")
        self.assertEqual(self.script(f"source '{self.folder}/lists.sh'", 'echo "${list[a]}"'), ["1"])

    def test_the_folders_hold_what_build_files_look_for(self):
        home, pto = self.overlay.folders.home, self.overlay.folders.pto
        for name in (
            *("lib64/libascendcl.so", "lib64/libruntime_camodel.so", "lib64/libtorch_npu.so", "lib64/libtiling_api.so"),
            *("tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake", "include/acl/acl.h", "latest/set_env.sh"),
        ):
            self.assertTrue((home / name).is_file(), name)
        self.assertTrue((pto / "include" / "pto" / "pto-inst.hpp").is_file())

    def test_headers_here_come_before_those_of_a_given_folder_whose_rest_stays(self):
        given = self.folder / "given"
        for name in ("include/pto", "kernels/manual"):
            (given / name).mkdir(parents=True)
        with mock.patch.dict(os.environ, {"PTO_LIB_PATH": str(given)}):
            pto = overlay.make(self.folder / "overlay of given").folders.pto
        self.assertEqual((pto / "include").resolve(), shipped.include_folders()[0].resolve())
        self.assertEqual((pto / "kernels").resolve(), (given / "kernels").resolve())

    def test_npu_smi_names_the_chip(self):
        text = self.run_command("npu-smi", "info", NPU_SOC="Ascend910B4", NPU_DEVICE_COUNT="3")
        self.assertEqual(text.count("910B4"), 3, text)

    def test_a_folder_with_other_files_is_no_overlay(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "file").touch()
        with self.assertRaisesRegex(
            ValueError, "expected an empty folder or an overlay, got a folder with other files"
        ):
            overlay.make(self.folder / "mine")


class MakeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name, "overlay")

    def test_two_at_once_make_one(self):
        with futures.ThreadPoolExecutor(2) as pool:
            made = list(pool.map(overlay.make, [self.folder] * 2))
        self.assertEqual(made[0], made[1])
        self.assertTrue((self.folder / "run.json").is_file())

    def test_one_that_was_not_finished_is_made_again(self):
        with (
            mock.patch.object(overlay, "_stand_in_metadata", side_effect=KeyboardInterrupt),
            self.assertRaises(KeyboardInterrupt),
        ):
            overlay.make(self.folder)
        self.assertFalse((self.folder / "run.json").exists())
        self.assertTrue((overlay.make(self.folder).site_packages / "zzz_op_extension_startup.pth").is_file())
        self.assertEqual([path.name for path in self.folder.glob("run.json*")], ["run.json"])

    def test_a_record_that_is_none_is_named(self):
        self.folder.mkdir()
        for text in ("{", "[]", ""):
            (self.folder / "run.json").write_text(text, encoding="utf-8")
            with self.assertRaisesRegex(ValueError, r"overlay .*: expected what op-extension wrote in run.json, got '"):
                overlay.make(self.folder)


class RunCommandTest(RunTest):
    def op_extension(self, *arguments):
        """Exit code and what went to stderr, of the command in this process; the program's output goes elsewhere."""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            code = cli.main([str(word) for word in arguments])
        return code, said.getvalue()

    def test_ends_with_the_code_of_the_command(self):
        toolkit = mock.patch.object(in_the_way, "original_toolkit", return_value="")  # where one is installed, too
        toolkit.start()
        self.addCleanup(toolkit.stop)
        for script, code in (("exit 3", 3), ("kill -TERM $$", 128 + 15), ("exit 0", 0)):
            self.assertEqual(self.op_extension("run", "--overlay", self.overlay.folder, "sh", "-c", script), (code, ""))

    def test_says_what_went_with_the_run(self):
        wheel = write_wheel(self.folder, "short_lived", "1.0")
        code, said = self.op_extension("run", "pip", "install", "--quiet", "--no-index", wheel)
        self.assertEqual(code, 0)
        self.assertIn("op-extension run: installed for this run only: short_lived 1.0; --overlay FOLDER keeps", said)

    def test_a_command_that_is_none_is_named(self):
        self.assertRegex(self.op_extension("run")[1], "expected a command, got none; usage: op-extension run")
        code, said = self.op_extension("run", "--overlay", self.overlay.folder, "no_such_program")
        self.assertEqual((code, "no_such_program, which is not on PATH" in said), (127, True))
        (self.folder / "plain").touch()
        for word, code, what in (
            ("", 127, "an empty name, which is not on PATH"),
            (self.folder, 126, f"{self.folder}, which is a folder"),
            (self.folder / "plain", 126, f"{self.folder}/plain, which is not executable"),
        ):
            done = self.op_extension("run", "--overlay", self.overlay.folder, word)
            self.assertEqual(
                (done[0], done[1].splitlines()[-1]), (code, f"op-extension run: expected a program, got {what}")
            )
        self.assertEqual(self.op_extension("run", "--overlay", self.overlay.folder, "--", "true")[0], 0)

    def test_an_overlay_that_cannot_be_made_is_named(self):
        (self.folder / "a file").touch()
        for folder, sentence in (
            ("", "--overlay: expected a folder, got an empty name"),
            (self.folder / "a:b", f"overlay {self.folder}/a:b: expected a path without :, which parts those of PATH"),
            (self.folder / "a file", f"overlay {self.folder}/a file: expected a folder, got a file"),
            (
                self.folder / "a file" / "in it",
                f"expected a file or folder that can be written, got {self.folder}/a file/in it: Not a directory",
            ),
        ):
            for command in (("run", "--overlay", folder, "true"), ("env", "--overlay", folder)):
                self.assertEqual(self.op_extension(*command), (2, f"op-extension {command[0]}: {sentence}\n"))

    def test_a_signal_before_the_command_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with (
                mock.patch.object(tempfile, "tempdir", str(self.folder)),
                mock.patch.object(overlay, "_programs", lambda made, number=number: os.kill(os.getpid(), number)),
                mock.patch.dict(os.environ),
            ):
                os.environ.pop("NPU_OVERLAY", None)
                code, said = self.op_extension("run", "true")
            sentence = f"op-extension run: expected the command to start, got {number.name}\n"
            self.assertEqual((code, said), (128 + number, sentence))
            self.assertEqual(list(self.folder.glob("op_extension_overlay_*")), [])

    def test_an_interrupt_while_python_imports_says_nothing(self):
        started = self.folder / "interrupted"
        (started / "torch").mkdir(parents=True)
        for module in ("argparse.py", "torch/__init__.py"):  # of the command itself, and what doctor imports
            (started / module).write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
        script = started / "op-extension"
        script.write_text("import sys; from op_extension.cli import main; sys.exit(main())")
        path = os.pathsep.join([str(started), str(PACKAGES)])
        for command in ([script, "run", "true"], ["-m", "op_extension.cli", "run", "true"], [script, "doctor"]):
            done = subprocess.run(
                [sys.executable, *map(str, command)],
                env={**os.environ, "PYTHONPATH": path},
                preexec_fn=heed_interrupts,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            self.assertEqual((done.returncode, done.stdout, done.stderr), (128 + signal.SIGINT, "", ""))

    def test_a_signal_goes_to_the_command(self):
        script = "trap 'exit 7' TERM; kill -TERM $PPID; while :; do sleep 0.1; done"
        self.assertEqual(self.op_extension("run", "--overlay", self.overlay.folder, "sh", "-c", script)[0], 7)

    def test_env_takes_one_folder_for_all_shells(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"NPU_CACHE_DIR": folder}):
            os.environ.pop("NPU_OVERLAY", None)
            for _ in range(2):
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    self.assertEqual(self.op_extension("env"), (0, ""))
                (made,) = Path(folder, "ascend").glob("overlay-*")
                self.assertIn(f"export NPU_OVERLAY={made}\n", out.getvalue())

    def test_an_original_in_the_way_is_named(self):
        with mock.patch.object(in_the_way, "original_torch_npu", return_value=Path("/somewhere/torch_npu")):
            for arguments in (("run", "true"), ("env",)):
                code, said = self.op_extension(*arguments)
                self.assertEqual(code, 2)
                self.assertRegex(said, "expected no torch_npu .* got the one in /somewhere/torch_npu; .* pip uninstall")

    def test_env_prints_the_same_variables(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(cli.main(["env", "--overlay", str(self.overlay.folder)]), 0)
        script = f"{out.getvalue()}\nenv -0"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        found = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
        for name, value in environment.variables(self.overlay, dict(os.environ)).items():
            if name not in {"_", "SHLVL", "PWD", "OLDPWD"}:
                self.assertEqual(found.get(name), value, name)


class InTheWayTest(unittest.TestCase):
    def test_another_package_of_our_name_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder, "op_extension")
            other.mkdir()
            (other / "__init__.py").touch()
            with mock.patch.object(sys, "path", [folder, *sys.path]):
                self.assertIn(other, in_the_way.other_packages())
                with mock.patch.dict(os.environ, {"NPU_OVERLAY": folder}):
                    self.assertNotIn(other, in_the_way.other_packages())
            with contextlib.chdir(folder):
                self.assertEqual(in_the_way.package_of_this_folder(), other.resolve())
        self.assertNotIn(shipped.ROOT / "op_extension", in_the_way.other_packages())

    def test_an_original_torch_npu_is_found_and_ours_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            original = Path(folder, "torch_npu")
            original.mkdir()
            (original / "__init__.py").touch()
            with mock.patch.object(sys, "path", [folder, *sys.path]), mock.patch.dict(sys.modules):
                sys.modules.pop("torch_npu", None)  # ours, where another test imported it
                self.assertEqual(in_the_way.original_torch_npu(), original.resolve())
        self.assertIsNone(in_the_way.original_torch_npu())

    def test_an_installed_toolkit_is_found_and_ours_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.dict(os.environ, {"ASCEND_HOME_PATH": folder}):
                self.assertEqual(in_the_way.original_toolkit(), folder)
            Path(folder, "bash_env.sh").touch()
            with mock.patch.dict(os.environ, {"ASCEND_HOME_PATH": folder}):
                self.assertNotEqual(in_the_way.original_toolkit(), folder)


if __name__ == "__main__":
    unittest.main()
