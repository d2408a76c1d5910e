# SPDX-License-Identifier: Apache-2.0
"""The command line of bisheng, word by word."""

import tempfile
import unittest
from pathlib import Path

from op_extension import include_path
from op_extension.compat.bisheng_options import BOTH, OptionError, Source, parse, with_own_headers


def parsed(text):
    return parse(text.split())


class OptionsTest(unittest.TestCase):
    def test_takes_the_command_that_compiles_a_kernel_in_time(self):
        options = parsed("-fPIC -shared -xcce --npu-arch=dav-2201 -O2 -std=c++17 -Iinc k.cpp -o k.so")
        self.assertEqual(options.sources, [Source("k.cpp", "cce")])
        self.assertEqual((options.stage, options.output, options.cores), ("link", "k.so", BOTH))
        self.assertEqual(options.words, ["-fPIC", "-shared", "-O2", "-std=c++17", "-Iinc"])
        self.assertEqual(options.kernel_words(), ["-fPIC", "-Iinc"])

    def test_takes_the_command_that_a_build_file_makes(self):
        options = parsed(
            "-DX=1 -Dk_EXPORTS -O2 -fPIC -xcce -Xhost-start -Xhost-end -mllvm -cce-aicore-stack-size=0x8000 -mllvm "
            "-cce-aicore-addr-transform --cce-enable-print --cce-aicore-arch=dav-c220-vec -std=c++17 -MD -MT k.o -MF "
            "k.o.d -o k.o -c k.cpp"
        )
        self.assertEqual((options.stage, options.output, options.cores), ("compile", "k.o", ("vector",)))
        self.assertEqual((options.rules, options.rules_targets, options.rules_file), (["-MD"], ["-MT", "k.o"], "k.o.d"))
        self.assertEqual(options.words, ["-DX=1", "-Dk_EXPORTS", "-O2", "-fPIC", "-std=c++17"])

    def test_knows_cores_and_generation_of_an_architecture(self):
        for word, cores, generation in (
            ("--cce-aicore-arch=dav-c220-cube", ("cube",), ""),
            ("--cce-aicore-arch=dav-c220", BOTH, ""),
            ("--cce-aicore-arch=dav-c310-vec", ("vector",), "_a5"),
            ("--npu-arch=dav-3510", BOTH, "_a5"),
        ):
            options = parse([word])
            self.assertEqual((options.cores, options.generation), (cores, generation), word)

    def test_refuses_words_of_the_vendors_that_it_does_not_know(self):
        for words, sentence in (
            (["--cce-simd-vf-fusion"], "bisheng: expected an option of g.. or one .* known here, got --cce-simd-vf-f"),
            (["--npu-arch=dav-1001"], "expected dav-2201, dav-3510, dav-3101 in --npu-arch, got dav-1001"),
            (["--npu-arch", "dav-2201"], r"in --npu-arch, got nothing behind it \(it is written --npu-arch=dav-2201\)"),
            (["--cce-aicore-arch=dav-l510"], r"expected dav-c220 or dav-c310 \(-vec, -cube\) in .*, got dav-l510"),
            (["-mllvm", "-cce-other"], "expected of -mllvm what has no effect here .*, got -cce-other"),
            (["k.cpp", "-o"], "expected a value behind -o, got the end of the command"),
        ):
            with self.assertRaisesRegex(OptionError, sentence):
                parse(words)

    def test_hands_libraries_and_objects_to_the_linker_only(self):
        options = parsed("-xcce -s -shared a.o libb.a c.so.1 -L lib -lm -Wl,-z,relro -z now -save-temps -I inc")
        self.assertEqual(options.sources, [])
        self.assertEqual(options.compile_words(), ["-save-temps", "-I", "inc"])
        self.assertEqual(options.words[:5], ["-s", "-shared", "a.o", "libb.a", "c.so.1"])

    def test_tells_languages_by_option_and_by_name(self):
        options = parsed("a.c b.cpp c.cce -xc++ d.cce -x none e.cc f.c")
        languages = [source.language for source in options.sources]
        self.assertEqual(languages, ["c", "c++", "cce", "c++", "c++", "c"])

    def test_defines_the_auto_mode_and_finds_a_simulation(self):
        options = parse(["--cce-pto-enable", "--cce-pto-auto-enable", "-D", "__CPU_SIM"])
        self.assertEqual(options.words, ["-D__PTO_AUTO__", "-D", "__CPU_SIM"])
        self.assertTrue(options.simulates)
        self.assertFalse(parse(["-D__CPU_SIM_NOT"]).simulates)

    def test_compiles_kernels_as_cxx17_or_newer(self):
        for given, standard in (
            ("", "gnu++17"),
            ("-std=c++11", "gnu++17"),
            ("-std=gnu++20", "gnu++20"),
            ("--std=c++20", "gnu++20"),
            ("--std c++2b", "gnu++2b"),
            ("-std=c11", "gnu++17"),
            ("-std=c++20 -std=c11", "gnu++20"),
        ):
            options = parse(given.split())
            self.assertEqual((options.standard(), options.kernel_words()), (standard, []), given)

    def test_keeps_the_arithmetic_of_kernels(self):
        words = ["-funsafe-math-optimizations", "-fno-associative-math", "-ffinite-math-only", "-ffp-contract=fast"]
        words += ["-flto", "-flto=auto", "-fgnu-unique", "-fno-gnu-unique", "-mfpmath=387", "-mno-fma", "-Ofast"]
        self.assertEqual(parse([*words, "-fno-exceptions", "-mavx2"]).kernel_words(), ["-fno-exceptions", "-mavx2"])

    def test_goes_as_far_as_the_word_that_says_least(self):
        for words, stage in (("-fsyntax-only -c", "check"), ("-S -c", "assemble"), ("-c -E -S", "preprocess")):
            self.assertEqual(parsed(words).stage, stage)

    def test_reads_words_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "words.rsp")
            file.write_text('-DX="a b" a.o\n')
            self.assertEqual(parse([f"@{file}"]).words, ["-DX=a b", "a.o"])

    def test_puts_its_headers_in_place_of_others_with_the_same_names(self):
        own = Path(include_path())
        with tempfile.TemporaryDirectory() as folder:
            for name in ("pto/common", "kernels", "pto/gone"):
                Path(folder, "include", name).mkdir(parents=True)
            Path(folder, "include", "pto", "pto-inst.hpp").touch()
            words = [f"-I{folder}/include", "-isystem", f"{folder}/include/pto/common", f"-I{folder}", "-O2"]
            found = with_own_headers([*words, f"-I{folder}/include/pto/gone", "-include", "x.h", f"-I{own}/npu"], own)
            expected = ["-I", str(own), "-isystem", f"{own}/pto/common", "-I", folder, "-O2", "-include", "x.h"]
            self.assertEqual(found, [*expected, "-I", f"{own}/npu"])


if __name__ == "__main__":
    unittest.main()
