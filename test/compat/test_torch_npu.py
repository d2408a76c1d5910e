# SPDX-License-Identifier: Apache-2.0
"""The stand-in for torch_npu: comparisons of its TestCase, NpuExtension, fused attention, programs for CUDA."""

import importlib
import math
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np
import torch

import npu_backend  # noqa: F401
from op_extension.compat.overlay import STARTUP

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.host.python_process import run_python

sys.path.insert(0, str(STARTUP))
try:
    importlib.import_module("op_extension_stand_in").install()
finally:
    sys.path.remove(str(STARTUP))

import torch_npu
from torch_npu.testing import common_utils
from torch_npu.testing.testcase import TestCase
from torch_npu.utils.cpp_extension import NpuExtension

attention = torch_npu.npu_fused_infer_attention_score


def rtol_fails(x, y, prec):
    """The rule of assertRtolEqual, element by element."""
    pairs = list(zip(x.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True))
    absolute = [abs(b - a) > prec for a, b in pairs]
    relative = [abs(b - a) / (max(abs(a), abs(b)) + 1e-9) > prec for a, b in pairs]
    both = any(a and r for a, r in zip(absolute, relative, strict=True))
    return both and sum(relative) > len(pairs) * prec and sum(absolute) > len(pairs) * prec


class RtolEqualTest(unittest.TestCase):
    def passes(self, x, y, **options):
        try:
            TestCase().assertRtolEqual(x, y, **options)
        except AssertionError:
            return False
        return True

    def test_is_the_rule_of_shares(self):
        generator = torch.Generator().manual_seed(0)
        seen = set()
        for index in range(60):
            y = torch.randn(500, generator=generator) * 10.0 ** (index % 5 - 3)
            wrong = torch.rand(500, generator=generator) < (0, 0.0005, 0.01, 1)[index % 4]
            x = torch.where(wrong, y + 10.0 ** -(index % 6), y)
            expected = not rtol_fails(x.double(), y.double(), 1e-3)
            self.assertEqual(self.passes(x.npu(), y, prec=1e-3), expected, index)
            seen.add(expected)
        self.assertEqual(seen, {True, False})

    def test_takes_the_precision_of_the_dtype(self):
        y = torch.linspace(1, 2, 400, dtype=torch.float64)
        for dtype, near, far in ((torch.float16, 5e-4, 4e-3), (torch.float32, 5e-5, 3e-4), (torch.bfloat16, 0, 4e-2)):
            with self.subTest(dtype=dtype):
                self.assertTrue(self.passes((y + near).to(dtype).npu(), y.to(dtype)))
                self.assertFalse(self.passes((y + far).to(dtype).npu(), y.to(dtype)))

    def test_refuses_other_shapes_dtypes_and_places_of_nan(self):
        y = torch.ones(4)
        for x in (torch.ones(5), torch.ones(4).half(), torch.tensor([1, 1, 1, math.nan]), torch.tensor([True] * 4)):
            self.assertFalse(self.passes(x, y))
        self.assertTrue(self.passes(torch.ones(4).half(), y, auto_trans_dtype=True))
        self.assertTrue(self.passes(torch.tensor([math.nan, math.inf]), torch.tensor([math.nan, math.inf])))
        self.assertFalse(self.passes(torch.tensor([math.inf]), torch.tensor([-math.inf])))

    def test_takes_arrays_numbers_and_sequences(self):
        self.assertTrue(self.passes(np.arange(3), torch.arange(3)))
        self.assertTrue(self.passes(2.0, 2.0))
        self.assertTrue(self.passes([torch.ones(2).npu(), 1], [torch.ones(2), 1]))
        self.assertFalse(self.passes([torch.ones(2), torch.ones(2)], [torch.ones(2), torch.zeros(2)]))
        self.assertFalse(self.passes([1, 2], [1]))

    def test_the_sentence_says_how_much_is_wrong(self):
        with self.assertRaisesRegex(AssertionError, r"got 4 of 4 relatively and 4 absolutely; greatest error 1"):
            TestCase().assertRtolEqual(torch.zeros(4), torch.ones(4))
        with self.assertRaisesRegex(AssertionError, "^mine$"):
            TestCase().assertRtolEqual(torch.zeros(4), torch.ones(4), message="mine")


class OtherAssertionsTest(unittest.TestCase):
    def test_equal_takes_tensors_anywhere_and_numbers(self):
        case = TestCase()
        case.assertEqual(torch.ones(3).npu(), torch.ones(3) + 5e-6)
        case.assertEqual([1.0, torch.zeros(1)], [1.0, torch.zeros(1).npu()])
        case.assertEqual("text", "text")
        case.assertNotEqual(torch.ones(3).npu(), torch.zeros(3))
        for x, y in ((torch.ones(3).npu(), torch.zeros(3)), (1.0, 1.1), ("a", "b"), ([1], [2])):
            with self.assertRaises(AssertionError):
                case.assertEqual(x, y)
        with self.assertRaises(AssertionError):
            case.assertNotEqual(1, 1)

    def test_warnings_and_objects(self):
        case, one = TestCase(), object()
        case.assertObjectIn(one, [one])
        case.assertNotWarn(lambda: None)
        with self.assertRaisesRegex(AssertionError, "no such object"):
            case.assertObjectIn(object(), [one])
        with self.assertRaisesRegex(AssertionError, "expected no warning, got"):
            case.assertNotWarn(lambda: warnings.warn("loud", stacklevel=1))


