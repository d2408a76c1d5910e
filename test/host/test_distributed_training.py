# SPDX-License-Identifier: Apache-2.0
"""Training on two ranks of backend hccl gives what one process gives for the whole batch."""

import copy
import unittest

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

from test.host.two_ranks import WORLD_SIZE, run_ranks

_check = unittest.TestCase()

_ROWS = 8
_OPTIONS = (
    {},
    {"find_unused_parameters": True},
    {"gradient_as_bucket_view": True},
    {"static_graph": True},
    {"bucket_cap_mb": 1e-4},  # several buckets
)


def model():
    torch.manual_seed(5)
    return torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))


def batch():
    return torch.randn(_ROWS, 6, generator=torch.Generator().manual_seed(7))


def loss_of(module, x):
    return module(x).pow(2).mean()


def part(rank):
    """The rows of the batch that are rank's, on npu."""
    return batch().chunk(WORLD_SIZE)[rank].npu()


def gradients_of_whole_batch():
    module = model()
    loss_of(module, batch()).backward()
    return [parameter.grad for parameter in module.parameters()]


def assert_gradients(module, expected):
    for parameter, gradient in zip(module.parameters(), expected, strict=True):
        _check.assertEqual(parameter.grad.device, parameter.device)
        torch.testing.assert_close(parameter.grad.cpu(), gradient)


def reduce_gradients(rank, folder):
    expected = gradients_of_whole_batch()
    for options in _OPTIONS:
        with _check.subTest(options=options):
            module = DistributedDataParallel(model().npu(), **options)
            for _ in range(2):  # buckets are made anew after the first
                module.zero_grad()
                loss_of(module, part(rank)).backward()
            assert_gradients(module, expected)


def start_from_rank_0(rank, folder):
    torch.manual_seed(rank)
    module = DistributedDataParallel(torch.nn.Linear(6, 3).npu())
    weights = [torch.empty(3, 6, device="npu") for _ in range(WORLD_SIZE)]
    dist.all_gather(weights, module.module.weight.detach())
    torch.testing.assert_close(weights[0], weights[1], rtol=0, atol=0)


def skip_reductions(rank, folder):
    module = DistributedDataParallel(model().npu())
    with module.no_sync():
        loss_of(module, part(rank)).backward()
    alone = copy.deepcopy([parameter.grad.cpu() for parameter in module.parameters()])
    own = model()
    loss_of(own, part(rank).cpu()).backward()
    torch.testing.assert_close(alone, [parameter.grad for parameter in own.parameters()])
    loss_of(module, part(rank)).backward()
    assert_gradients(module, [gradient * 2 for gradient in gradients_of_whole_batch()])


class OneOfTwo(torch.nn.Module):
    """Rank 0 uses one half of its parameters, rank 1 the other."""

    def __init__(self):
        super().__init__()
        self.halves = torch.nn.ModuleList(torch.nn.Linear(6, 3) for _ in range(WORLD_SIZE))

    def forward(self, x, which):
        return self.halves[which](x)


def leave_parameters_unused(rank, folder):
    module = DistributedDataParallel(OneOfTwo().npu(), find_unused_parameters=True)
    x = part(rank)
    module(x, rank).sum().backward()
    for index, half in enumerate(module.module.halves):
        _check.assertEqual(half.weight.grad.device, x.device)
        expected = batch().chunk(WORLD_SIZE)[index].sum(0).expand(3, -1) / WORLD_SIZE
        torch.testing.assert_close(half.weight.grad.cpu(), expected)


def use_hooks(rank, folder):
    expected = gradients_of_whole_batch()
    for hook, tolerance in ((default_hooks.allreduce_hook, 1e-5), (default_hooks.fp16_compress_hook, 1e-2)):
        with _check.subTest(hook=hook.__name__):
            module = DistributedDataParallel(model().npu())
            module.register_comm_hook(None, hook)
            loss_of(module, part(rank)).backward()
            for parameter, gradient in zip(module.parameters(), expected, strict=True):
                torch.testing.assert_close(parameter.grad.cpu(), gradient, rtol=tolerance, atol=tolerance)


def train(module, optimizer, x):
    for _ in range(3):
        optimizer.zero_grad()
        loss_of(module, x).backward()
        optimizer.step()


def trained_on_whole_batch():
    module = model()
    train(module, torch.optim.Adam(module.parameters(), lr=0.1), batch())
    return list(module.parameters())


def share_states_of_optimizer(rank, folder):
    from torch.distributed.optim import ZeroRedundancyOptimizer

    module = DistributedDataParallel(model().npu())
    train(module, ZeroRedundancyOptimizer(module.parameters(), torch.optim.Adam, lr=0.1), part(rank))
    for parameter, expected in zip(module.parameters(), trained_on_whole_batch(), strict=True):
        torch.testing.assert_close(parameter.detach().cpu(), expected.detach(), rtol=1e-3, atol=1e-3)


