# SPDX-License-Identifier: Apache-2.0
"""NPU_LAUNCH_KERNEL of npu/launch_kernel.hpp: what it launches, and what it refuses when it is compiled and called."""

import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

import torch
from torch.testing import assert_close
from torch.utils import cpp_extension

import op_extension

FILLS = """
#include <ATen/core/Tensor.h>
#include <torch/library.h>
#include "npu/launch_kernel.hpp"
#include <pto/pto-inst.hpp>

struct Place { int32_t column; };

/// Fills count elements of z with value + place.column; z may be null.
template <class T>
AICORE void Fill(T* z, T value, uint8_t count, Place place) {
  if (z == nullptr) return;
  using Row = pto::GlobalTensor<T, pto::Shape<1, 1, 1, 1, -1>, pto::Stride<1, 1, 1, 64, 1>>;
  pto::Tile<pto::TileType::Vec, T, 1, 64, pto::BLayout::RowMajor, 1, -1> tile(count);
  TASSIGN(tile, 0);
  TEXPANDS(tile, static_cast<T>(value + static_cast<T>(place.column)));
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  Row row(z, {count});
  TSTORE(row, tile);
}
void fill(float* z, float value, uint8_t count, Place place) { Fill(z, value, count, place); }
void fill_half(half* z, half value, uint8_t count, Place place) { Fill(z, value, count, place); }
void copy(GM_ADDR z, float* x) { Fill((float*)z, *x, 1, Place{0}); }
"""
OPERATORS = """
void Strict(const at::Tensor& z, double value, int64_t count, int64_t blocks) {
  NPU_LAUNCH_KERNEL(fill, blocks, z, value, count, Place{1});
}
void Half(const at::Tensor& z, double value, int64_t count) {
  NPU_LAUNCH_KERNEL(fill_half, 1, z, value, count, Place{0});
}
void Strided(const at::Tensor& z) {
  NPU_LAUNCH_KERNEL_WITH(0, fill, 1, npu::AnyStrides{z}, 5, 1, Place{0});
}
void Copy(const at::Tensor& z, const at::Tensor& x) { NPU_LAUNCH_KERNEL(copy, 1, z, x); }
void Nothing() { NPU_LAUNCH_KERNEL(fill, 1, nullptr, 5, 1, Place{0}); }

TORCH_LIBRARY(launch_kernel_test, m) {
  m.def("strict(Tensor z, float value, int count, int blocks) -> ()", Strict);
  m.def("half(Tensor z, float value, int count) -> ()", Half);
  m.def("strided(Tensor z) -> ()", Strided);
  m.def("copy(Tensor? z, Tensor? x) -> ()", [](const std::optional<at::Tensor>& z, const std::optional<at::Tensor>& x) {
    Copy(z.value_or(at::Tensor()), x.value_or(at::Tensor()));
  });
  m.def("nothing() -> ()", Nothing);
}
"""
REFUSED_BY_COMPILER = {
    "expected one argument for each parameter": "NPU_LAUNCH_KERNEL(fill, 1, z, 1.0f, 1);",
    "expected a tensor or nullptr for a pointer": "NPU_LAUNCH_KERNEL(fill, 1, z.data_ptr(), 1.0f, 1, Place{0});",
    "expected a value, got a tensor": "NPU_LAUNCH_KERNEL(fill, 1, z, z, 1, Place{0});",
    "expected an integer for a parameter that is one": "NPU_LAUNCH_KERNEL(fill, 1, z, 1.0f, 1.5, Place{0});",
    "expected an argument of the type of the parameter": "NPU_LAUNCH_KERNEL(fill, 1, z, 1.0f, 1, 7);",
    "expected a kernel with a pointer among its parameters": "NPU_LAUNCH_KERNEL(plain, 1, 7);",
}


def command(*arguments: str) -> list[str]:
    """A compiler's call with what op_extension and torch name."""
    folders = [*op_extension.include_paths(), *cpp_extension.include_paths()]
    search = [*op_extension.library_dirs(), *cpp_extension.library_paths()]
    flags = [
        *op_extension.kernel_compile_args(),
        "-std=gnu++20",
        "-fPIC",
        "-O1",
        *(f"-I{folder}" for folder in folders),
    ]
    return ["g++", *flags, *arguments, *(f"-L{folder}" for folder in search)]