class InputsTest(unittest.TestCase):
    def test_are_the_same_on_both_devices_and_within_their_bounds(self):
        on_cpu, on_npu = common_utils.create_common_tensor([np.float16, 2, (3, 50)], -1, 1)
        self.assertEqual((on_cpu.dtype, on_cpu.shape, str(on_npu.device)), (torch.float16, (3, 50), "npu:0"))
        self.assertTrue(torch.equal(on_cpu, on_npu.cpu()) and on_cpu.abs().max() <= 1 and on_cpu.std() > 0.1)

    def test_formats_are_the_base_ones(self):
        x = torch.ones(2, 2, 2, 2).npu()
        self.assertEqual((torch_npu.get_npu_format(x), torch_npu.get_npu_format(x[0])), (0, 2))
        self.assertIs(torch_npu.npu_format_cast(x, 2), x)
        for call in (
            lambda: torch_npu.npu_format_cast(x, 29),
            lambda: common_utils.create_common_tensor([np.float32, 29, (2,)], 0, 1),
        ):
            with self.assertRaisesRegex(NotImplementedError, r"expected a base format, .* got 29"):
                call()

    def test_random_numbers_go_on_behind_a_block(self):
        torch.manual_seed(0)
        with common_utils.freeze_rng_state():
            inside = torch.rand(2), torch.rand(2, device="npu").cpu()
        for one, other in zip(inside, (torch.rand(2), torch.rand(2, device="npu").cpu()), strict=True):
            self.assertTrue(torch.equal(one, other))


class ExtensionTest(unittest.TestCase):
    def test_adds_folders_and_libraries_behind_those_that_are_named(self):
        made = NpuExtension("mine._C", ["a.cpp"], ["first"], libraries=["mine"])
        self.assertEqual((made.name, made.sources, made.language), ("mine._C", ["a.cpp"], "c++"))
        self.assertEqual((made.include_dirs[0], made.libraries[0]), ("first", "mine"))
        self.assertLessEqual({"torch", "c10", "npu_backend", "npu_runtime"}, set(made.libraries))
        found = [folder for folder in made.include_dirs if Path(folder, "acl", "acl.h").is_file()]
        self.assertEqual(len(found), 1)
        self.assertTrue(any(Path(folder, "libnpu_runtime.so").is_file() for folder in made.library_dirs))