def share_parameters(rank, folder):
    from torch.distributed.fsdp import fully_shard

    module = model().npu()
    for layer in (module[0], module[2], module):
        fully_shard(layer)
    train(module, torch.optim.Adam(module.parameters(), lr=0.1), part(rank))
    for parameter, expected in zip(module.parameters(), trained_on_whole_batch(), strict=True):
        _check.assertEqual(parameter.device, torch.device("npu", rank))
        torch.testing.assert_close(parameter.full_tensor().detach().cpu(), expected.detach(), rtol=1e-3, atol=1e-3)


def distribute_a_tensor(rank, folder):
    from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

    x = batch()
    shards = distribute_tensor(x.npu(), init_device_mesh("npu", (WORLD_SIZE,)), [Shard(0)])
    torch.testing.assert_close((shards @ shards.T).full_tensor().cpu(), x @ x.T)


def draw_shards(rank, folder):
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh, rand

    mesh = init_device_mesh("npu", (WORLD_SIZE,))
    torch.manual_seed(11)
    whole = rand(4, 6, device_mesh=mesh, placements=[Replicate()])
    torch.manual_seed(11)
    torch.testing.assert_close(whole.to_local(), torch.rand(4, 6, device="npu"), rtol=0, atol=0)
    drawn = []
    for _ in range(2):  # the same numbers from the same seed, other ones for each shard and each time
        torch.manual_seed(11)
        drawn += [rand(4, 6, device_mesh=mesh, placements=[Shard(0)]).full_tensor() for _ in range(2)]
    _check.assertEqual(len(torch.stack(drawn).unique()), 48)
    torch.testing.assert_close(drawn[:2], drawn[2:], rtol=0, atol=0)
    after = torch.rand(3, device="npu")
    states = [torch.empty_like(after) for _ in range(WORLD_SIZE)]
    dist.all_gather(states, after)
    torch.testing.assert_close(states[0], states[1], rtol=0, atol=0)  # ranks go on alike

    generator = torch.Generator("npu").manual_seed(3)
    shards = distribute_tensor(torch.zeros(4, 6).npu(), mesh, [Shard(1)])
    first = shards.clone().normal_(generator=generator).full_tensor()
    second = shards.clone().normal_(generator=generator).full_tensor()
    again = shards.clone().normal_(generator=generator.manual_seed(3)).full_tensor()
    torch.testing.assert_close(first, again, rtol=0, atol=0)
    _check.assertEqual(len(torch.stack([first, second]).unique()), 48)
    dropped = torch.nn.functional.dropout(distribute_tensor(torch.ones(64, 4).npu(), mesh, [Shard(0)]), 0.5)
    _check.assertEqual(sorted(dropped.full_tensor().cpu().unique().tolist()), [0.0, 2.0])


def draw_strided_shards(rank, folder):
    from torch.distributed.tensor import DTensor, Shard, init_device_mesh
    from torch.distributed.tensor.placement_types import _StridedShard  # of fully_shard on parallel layers

    mesh = init_device_mesh("npu", (WORLD_SIZE, 1))
    torch.manual_seed(11)
    local = torch.zeros(2, 6, device="npu")
    DTensor.from_local(local, mesh, [_StridedShard(0, split_factor=1), Shard(0)]).normal_()
    drawn = [torch.empty_like(local) for _ in range(WORLD_SIZE)]
    dist.all_gather(drawn, local)
    _check.assertEqual(len(torch.stack(drawn).unique()), 24)


def initialize_shards(rank, folder):
    from torch.distributed.fsdp import fully_shard

    with torch.device("meta"):
        module = torch.nn.Linear(6, 8)
    fully_shard(module)
    module.to_empty(device="npu")
    module.reset_parameters()
    weight = module.weight.full_tensor().detach().cpu()
    _check.assertEqual(len(weight.unique()), 48)
    _check.assertTrue(0 < weight.abs().max() <= 6**-0.5)


def normalize_over_ranks(rank, folder):
    module = torch.nn.SyncBatchNorm.convert_sync_batchnorm(torch.nn.BatchNorm1d(6)).npu()
    with _check.assertRaisesRegex(NotImplementedError, "aten::batch_norm_stats: expected a kernel for npu or for CPU"):
        module(part(rank))
    torch.testing.assert_close(module.eval()(part(rank)).cpu(), part(rank).cpu(), rtol=1e-4, atol=1e-4)


class TrainingTest(unittest.TestCase):
    """Ranks cost seconds to start: few of them, for several checks each."""

    def test_gradients_are_those_of_the_whole_batch(self):
        run_ranks(reduce_gradients, start_from_rank_0, skip_reductions, leave_parameters_unused, use_hooks)

    def test_states_and_parameters_are_shared_out(self):
        run_ranks(share_states_of_optimizer, share_parameters, distribute_a_tensor, normalize_over_ranks)

    def test_shards_draw_numbers_of_their_own(self):
        run_ranks(draw_shards, draw_strided_shards, initialize_shards)


if __name__ == "__main__":
    unittest.main()
