# SPDX-License-Identifier: Apache-2.0
"""Kernels in sources, and the headers that declare how they are launched."""

import tempfile
import unittest
from pathlib import Path

from op_extension.compat.launch_functions import (
    Kernel,
    KernelError,
    Parameter,
    exports,
    header,
    kernels_of,
    passes,
    source,
    write_headers,
)

ADD = """
// extern "C" __global__ AICORE void commented(GM_ADDR x) {}
extern "C" __global__ AICORE void add(GM_ADDR x, __gm__ half* __restrict__ y, const uint32_t n,
                                      bool causal_mask) {
  if (n) { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2); }
}
__global__ AICORE void in_brackets(__gm__ float* x) {}
extern "C" __global__ AICORE void declared(GM_ADDR x);
extern "C" __global__ __aicore__ void other(unsigned long long n, void* p) {}
extern "C" [[maybe_unused]] __global__ [aicore] __attribute__((aiv)) void nothing() {}
"""


class KernelsTest(unittest.TestCase):
    def test_finds_definitions_and_their_parameters(self):
        add, other, nothing = kernels_of(ADD, "add.cpp")
        pointer = [Parameter("void*", "x"), Parameter("void*", "y")]
        numbers = [Parameter("uint32_t", "n"), Parameter("bool", "causal_mask")]
        self.assertEqual(add, Kernel("add", (*pointer, *numbers), ("vector", "cube")))
        self.assertEqual(other, Kernel("other", (Parameter("unsigned long long", "n"), Parameter("void*", "p")), None))
        self.assertEqual(nothing, Kernel("nothing", (), ("vector",)))

    def test_takes_the_placeholder_of_another_pass_for_the_same_kernel(self):
        text = 'extern "C" __global__ AICORE void k(GM_ADDR a) {}\n'
        self.assertEqual(len(kernels_of(f"#if A\n{text}#else\n{text}#endif\n", "k.cpp")), 1)
        with self.assertRaisesRegex(KernelError, "k.cpp: kernel k: expected one list of parameters, got two"):
            kernels_of(text + text.replace("GM_ADDR a", "int n"), "k.cpp")

    def test_names_what_it_cannot_take(self):
        kernel = 'extern "C" __global__ AICORE void k({}) {{ {} }}'
        for text, sentence in (
            ("int main() {}", r'expected a kernel \(extern "C" __global__ AICORE void <name>'),
            (kernel.format("GM_ADDR x, Tiling t", ""), "expected an address or a number as parameter 1, got Tiling t"),
            (kernel.format("", "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);"), "got KERNEL_TYPE_MIX_AIC_1_1"),
        ):
            with self.assertRaisesRegex(KernelError, sentence):
                kernels_of(text, "k.cpp")

    def test_a_header_declares_the_function_and_stays_as_it_is(self):
        self.assertIn(
            'extern "C" uint32_t aclrtlaunch_add(uint32_t block_dim, void* stream, void* x, void* y, uint32_t n, '
            "bool causal_mask);\n",
            header(kernels_of(ADD, "add.cpp")[0]),
        )
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "add.cpp")
            file.write_text(ADD)
            write_headers(Path(folder, "made"), [file])
            made = sorted(Path(folder, "made").iterdir())
            self.assertEqual([path.name for path in made], [f"aclrtlaunch_{n}.h" for n in ("add", "nothing", "other")])
            before = [path.stat().st_mtime_ns for path in made]
            write_headers(Path(folder, "made"), [file])
            self.assertEqual([path.stat().st_mtime_ns for path in made], before)


class PassesTest(unittest.TestCase):
    KERNEL = Kernel("k", (Parameter("void*", "x"),), None)

    def test_are_those_that_define_the_kernel(self):
        vector, empty = 'extern "C" void k(uint8_t* x) { }', "void f() { k(0); } void k(uint8_t*);"
        self.assertEqual(passes([self.KERNEL], {"vector": vector, "cube": empty}, "k.cpp"), {self.KERNEL: ("vector",)})
        with self.assertRaisesRegex(KernelError, "expected a definition for the vector and the cube core, got none"):
            passes([self.KERNEL], {"vector": empty, "cube": empty}, "k.cpp")
        mixed = self.KERNEL._replace(cores=("vector", "cube"))
        with self.assertRaisesRegex(KernelError, "the vector and the cube core, got one for the vector core"):
            passes([mixed], {"vector": vector, "cube": empty}, "k.cpp")

    def test_a_kernel_that_names_its_cores_has_those(self):
        for cores, named in ((None, "kNotEmpty"), (("vector", "cube"), "kBoth")):
            text = source({self.KERNEL._replace(cores=cores): ("vector", "cube")})
            self.assertIn(f'("k", &k__vector_pass, &k__cube_pass, ::npu::Cores::{named})', text)
        found = {self.KERNEL: ("cube",)}
        self.assertIn('("k", nullptr, &k__cube_pass, ', source(found))
        self.assertIn("k__cube_pass = npu::Entry<&k>::kPass;", exports(found, "cube"))
        self.assertNotIn("kPass", exports(found, "vector"))


if __name__ == "__main__":
    unittest.main()
