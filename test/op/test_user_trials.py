# SPDX-License-Identifier: Apache-2.0
"""What users of custom operators report again and again, tried on every operator of torch.ops.npu.

Operators in place that compilers refuse; gradients that are missing in silence; fake results that lie otherwise than
real ones; tensors without elements. The operators come from op_extension.ops: a new one is tried, too.
"""

import functools
import itertools
import unittest
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.library import opcheck
from torch.testing import assert_close

import op_extension
from test.op.contract import CHECKS_ON_NPU, DEVICES
from test.op.samples import LAYOUTS, operators, relaid, shapes_of, tensors, widest

QUICK_CHECKS = ("test_schema", "test_faketensor")


def for_all(in_place=None, empty=False):
    """Runs a test for each operator with each of its arguments; in_place chooses those that are, or are not."""

    def decorate(test):
        @functools.wraps(test)
        def run(self):
            tried = 0
            for overload in operators():
                if in_place is None or overload._schema.is_mutable == in_place:
                    for shapes in shapes_of(overload, empty):
                        tried += 1
                        with self.subTest(operator=str(overload), shapes=shapes):
                            test(self, overload, shapes)
            self.assertGreaterEqual(tried, 2)

        return run

    return decorate


def layouts_of(overload):
    """In place, elements of the result must not share their place."""
    return [layout for layout in LAYOUTS if not (overload._schema.is_mutable and layout == "expanded")]


def with_tensors(function, arguments):
    """The arguments, with function(x) for each tensor x."""
    return [function(x) if isinstance(x, torch.Tensor) else x for x in arguments]


def tensors_of(arguments):
    """Those that may want a gradient."""
    return [x for x in arguments if isinstance(x, torch.Tensor) and x.is_floating_point()]


def listed(result):
    return list(result) if isinstance(result, tuple) else [result]


def results_of(overload, arguments):
    """The results in a list. What an operator in place gets is a copy: a leaf must not change."""
    if overload._schema.is_mutable:
        arguments = [arguments[0] * 1, *arguments[1:]]
    return listed(overload(*arguments))


class InPlaceTest(unittest.TestCase):
    """pytorch issues 181100, 115135."""

    def test_relu_passes_all_checks_and_compiles(self):
        x = torch.tensor([-1.0, 2.0], device="npu")
        self.assertEqual(set(opcheck(torch.ops.npu.my_relu_.default, (x.clone(),)).values()), {"SUCCESS"})
        compiled = torch.compile(lambda t: torch.ops.npu.my_relu_(t * 2) + 1, backend="aot_eager", fullgraph=True)
        self.assertEqual(compiled(x).tolist(), [1.0, 5.0])

    @for_all(in_place=True)
    def test_passes_all_checks_and_compiles(self, overload, shapes):
        def call(x, *rest):
            return overload(x * 2, *rest) + 1

        compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
        for device in DEVICES:
            arguments = tensors(shapes, torch.float32, device)
            got = opcheck(overload, with_tensors(torch.clone, arguments))
            self.assertEqual((len(got), set(got.values())), (4, {"SUCCESS"}))
            assert_close(compiled(*arguments), call(*arguments), rtol=0, atol=0)

    @for_all(in_place=True)
    def test_changes_its_first_argument_but_no_leaf_and_no_shared_elements(self, overload, shapes):
        x, *rest = tensors(shapes, torch.float32, "npu")
        self.assertIs(overload(x, *rest), x)
        with self.assertRaisesRegex(RuntimeError, "more than one element of the written-to tensor refers to a single"):
            overload(relaid(x, "expanded"), *rest)
        with self.assertRaisesRegex(RuntimeError, "a leaf Variable that requires grad is being used in an in-place"):
            overload(x.requires_grad_(), *rest)

    @for_all()
    def test_name_and_schema_agree(self, overload, shapes):
        self.assertEqual(overload._schema.is_mutable, overload._schema.name.endswith("_"))


