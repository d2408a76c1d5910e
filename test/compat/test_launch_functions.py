# SPDX-License-Identifier: Apache-2.0
"""Kernels in sources, and the headers that declare how they are launched."""

import tempfile
import unittest
from pathlib import Path

from op_extension.compat.launch_functions import (
    Kernel,
    KernelError,
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
        self.assertEqual(add, Kernel("add", ("void*", "void*", "uint32_t", "bool"), ("vector", "cube")))
        self.assertEqual(other, Kernel("other", ("unsigned long long", "void*"), None))
        self.assertEqual(nothing, Kernel("nothing", (), ("vector",)))

    def test_finds_every_spelling_of_the_linkage(self):
        for text in (
            'extern "C" {{\n#define K __attribute__((aic))\n{} {{ if (1) {{}} }} }} __global__ void of_cpp() {{}}',
            'extern "C" __attribute__((visibility("default"))) {} {{}}',
            '__attribute__((aiv)) extern "C" {} {{}}',
            'extern "C" {{ __attribute__((aiv)) inline {} noexcept {{}} }}',
        ):
            (kernel,) = kernels_of(text.format("__global__ AICORE void k(int n)"), "k.cpp")
            cores = ("vector",) if "aiv" in text else None
            self.assertEqual(kernel, Kernel("k", ("int",), cores), text)

    def test_names_parameters_by_their_places(self):
        text = "GM_ADDR stream, uint32_t block_dim, GM_ADDR w = nullptr, GM_ADDR, uint8_t, __gm__ int x[], ::size_t n"
        (kernel,) = kernels_of(f'extern "C" __global__ AICORE void k({text}) {{}}', "k.cpp")
        types = ("void*", "uint32_t", "void*", "void*", "uint8_t", "void*", "::size_t")
        self.assertEqual(kernel.parameters, types)
        given = "".join(f", {kind} argument{index}" for index, kind in enumerate(types))
        self.assertIn(f"aclrtlaunch_k(uint32_t block_dim, void* stream{given});", header(kernel))
        used = "".join(f", argument{index}" for index in range(len(types)))
        self.assertIn(f"(kKernel, block_dim, stream{used});", source({kernel: ("vector",)}))

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
            (kernel.format("void (*f)(int)", ""), r"expected an address or a number as parameter 0, got void \(\*f\)"),
            (
                kernel.format("", "KERNEL_TASK_TYPE(2, KERNEL_TYPE_AIV_ONLY);"),
                "kernel k: expected KERNEL_TASK_TYPE_DEFA",
            ),
            (kernel.format("", "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);"), "got KERNEL_TYPE_MIX_AIC_1_1"),
        ):
            with self.assertRaisesRegex(KernelError, sentence):
                kernels_of(text, "k.cpp")

    def test_a_header_declares_the_function_and_stays_as_it_is(self):
        self.assertIn(
            'extern "C" uint32_t aclrtlaunch_add(uint32_t block_dim, void* stream, void* argument0, '
            "void* argument1, uint32_t argument2, bool argument3);\n",
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
            with made[0].open() as reader:
                made[0].write_text("old\n")
                write_headers(Path(folder, "made"), [file])
                self.assertEqual(reader.read(), "old\n")
            self.assertEqual(sorted(Path(folder, "made").iterdir()), made)


class PassesTest(unittest.TestCase):
    KERNEL = Kernel("k", ("void*",), None)

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