class AttentionTest(unittest.TestCase):
    def setUp(self):
        generator = torch.Generator().manual_seed(1)
        shapes = ((2, 4, 6, 8), (2, 2, 10, 8), (2, 2, 10, 8))  # B, N, S, D
        self.q, self.k, self.v = (torch.randn(shape, generator=generator).half() for shape in shapes)

    def expected(self, allowed, scale):
        """Result and logarithm of the sum, by loops over heads."""
        out, lse = torch.empty(2, 4, 6, 8), torch.empty(2, 4, 6, 1)
        for batch in range(2):
            for head in range(4):
                k, v = self.k[batch, head // 2].float(), self.v[batch, head // 2].float()
                scores = (self.q[batch, head].float() @ k.T * scale).masked_fill(~allowed, -math.inf)
                out[batch, head] = scores.softmax(-1) @ v
                lse[batch, head] = scores.logsumexp(-1, keepdim=True)
        return out, lse

    def call(self, layout, **options):
        """In a layout; the result in (B, N, S, D)."""
        tensors = [self.q, self.k, self.v]
        if layout != "BNSD":
            tensors = [x.transpose(1, 2) for x in tensors]
        if layout == "BSH":
            tensors = [x.flatten(2) for x in tensors]
        tensors = [x.contiguous().npu() for x in tensors]
        options = {"num_heads": 4, "num_key_value_heads": 2, "scale": 0.3, "input_layout": layout, **options}
        out, lse = attention(*tensors, **options)
        self.assertEqual((out.shape, out.dtype), (tensors[0].shape, torch.float16))
        out = out.cpu().unflatten(2, (4, 8)) if layout == "BSH" else out.cpu()
        return (out if layout == "BNSD" else out.transpose(1, 2)).float(), lse.cpu()

    def test_is_attention_in_each_layout(self):
        out, lse = self.expected(torch.ones(6, 10, dtype=torch.bool), 0.3)
        for layout in ("BSH", "BSND", "BNSD"):
            got, got_lse = self.call(layout, softmax_lse_flag=True, next_tokens=0)  # no mask: all tokens count
            torch.testing.assert_close(got, out, rtol=2e-3, atol=2e-3)
            torch.testing.assert_close(got_lse, lse, rtol=1e-4, atol=1e-4)

    def test_masks_and_sparse_modes(self):
        rows, columns = torch.arange(6).unsqueeze(1), torch.arange(10).unsqueeze(0)
        left_out = torch.rand(6, 10, generator=torch.Generator().manual_seed(2)) < 0.3
        left_out[:, 0] = False
        cases = [
            ({"atten_mask": left_out.npu()}, ~left_out),
            ({"atten_mask": left_out.npu(), "next_tokens": 2}, ~left_out & (columns - rows <= 2)),
            ({"atten_mask": left_out.to(torch.int8).npu(), "sparse_mode": 1, "next_tokens": 2}, ~left_out),
            ({"atten_mask": left_out.expand(2, 6, 10).npu(), "block_size": 0}, ~left_out),
            ({"sparse_mode": 2}, columns <= rows),
            ({"sparse_mode": 3}, columns - 4 <= rows),
        ]
        for options, allowed in cases:
            got, _ = self.call("BNSD", **options)
            torch.testing.assert_close(got, self.expected(allowed, 0.3)[0], rtol=2e-3, atol=2e-3)

    def test_what_is_not_there_is_a_sentence(self):
        for options, sentence in (
            ({"input_layout": "TND"}, "expected BSH, BSND, BNSD as input_layout, got TND"),
            ({"block_table": torch.ones(1)}, r"expected no argument block_table \(it is not emulated\)"),
            ({"block_table": torch.ones(2, 2)}, r"expected no argument .* got a tensor of shape \(2, 2\)"),
            (
                {"antiquant_scale": torch.zeros(1)},
                r"expected no argument antiquant_scale .* got a tensor of shape \(1,\)",
            ),
            (
                {"num_heads": 4, "num_key_value_heads": 2, "atten_mask": torch.ones(6, 9, dtype=torch.bool).npu()},
                r"expected atten_mask that broadcasts to \(2, 4, 6, 10\), got \(6, 9\)",
            ),
            (
                {"num_heads": 4, "num_key_value_heads": 2, "atten_mask": torch.ones(6, 10).npu()},
                "expected atten_mask in bool, int8 or uint8 on npu:0, got torch.float32 on npu:0",
            ),
            ({"sparse_mode": 4}, ".* as sparse_mode, got 4"),
            ({"num_heads": 3}, "expected .* of 3 heads, got"),
        ):
            with self.assertRaisesRegex(
                (NotImplementedError, ValueError), f"npu_fused_infer_attention_score: {sentence}"
            ):
                attention(self.q.npu(), self.k.npu(), self.v.npu(), **{"input_layout": "BNSD", **options})


class NamesTest(unittest.TestCase):
    def test_a_name_that_is_not_there_is_a_sentence(self):
        with self.assertRaisesRegex(AttributeError, r"torch_npu.npu_nms: expected a name that .* has .*, got npu_nms"):
            torch_npu.npu_nms  # noqa: B018
        self.assertIs(torch_npu.npu, torch.npu)

    def test_programs_for_cuda_run_on_npu(self):
        path = [STARTUP]
        code = (
            "import op_extension_stand_in, torch, torch_npu; from torch_npu.contrib import transfer_to_npu; "
            "x = torch.ones(2, device='cuda'); m = torch.nn.Linear(2, 2).cuda(); torch.cuda.synchronize(); "
            "print(x.device, x.is_cuda, m(x).device, x.cpu().to(torch.device('cuda', 1)).device, "
            "isinstance(x.device, torch.device), torch.cuda.is_available())"
        )
        done = run_python(code, path=path)
        self.assertEqual((done.stdout, done.stderr), ("npu:0 True npu:0 npu:1 True True\n", ""))

    def test_programs_for_cuda_and_nccl_exchange_tensors_of_npu(self):
        with tempfile.TemporaryDirectory() as folder:
            code = (
                "import op_extension_stand_in, torch, torch_npu; from torch_npu.contrib import transfer_to_npu; "
                "import torch.distributed as dist; print(dist.is_nccl_available()); "
                f"dist.init_process_group('nccl', init_method='file://{folder}/cuda', rank=0, world_size=1); "
                "group = dist.new_group([0], backend='cpu:gloo,cuda:nccl'); x = torch.ones(2, device='cuda'); "
                "dist.all_reduce(x); dist.all_reduce(x, group=group); print(dist.get_backend(), x.device, x.tolist()); "
                "dist.destroy_process_group()"
            )
            done = run_python(code, path=[STARTUP])
        self.assertEqual((done.stdout, done.returncode), ("True\nhccl npu:0 [1.0, 1.0]\n", 0), done.stderr)


if __name__ == "__main__":
    unittest.main()
