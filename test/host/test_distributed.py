# SPDX-License-Identifier: Apache-2.0
"""Backend hccl of torch.distributed: each collective beside the same one on CPU tensors under Gloo."""

import gc
import os
import threading
import time
import unittest

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

from test.host.python_process import output_of
from test.host.queued_work import Queue
from test.host.two_ranks import PATIENCE, WORLD_SIZE, join_group, run_ranks

_check = unittest.TestCase()

_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_DTYPES = (*_FLOATS, torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.complex64)
_REDUCTIONS = ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")


def values(rank, *shape, dtype=torch.float32):
    """Other ones for each rank."""
    generator = torch.Generator().manual_seed(17 + rank)
    return torch.randint(0, 9, shape, generator=generator).to(dtype)


# Each takes new(*shape), which makes a tensor with values of this rank, the rank and the group, and returns tensors.


def all_reduce(new, rank, group):
    x = new(3, 4)
    dist.all_reduce(x, group=group)
    return [x]


def all_reduce_of_any_order(new, rank, group):
    x = new(2, 3, 4, 5).to(memory_format=torch.channels_last)
    dist.all_reduce(x, group=group)
    return [x]


def all_reduce_coalesced(new, rank, group):
    tensors = [new(3), new(2, 2)]
    dist.all_reduce_coalesced(tensors, group=group)
    return tensors


def broadcast(new, rank, group):
    x = new(5)
    dist.broadcast(x, src=1, group=group)
    return [x]


def reduce(new, rank, group):
    x = new(5)
    dist.reduce(x, dst=1, op=ReduceOp.MAX, group=group)
    return [x] if rank == 1 else []


def all_gather(new, rank, group):
    outputs = [new(2, 3) for _ in range(WORLD_SIZE)]
    dist.all_gather(outputs, new(2, 3), group=group)
    return outputs


def all_gather_into_tensor(new, rank, group):
    output = new(4, 3)
    dist.all_gather_into_tensor(output, new(2, 3), group=group)
    return [output]


def all_gather_coalesced(new, rank, group):
    outputs = [[new(2), new(3)] for _ in range(WORLD_SIZE)]
    dist.all_gather_coalesced(outputs, [new(2), new(3)], group=group)
    return outputs[0] + outputs[1]


def gather(new, rank, group):
    outputs = [new(3) for _ in range(WORLD_SIZE)] if rank == 1 else None
    dist.gather(new(3), outputs, dst=1, group=group)
    return outputs or []


def scatter(new, rank, group):
    output = new(3)
    inputs = [new(3) + i for i in range(WORLD_SIZE)] if rank == 0 else None
    dist.scatter(output, inputs, src=0, group=group)
    return [output]


def reduce_scatter(new, rank, group):
    output = new(3)
    dist.reduce_scatter(output, [new(3) + i for i in range(WORLD_SIZE)], group=group)
    return [output]


def reduce_scatter_tensor(new, rank, group):
    output = new(3)
    dist.reduce_scatter_tensor(output, new(6), op=ReduceOp.AVG, group=group)
    return [output]


def all_to_all(new, rank, group):
    outputs = [new(2, 3) for _ in range(WORLD_SIZE)]
    dist.all_to_all(outputs, [new(2, 3) + i for i in range(WORLD_SIZE)], group=group)
    return outputs


def all_to_all_single(new, rank, group):
    output = new(3 if rank == 0 else 5)
    dist.all_to_all_single(
        output, new(4), [1, 2] if rank == 0 else [3, 2], [1, 3] if rank == 0 else [2, 2], group=group
    )
    return [output]


def send_and_receive(new, rank, group):
    x = new(4)
    if rank == 0:
        dist.send(x, 1, group=group, tag=3)
        _check.assertEqual(dist.recv(x, group=group), 1)  # from any rank
    else:
        y = x.clone()
        dist.recv(x, 0, group=group, tag=3)
        dist.send(y, 0, group=group)
    return [x]


def send_and_receive_at_once(new, rank, group):
    x = new(4)
    y = torch.zeros_like(x)
    calls = [dist.P2POp(dist.isend, x, 1 - rank, group), dist.P2POp(dist.irecv, y, 1 - rank, group)]
    for work in dist.batch_isend_irecv(calls):
        work.wait()
    return [y]


def empty_tensors(new, rank, group):
    x, outputs = new(0, 3), [new(0) for _ in range(WORLD_SIZE)]
    dist.all_reduce(x, group=group)
    dist.all_gather(outputs, new(0), group=group)
    return [x, *outputs]


COLLECTIVES = (
    *(all_reduce, all_reduce_of_any_order, all_reduce_coalesced, broadcast, reduce, all_gather),
    *(all_gather_into_tensor, all_gather_coalesced, gather, scatter, reduce_scatter, reduce_scatter_tensor),
    *(all_to_all, all_to_all_single, send_and_receive, send_and_receive_at_once, empty_tensors),
)


