# SPDX-License-Identifier: Apache-2.0
"""The launcher of ranks: which programs it starts, how they find each other, and how they end."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from op_extension.compat import mpirun
from test.compat.driver import heed_interrupts

#: A program that uses MPI as programs for the chip do: by name, with MPICH's numbers.
PRELUDE = """
    import ctypes, os, sys, time
    mpi = ctypes.CDLL(os.environ["MPI_LIB_PATH"])
    WORLD, BYTE = 0x44000000, 0x4C000101
    assert mpi.MPI_Init(None, None) == 0
    rank, size = ctypes.c_int(), ctypes.c_int()
    assert mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank)) == 0
    assert mpi.MPI_Comm_size(WORLD, ctypes.byref(size)) == 0
    rank, size = rank.value, size.value
    def say(text):
        os.write(1, f"{rank}: {text}\\n".encode())
"""


class MpirunTest(unittest.TestCase):
    def run_ranks(self, ranks: int, program: str, *options: str, **keywords):
        """A program on so many ranks; returns what the launcher returned, with the sorted lines of output."""
        text = textwrap.dedent(PRELUDE) + textwrap.dedent(program)
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "program.py")
            script.write_text(text, encoding="utf-8")
            command = [sys.executable, mpirun.__file__, "-n", str(ranks), *options, sys.executable, str(script)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, **keywords)
        return done.returncode, sorted(done.stdout.splitlines()), done.stderr

    def test_ranks_find_each_other(self):
        program = """
            data = (ctypes.c_char * 3)(*([b"a", b"b", b"c"] if rank == 1 else [b"x"] * 3))
            assert mpi.MPI_Bcast(data, 3, BYTE, 1, WORLD) == 0
            assert mpi.MPI_Barrier(WORLD) == 0
            say(f"{size} {data.raw.decode()} {os.environ['NPU_DEVICE_COUNT']} {os.environ['OWN']}")
            assert mpi.MPI_Finalize() == 0
        """
        environment = {name: value for name, value in os.environ.items() if name != "NPU_DEVICE_COUNT"}
        code, lines, errors = self.run_ranks(3, program, "-x", "OWN=5", env=environment)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(lines, [f"{rank}: 3 abc 3 5" for rank in range(3)])

    def test_a_rank_that_is_killed_ends_the_others(self):
        program = """
            mpi.MPI_Barrier(WORLD)
            if rank == 1:
                os.kill(os.getpid(), 9)
            say(mpi.MPI_Barrier(WORLD))
            time.sleep(60)
        """
        start = time.monotonic()
        code, lines, errors = self.run_ranks(3, program)
        self.assertEqual(code, 128 + signal.SIGKILL)
        self.assertIn("mpirun: expected rank 1 of 3 to end well, got SIGKILL\n", errors)
        self.assertIn("rank 0: MPI_Barrier: expected rank 1 of 3 to come, got its end\n", errors)
        self.assertEqual(lines, ["0: 15", "2: 15"])
        self.assertLess(time.monotonic() - start, 50)

    def test_ranks_are_told_of_one_that_refuses_its_call(self):
        for call, refusal in (
            ("mpi.MPI_Bcast(None, 0, 3, 0, WORLD)", "MPI_Bcast: expected a basic type, got 3"),
            ("mpi.MPI_Barrier(7)", "MPI_Barrier: expected MPI_COMM_WORLD or MPI_COMM_SELF, got 7"),
        ):
            code, lines, errors = self.run_ranks(2, f"say(({call} if rank == 1 else mpi.MPI_Barrier(WORLD)) != 0)")
            self.assertEqual((code, lines), (0, ["0: True", "1: True"]))
            self.assertIn(f"rank 1: {refusal}\n", errors)
            told = f"rank 0: MPI_Barrier: expected rank 1 of 2 to come, got its refusal ({refusal})\n"
            self.assertIn(told, errors)

    def test_returns_the_exit_code_of_a_rank_that_failed(self):
        code, _, errors = self.run_ranks(2, "sys.exit(7 * rank)")
        self.assertEqual(code, 7)
        self.assertIn("mpirun: expected rank 1 of 2 to end well, got exit code 7\n", errors)

    def test_a_signal_without_a_name_is_told_by_its_number(self):
        code, _, errors = self.run_ranks(1, "os.kill(os.getpid(), 40)")
        self.assertEqual((code, errors), (128 + 40, "mpirun: expected rank 0 of 1 to end well, got signal 40\n"))

    def test_abort_ends_all(self):
        code, _, errors = self.run_ranks(2, "mpi.MPI_Abort(WORLD, 3) if rank == 0 else time.sleep(60)")
        self.assertEqual(code, 3)
        self.assertIn("rank 0: MPI_Abort: 3\n", errors)

    def test_ranks_end_with_the_launcher(self):
        launcher, processes = self.launch_sleepers(2)
        launcher.kill()
        launcher.wait()
        deadline = time.monotonic() + 30
        while any(is_alive(process) for process in processes):
            self.assertLess(time.monotonic(), deadline, f"expected ranks {processes} to end, got one that runs")
            time.sleep(0.02)  # they are no children of this process

    def test_an_interrupt_ends_the_ranks(self):
        launcher, processes = self.launch_sleepers(2)
        launcher.send_signal(signal.SIGINT)
        self.assertEqual(launcher.wait(timeout=30), 128 + signal.SIGINT)
        self.assertFalse(any(is_alive(process) for process in processes))

    def launch_sleepers(self, ranks):
        """A launcher whose ranks sleep, and their processes; ended with the test, without the test's output."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # A rank takes its name when it is all written.
        script = (
            f"cd {folder.name} && echo $$ > .${{NPU_RANK%/*}} && mv .${{NPU_RANK%/*}} ${{NPU_RANK%/*}}; exec sleep 60"
        )
        command = [sys.executable, mpirun.__file__, "-n", str(ranks), "sh", "-c", script]
        launcher = subprocess.Popen(
            command, preexec_fn=heed_interrupts, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.addCleanup(launcher.wait)
        self.addCleanup(launcher.kill)  # first; its ranks end with it
        written = [Path(folder.name, str(rank)) for rank in range(ranks)]
        deadline = time.monotonic() + 30
        while not all(path.is_file() for path in written):
            self.assertIsNone(launcher.poll(), "expected ranks that start, got the end of their launcher")
            self.assertLess(time.monotonic(), deadline, f"expected {ranks} ranks to say that they run, got fewer")
            time.sleep(0.02)  # a rank says so by a file
        return launcher, [int(path.read_text()) for path in written]

    def test_names_what_it_refuses(self):
        for arguments, sentence in (
            (["-n", "0", "true"], "mpirun: expected 1 to 64 ranks, got 0"),
            (["-n", "x", "true"], "mpirun: expected 1 to 64 ranks, got x"),
            (["-np"], "mpirun: expected a value behind -np, got none"),
            (["-n", "2"], "mpirun: expected a program, got none"),
            (["-x", "=v", "true"], "mpirun: expected the name of a variable behind -x, got none"),
            (["-genv", "A=1", "2", "true"], "mpirun: expected the name of a variable behind -genv, got A=1"),
            (["--hostfile", "x", "true"], "mpirun: expected an option that it knows, got --hostfile"),
        ):
            with self.subTest(arguments=arguments), self.assertRaisesRegex(mpirun.UsageError, sentence):
                mpirun.parse(arguments)
        done = subprocess.run([sys.executable, mpirun.__file__, "/none"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "mpirun: expected a program, got /none: No such file or directory\n")

    def test_takes_options_of_other_launchers(self):
        command = mpirun.parse(
            ["--allow-run-as-root", "-np", "4", "--bind-to", "none", "-genv", "A", "1", "run.sh", "-n", "3"]
        )
        self.assertEqual(command, mpirun.Command(4, ["run.sh", "-n", "3"], {"A": "1"}))


def is_alive(process: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    unittest.main()
