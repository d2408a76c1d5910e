# SPDX-License-Identifier: Apache-2.0
"""Runs a function in two processes that are ranks 0 and 1 of a group of torch.distributed."""

import datetime
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import npu_backend

assert npu_backend  # the device, also where torch did not load it

WORLD_SIZE = 2
#: A rank that waits longer for the other gives up.
PATIENCE = datetime.timedelta(seconds=120)


def join_group(rank, folder, backend="hccl", name="store"):
    """Makes this process rank of the default group; the store is a file in folder.

    Waits for the other one, which would find nobody if this one left the group before it has come.
    """
    dist.init_process_group(
        backend, init_method=f"file://{folder}/{name}", rank=rank, world_size=WORLD_SIZE, timeout=PATIENCE
    )
    dist.all_reduce(torch.zeros(1, device="npu"))


def _call(rank, folder, checks):
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", category=FutureWarning, module="torch")  # names that PyTorch renames
    torch.npu.set_device(rank)
    join_group(rank, folder)
    for check in checks:
        check(rank, folder)
    dist.destroy_process_group()


def _run(rank, folder, checks):
    try:
        _call(rank, folder, checks)
    except BaseException:
        Path(folder, f"error{rank}").write_text(traceback.format_exc())
        raise


def run_ranks(*checks, exit_codes=(0, 0), seconds=600):
    """Two ranks of backend hccl, each on its device, call check(rank, folder) for all checks.

    What a rank raises is raised here, as an AssertionError with its stack, and so are other exit codes than
    exit_codes. No rank lives longer than seconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        context = mp.start_processes(_run, (folder, checks), nprocs=WORLD_SIZE, join=False, start_method="spawn")
        end = time.monotonic() + seconds
        for process in context.processes:
            process.join(max(0, end - time.monotonic()))
        late = [process for process in context.processes if process.is_alive()]
        for process in late:
            process.kill()
            process.join()
        errors = [path.read_text() for path in sorted(Path(folder).glob("error?"))]
        assert not errors, "\n".join(errors)
        assert not late, f"expected both ranks to end within {seconds} s, got {len(late)} that ran on"
        ended = tuple(process.exitcode for process in context.processes)
        assert ended == exit_codes, f"expected the exit codes {exit_codes} of ranks 0 and 1, got {ended}"