def compare_collectives(rank, folder):
    gloo = dist.new_group(backend="gloo")
    for collective in COLLECTIVES:
        with _check.subTest(collective=collective.__name__):
            expected = collective(lambda *shape: values(rank, *shape), rank, gloo)
            got = collective(lambda *shape: values(rank, *shape).npu(), rank, None)
            _check.assertEqual([x.device for x in got], [torch.device("npu", rank)] * len(expected))
            torch.testing.assert_close([x.cpu() for x in got], expected, rtol=0, atol=0)


def attempt(call):
    try:
        call()
    except (RuntimeError, ValueError) as error:
        return type(error), str(error)
    return None


def compare_reductions(rank, folder):
    gloo = dist.new_group(backend="gloo")
    refused = 0
    for dtype in _DTYPES:
        for reduction in _REDUCTIONS:
            with _check.subTest(dtype=dtype, reduction=reduction):
                expected = values(rank, 5, dtype=dtype)
                x = expected.npu()
                op = getattr(ReduceOp, reduction)
                error = attempt(lambda x=expected, op=op: dist.all_reduce(x, op, group=gloo))
                _check.assertEqual(attempt(lambda x=x, op=op: dist.all_reduce(x, op)), error)
                refused += error is not None
                if error is None:
                    torch.testing.assert_close(x.cpu(), expected, rtol=0, atol=0)
    _check.assertLess(refused, len(_DTYPES) * len(_REDUCTIONS) / 2)


def exchange_objects(rank, folder):
    objects = [None, None]
    dist.all_gather_object(objects, {"rank": rank})
    _check.assertEqual(objects, [{"rank": 0}, {"rank": 1}])
    objects = [rank, str(rank)]
    dist.broadcast_object_list(objects, src=1)
    _check.assertEqual(objects, [1, "1"])
    objects = [None]
    dist.scatter_object_list(objects, ["a", "b"] if rank == 0 else None, src=0)
    _check.assertEqual(objects, ["ab"[rank]])


def use_works(rank, folder):
    x = values(rank, 1000).npu()
    expected = values(0, 1000) + values(1, 1000)
    work = dist.all_reduce(x, async_op=True)
    _check.assertTrue(work.wait(PATIENCE))
    _check.assertTrue(work.is_completed())
    torch.testing.assert_close(x.cpu(), expected)
    work = dist.all_reduce(x, async_op=True)
    doubled = work.get_future().then(lambda future: [y * 2 for y in future.value()]).wait()
    _check.assertEqual(doubled[0].device, x.device)
    torch.testing.assert_close(doubled[0].cpu(), expected * 4)
    dist.barrier()
    if rank == 1:
        dist.barrier(async_op=True).wait()
        return
    work = dist.barrier(async_op=True)
    work.wait()
    _check.assertTrue(work.is_completed())


def use_work_that_waits(rank, folder):
    """Rank 1 comes when rank 0 has seen that its work is not done."""
    store = dist.distributed_c10d._get_default_store()
    x = torch.ones(3, device="npu")
    if rank == 1:
        store.wait(["seen"], PATIENCE)
    work = dist.all_reduce(x, async_op=True)
    if rank == 0:
        _check.assertFalse(work.is_completed())
        store.set("seen", "1")
    work.wait()
    _check.assertEqual(x.tolist(), [2, 2, 2])


def reduce_what_is_queued(rank, folder):
    import op_extension

    assert op_extension
    x = torch.ones(4096, dtype=torch.float16, device="npu")
    torch.npu.synchronize()
    queue = Queue()
    gate = queue.add_gate()
    y = torch.ops.npu.my_add(x, x)  # a kernel behind the gate
    threading.Timer(0.2, gate.set).start()
    dist.all_reduce(y)
    _check.assertEqual(queue.done, 1)
    _check.assertEqual(y.unique().tolist(), [4])
    gate = queue.add_gate(torch.npu.Stream())
    threading.Timer(0.2, gate.set).start()
    dist.barrier()
    _check.assertEqual(queue.done, 2)


def leave_no_memory(rank, folder):
    before = torch.npu.memory_allocated()
    for work in [dist.all_reduce(torch.ones(1000, device="npu"), async_op=True) for _ in range(20)]:
        work.wait()
    del work
    gc.collect()
    dist.barrier()
    end = time.monotonic() + 60
    while torch.npu.memory_allocated() != before and time.monotonic() < end:
        time.sleep(0.01)  # a thread of Gloo may hold the last work a little longer
    _check.assertEqual(torch.npu.memory_allocated(), before)


def name_what_is_filled(rank, folder):
    x, parts = torch.full((2,), float(rank + 1), device="npu"), torch.zeros(4, device="npu")
    work = dist.group.WORLD.allreduce(opts=dist.AllreduceOptions(), tensors=[x])
    _check.assertEqual(work.get_future().wait()[0].tolist(), [3, 3])
    work = dist.group.WORLD._allgather_base(input=x, output=parts)
    _check.assertEqual(work.get_future().wait()[0].tolist(), [3, 3, 3, 3])