class GradientTest(unittest.TestCase):
    """pytorch issues 37306, 104481, 196859."""

    @for_all()
    def test_none_is_missing_and_none_is_wrong(self, overload, shapes):
        dtype, tolerances = widest(overload)
        arguments = tensors(shapes, dtype, "npu", wanted=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sum(z.square().sum() for z in results_of(overload, arguments)).backward()
        for x in tensors_of(arguments):
            self.assertEqual((x.grad.shape, x.grad.device), (x.shape, x.device))
            self.assertGreater(x.grad.abs().sum().item(), 0)
        self.assertTrue(
            torch.autograd.gradcheck(lambda *x: tuple(results_of(overload, x)), arguments, fast_mode=True, **tolerances)
        )
        with torch.no_grad():
            self.assertEqual([z.grad_fn for z in results_of(overload, arguments) if z.requires_grad], [])

    @for_all()
    def test_only_what_wants_one_gets_one(self, overload, shapes):
        arguments = tensors(shapes, torch.float32, "npu")
        leaves = tensors_of(arguments)
        for chosen in leaves:
            for x in leaves:
                x.grad = None
                x.requires_grad_(x is chosen)
            sum(z.sum() for z in results_of(overload, arguments)).backward()
            self.assertEqual([x.grad is not None for x in leaves], [x is chosen for x in leaves])

    def test_those_of_sums_are_what_is_known(self):
        x, y = (torch.tensor([[-3.0, 1.0, 2.0]], device="npu", requires_grad=True) for _ in range(2))
        known = {
            "my_add": (torch.ops.npu.my_add(x, y), [1.0, 1.0, 1.0]),
            "my_mul": (torch.ops.npu.my_mul(x, 2.5), [2.5, 2.5, 2.5]),
            "fused_add_relu": (torch.ops.npu.fused_add_relu(x, y), [0.0, 1.0, 1.0]),
            "my_split": (torch.ops.npu.my_split(x, 1)[1], [0.0, 0.0, 1.0]),
        }
        for name, (z, expected) in known.items():
            with self.subTest(name):
                (gradient,) = torch.autograd.grad(z.sum(), x)
                self.assertEqual(gradient.tolist(), [expected])


class LayoutTest(unittest.TestCase):
    """pytorch issues 177115, 182328, 137437."""

    def check(self, overload, arguments, checks):
        got = opcheck(overload, arguments, test_utils=checks)
        self.assertEqual((len(got), set(got.values())), (len(checks), {"SUCCESS"}))

    @for_all()
    def test_all_pass_the_checks(self, overload, shapes):
        for layout, device in itertools.product(layouts_of(overload), DEVICES):
            laid = with_tensors(lambda x, layout=layout: relaid(x, layout), tensors(shapes, torch.float32, device))
            self.check(overload, laid, QUICK_CHECKS)
            if not overload._schema.is_mutable:
                laid = with_tensors(lambda x: x.detach().requires_grad_(x.is_floating_point()), laid)
                self.check(overload, laid, CHECKS_ON_NPU if device == "npu" else QUICK_CHECKS)

    @for_all()
    def test_fake_results_lie_as_real_ones(self, overload, shapes):
        def facts(result):
            return [(x.shape, x.stride(), x.storage_offset(), x.dtype, x.device) for x in listed(result)]

        for layout in layouts_of(overload):
            laid = with_tensors(lambda x, layout=layout: relaid(x, layout), tensors(shapes, torch.float32, "npu"))
            with FakeTensorMode() as mode:
                fake = facts(overload(*with_tensors(mode.from_tensor, laid)))
            self.assertEqual(fake, facts(overload(*laid)), layout)

    @for_all(in_place=False)
    def test_results_share_memory_with_nothing(self, overload, shapes):
        arguments = tensors(shapes, torch.float32, "npu")
        found = [*listed(overload(*arguments)), *tensors_of(arguments)]
        self.assertEqual(len({x.untyped_storage().data_ptr() for x in found}), len(found))


class NoElementsTest(unittest.TestCase):
    """FlagGems 5298, slangpy 830, TransformerEngine 2848. A kernel that is told of no elements: test/kernel."""

    def test_empty(self):
        self.assertEqual(torch.empty(0, device="npu").tolist(), [])

    @for_all(empty=True)
    def test_results_and_gradients_are_there(self, overload, shapes):
        for device, dtype in itertools.product(DEVICES, (torch.float32, torch.bfloat16)):
            arguments = tensors(shapes, dtype, device, wanted=True)
            results = results_of(overload, arguments)
            torch.npu.synchronize()  # the error of a launch that does not fit would come here
            expected = results_of(overload, tensors(shapes, dtype, "meta"))
            self.assertEqual([(z.shape, z.dtype) for z in results], [(z.shape, z.dtype) for z in expected])
            self.assertEqual({z.device.type for z in results}, {device})
            sum(z.sum() for z in results).backward()
            for x in tensors_of(arguments):
                self.assertEqual((x.grad.shape, x.grad.dtype), (x.shape, x.dtype))
                self.assertTrue(x.grad.isfinite().all().item())


class EnumerationTest(unittest.TestCase):
    def test_names_all_operators(self):
        names = {overload._schema.name for overload in operators()}
        self.assertEqual(names, {f"npu::{name}" for name in op_extension.ops.__all__})

    def test_an_operator_without_known_arguments_is_named(self):
        with torch.library._scoped_library("samples_test", "DEF") as library:
            library.define("scaled(Tensor x, int n) -> Tensor")
            with self.assertRaisesRegex(
                LookupError, "samples_test.scaled.*: expected arguments for it in test/op/samp"
            ):
                shapes_of(torch.ops.samples_test.scaled.default)
            library.define("plain(Tensor x, Tensor y, float scale=1) -> Tensor")
            self.assertEqual(shapes_of(torch.ops.samples_test.plain.default), [((2, 3, 4, 4),) * 2])


if __name__ == "__main__":
    unittest.main()