def compiled(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess:
    """The ended compiler for a source."""
    source = folder / "source.cpp"
    source.write_text(text)
    call = command(str(source), *arguments)
    return subprocess.run(call, capture_output=True, text=True, timeout=900, check=False)


class LaunchKernelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        library = Path(folder.name, "launch_kernel_test.so")
        names = [f"-l{name}" for name in (*op_extension.libraries(), "c10", "torch_cpu")]
        done = compiled(Path(folder.name), FILLS + OPERATORS, "-shared", "-o", str(library), *names)
        assert done.returncode == 0, f"{shlex.join(done.args)}\n{done.stderr}"
        torch.ops.load_library(library)
        cls.ops = torch.ops.launch_kernel_test

    def test_numbers_structs_and_tensors_of_both_devices_arrive(self) -> None:
        for device in ("npu", "cpu"):
            z = torch.zeros(20, device=device)
            self.ops.strict(z, 2.5, 7, 1)
            assert_close(z.cpu(), torch.tensor([3.5] * 7 + [0.0] * 13))
            z = torch.zeros(20, dtype=torch.half, device=device)
            self.ops.half(z, -0.5, 20)
            assert_close(z.cpu(), torch.full((20,), -0.5, dtype=torch.half))

    def test_any_element_stands_behind_gm_addr_and_none_behind_a_null_pointer(self) -> None:
        x = torch.tensor([1.5], device="npu")
        z = torch.zeros(1, dtype=torch.int32, device="npu")
        self.ops.copy(z, x)
        self.assertEqual(z.cpu().view(torch.float32).item(), 1.5)
        self.ops.copy(None, x)
        torch.npu.synchronize()

    def test_any_strides_hands_on_the_first_element(self) -> None:
        x = torch.zeros(4, 4, device="npu")
        self.ops.strided(x.t()[1:])
        self.assertEqual(x.flatten().tolist(), [0, 5.0, *[0] * 14])

    def test_a_fault_of_the_kernel_is_raised_where_somebody_waits(self) -> None:
        z = torch.zeros(4, device="npu")
        self.ops.strict(z, 1.0, 60, 1)
        with self.assertRaisesRegex(RuntimeError, "fill, block 0, instruction .*TSTORE: expected"):
            z.cpu()

    def test_names_what_was_expected_and_what_came(self) -> None:
        z = torch.zeros(4, device="npu")
        strict = self.ops.strict
        cases = (
            (
                TypeError,
                r"fill: argument 0 \(float\*\): expected a tensor of dtype Float, got Int",
                (z.int(), 1.0, 1, 1),
            ),
            (
                ValueError,
                "argument 0 .*: expected a contiguous tensor .*, got one with other strides",
                (z[::2], 1.0, 1, 1),
            ),
            (ValueError, r"argument 0 .*: expected a tensor on npu or cpu, got one on meta", (z.to("meta"), 1.0, 1, 1)),
            (TypeError, "argument 0 .*: expected a tensor of dtype Float, got ComplexFloat", (z.cfloat(), 1.0, 1, 1)),
            (ValueError, "argument 0 .*: expected a tensor whose memory holds its values", (z._neg_view(), 1.0, 1, 1)),
            (ValueError, r"argument 1 \(float\): expected a number that this type holds, got 1e\+39", (z, 1e39, 1, 1)),
            (ValueError, r"argument 2 \(uint8_t\): expected a number that this type holds, got 256", (z, 1.0, 256, 1)),
            (ValueError, r"argument 2 \(uint8_t\): expected a number that this type holds, got -1", (z, 1.0, -1, 1)),
            (ValueError, "fill: expected blocks from 1 to 65535, got 0", (z, 1.0, 1, 0)),
            (ValueError, "fill: expected blocks from 1 to 65535, got 65536", (z, 1.0, 1, 65536)),
        )
        for error, sentence, arguments in cases:
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                strict(*arguments)
        with self.assertRaisesRegex(
            ValueError, r"argument 1 \(float\*\): expected a tensor on npu:0 .*, got one on cpu"
        ):
            self.ops.copy(z, z.cpu())
        with self.assertRaisesRegex(ValueError, "fill: expected a tensor among the arguments, got none"):
            self.ops.nothing()
        self.assertEqual(z.tolist(), [0.0] * 4)

    def test_the_compiler_names_what_the_types_tell(self) -> None:
        calls = "\n".join(
            f"void Call{i}(at::Tensor z) {{ {call} }}" for i, call in enumerate(REFUSED_BY_COMPILER.values())
        )
        calls += "\nvoid Exec(int* z) { EXEC_KERNEL_CMD(fill, 1, z, 1.0f, 1, Place{0}); }\n"
        head = f'#include "npu/exec_kernel.hpp"\n{FILLS}\nvoid plain(int);\n'
        with tempfile.TemporaryDirectory() as folder:
            done = compiled(Path(folder), head + calls, "-fsyntax-only", "-fmax-errors=0")
        self.assertNotEqual(done.returncode, 0)
        for sentence in REFUSED_BY_COMPILER:
            self.assertIn(f"NPU_LAUNCH_KERNEL: {sentence}", done.stderr)
        self.assertIn("EXEC_KERNEL_CMD: expected a pointer to the element type of the parameter", done.stderr)

    def test_flags_for_what_is_none_are_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "kernel_compile_args: expected 'vector' or 'cube' as core, got 'mix'"):
            op_extension.kernel_compile_args("mix")
        with self.assertRaisesRegex(ValueError, "kernel_compile_args: expected one of .* as level, got 'sse'"):
            op_extension.kernel_compile_args(level="sse")
        self.assertIn("-D__DAV_CUBE__", op_extension.kernel_compile_args("cube"))


if __name__ == "__main__":
    unittest.main()