def refuse(rank, folder):
    square = torch.zeros(4, 4, device="npu")
    halves = [torch.zeros(4, 4, device="npu") for _ in range(2)]
    other = torch.device("npu", 1 - rank)
    for error, sentence, call in (
        (
            ValueError,
            r"expected contiguous tensors for allgather, got .* strides \(1, 4\)",
            lambda: dist.all_gather(halves, square.t()),
        ),
        (ValueError, r"expected contiguous tensors for allreduce", lambda: dist.all_reduce(square[:, :2])),
        (ValueError, r"expected contiguous tensors for send", lambda: dist.send(square.t(), 1 - rank)),
        (ValueError, r"expected contiguous tensors for recv", lambda: dist.recv(square.t(), 1 - rank)),
        (
            ValueError,
            r"all tensors .* on npu:\d, got one on npu:\d",
            lambda: dist.all_gather([halves[0], halves[1].to(other)], square),
        ),
        (ValueError, r"expected dense tensors .* got one of layout", lambda: dist.all_reduce(square.to_sparse())),
        (
            ValueError,
            r"got a conjugate or negative view",
            lambda: dist.broadcast(torch._neg_view(square), 0),
        ),
        (RuntimeError, r"No backend type associated with device type cpu", lambda: dist.all_reduce(torch.zeros(2))),
        (
            NotImplementedError,
            r"collectives one by one",
            lambda: dist.group.WORLD._start_coalescing(torch.device("npu")),
        ),
    ):
        with _check.subTest(sentence=sentence), _check.assertRaisesRegex(error, sentence):
            call()


def lose_a_rank(rank, folder):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2).npu())
    x = torch.ones(4, 3, device="npu")
    model(x).sum().backward()
    dist.barrier()
    if rank == 1:
        os._exit(7)
    for call in (lambda: model(x).sum().backward(), lambda: dist.all_reduce(x), dist.barrier):
        with _check.assertRaisesRegex(RuntimeError, "Connection closed by peer|Connection reset|Broken pipe"):
            call()


def choose_backends(rank, folder):
    dist.destroy_process_group()
    for number, (backend, with_cpu) in enumerate(
        ((None, False), ("npu:hccl", False), ("npu:hccl,cpu:gloo", True), ("cpu:gloo,npu:hccl", True))
    ):
        join_group(rank, folder, backend, f"store{number}")
        for group in (None, dist.new_group([0, 1])):
            with _check.subTest(backend=backend, new_group=group is not None):
                x, y = torch.ones(2, device="npu"), torch.ones(2)
                dist.all_reduce(x, group=group)
                _check.assertEqual(x.tolist(), [2, 2])
                error = attempt(lambda y=y, group=group: dist.all_reduce(y, group=group))
                _check.assertEqual(error is None, with_cpu)
                _check.assertEqual(y.tolist(), [2, 2] if with_cpu else [1, 1])
        dist.destroy_process_group()
    join_group(rank, folder, name="last")


class CollectivesTest(unittest.TestCase):
    """Ranks cost seconds to start: few of them, for several checks each."""

    def test_collectives_give_what_they_give_for_cpu_tensors(self):
        run_ranks(compare_collectives, compare_reductions, exchange_objects)

    def test_works_and_memory(self):
        run_ranks(use_works, use_work_that_waits, name_what_is_filled, reduce_what_is_queued, leave_no_memory)

    def test_what_is_not_taken_raises_a_sentence_and_the_device_has_it_by_default(self):
        run_ranks(refuse, choose_backends)

    def test_a_rank_that_dies_is_an_error_for_the_other(self):
        run_ranks(lose_a_rank, exit_codes=(0, 7))


class BackendTest(unittest.TestCase):
    def test_names(self):
        self.assertTrue(dist.is_hccl_available())
        self.assertEqual(dist.Backend.default_device_backend_map["npu"], "hccl")
        self.assertEqual(dist.Backend("HCCL"), "hccl")
        self.assertEqual(dist.get_default_backend_for_device("npu:1"), "hccl")

    def test_the_device_imports_no_more_of_torch_distributed(self):
        code = """
import sys, torch
before = set(sys.modules)
import npu_backend
print([name for name in set(sys.modules) - before if name.startswith("torch.distributed")])
"""
        self.assertEqual(output_of(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0"), "[]\n")

    def test_torchrun_starts_a_rank_on_each_device(self):
        code = """
import os, sys, torch, npu_backend, torch.distributed as dist
torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("hccl", device_id=torch.device("npu", int(os.environ["LOCAL_RANK"])))
x = torch.full((2,), dist.get_rank() + 1., device="npu")
dist.all_reduce(x)
dist.barrier()
sys.stdout.write(f"{x.device} {x.tolist()}\\n")
dist.destroy_process_group()
"""
        launch = f"""
import tempfile
from torch.distributed.run import main
with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
    script.write({code!r})
    script.flush()
    main(["--standalone", "--nproc-per-node", "2", script.name])
"""
        lines = sorted(output_of(launch, OMP_NUM_THREADS="1").splitlines())
        self.assertEqual(lines, ["npu:0 [3.0, 3.0]", "npu:1 [3.0, 3.0]"])


if __name__ == "__main__":
    unittest.main()
