# SPDX-License-Identifier: Apache-2.0
"""docs/instructions.md says what the headers say."""

import unittest

from tools import instructions


class InstructionsPageTest(unittest.TestCase):
    """The page and what it is made of."""

    def test_is_what_the_headers_say(self) -> None:
        text = instructions.PAGE.read_text(encoding="utf-8")
        self.assertEqual(text, instructions.page(), "run python -m tools.instructions")

    def test_every_name_of_pto_is_there_with_a_contract(self) -> None:
        for namespace, count in (("pto", 148), ("pto::comm", 11)):
            found = instructions.instructions(namespace)
            self.assertEqual(len(found), count)
            for name, instruction in found.items():
                with self.subTest(f"{namespace}::{name}"):
                    self.assertGreater(len(instruction.forms), 0)
                    self.assertNotEqual(instruction.contract, "")

    def test_tells_types_and_chips_of_each_kind(self) -> None:
        found = instructions.instructions("pto")
        self.assertEqual(instructions.types_of(found["TDIV"])[0], "half, float")
        self.assertEqual(instructions.types_of(found["TROWARGMAX"])[0], "int16, int32, half, float")
        self.assertEqual(instructions.chips_of(found["TADD"]), "A2/A3, A5")
        self.assertEqual(instructions.chips_of(found["THISTOGRAM"]), "A5")
        self.assertEqual(instructions.chips_of(found["TSUBC"]), "none")

    def test_lists_overloads_without_what_only_chooses_between_them(self) -> None:
        forms = {form.signature for form in instructions.instructions("pto")["TSTORE"].forms}
        self.assertIn("<class TileT, class Global> TSTORE(Global& global, TileT& tile)", forms)
        self.assertFalse(any("enable_if" in form or "events" in form for form in forms))


if __name__ == "__main__":
    unittest.main()
