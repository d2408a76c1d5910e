# SPDX-License-Identifier: Apache-2.0
"""The checker against an oracle: kernels of this project with a flag, a barrier or an address changed, one at a time.

Every mutant whose accesses the oracle calls unordered is to be reported, at a right pair of lines, and nothing else. A
few kernels, or with NPU_MUTANTS=all (`make test-mutants`) those of all files of csrc/kernel, in some minutes.
"""

import os
import sys
import tempfile
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.check.mutation.judging import Subject, Tally, Verdict, judge
from test.check.mutation.mutants import Calls
from test.check.mutation.subjects import AUTO, KERNELS, LONG, SHORT
from test.kernel.kernels_of_test import KernelTest

REPORTED_AT_LEAST = 0.99  # of the mutants that are unordered


class MutantTest(KernelTest):
    @classmethod
    def setUpClass(cls):
        cls.all = Tally()

    @classmethod
    def tearDownClass(cls):
        print(f"\nmutants: {cls.all}")

    def judge(self, subject: Subject) -> None:
        tally = judge(subject)
        self.all.add(tally)
        print(f"\n{subject.entry}: {tally}", flush=True)
        as_it_is = tally.verdicts[0]
        self.assertEqual((as_it_is.unordered, as_it_is.reported), (frozenset(), frozenset()))
        self.assertTrue(tally.unordered)  # of each kernel some mutants are
        self.assertEqual(tally.contradictions, [], "random orders differ though the oracle calls all ordered")
        self.assertEqual(tally.wrong, [], "pairs are reported that are ordered")
        self.assertGreaterEqual(
            len(tally.unordered) - len(tally.missed), REPORTED_AT_LEAST * len(tally.unordered), tally.missed
        )

    def test_mutants_are_reported_where_they_are_unordered(self):
        for subject in (*SHORT, *(LONG if os.environ.get("NPU_MUTANTS") == "all" else ())):
            with self.subTest(subject.entry):
                self.judge(subject)

    def test_in_auto_mode_no_flag_is_missing(self):
        tally = judge(AUTO)
        self.assertEqual([tuple(one) for one in tally.verdicts], [("auto_add as it is", *[frozenset()] * 3, False)])

    def test_random_orders_bear_the_oracle_out(self):
        if not self.all.verdicts:
            self.all.add(judge(SHORT[0]))
        differ = [one for one in self.all.verdicts if one.orders_differ]
        self.assertGreaterEqual(len(differ), len(self.all.unordered) / 2)


class SubjectsTest(unittest.TestCase):
    def test_kernels_of_all_files_have_mutants(self):
        files = {subject.source for subject in (*SHORT, *LONG) if subject.source.parent == KERNELS}
        self.assertEqual(files, set(KERNELS.glob("*.cpp")))


class CallsTest(unittest.TestCase):
    TEXT = """\
// set_flag(PIPE_V, PIPE_S, 0) comes first
#define WAIT wait_flag(PIPE_V, PIPE_S, 0)
set_flag(PIPE_V, PIPE_S, event_t(i)); WAIT;
TASSIGN(tiles[i],
        Address(i, 2));
SYNCALL<SyncCoreType::Mix>();
TASSIGN<0>(tile);
"""
    ASKING = """\
// set_flag(PIPE_V, PIPE_S, 0) comes first
#define WAIT wait_flag(PIPE_V, PIPE_S, 0)
(recorder::IsLeftOut(1) ? (void)0 : (void)(set_flag(PIPE_V, PIPE_S, event_t(i)))); WAIT;
TASSIGN(tiles[i], (Address(i, 2)) + recorder::Distance(2, tiles[i]))
;
(recorder::IsLeftOut(3) ? (void)0 : (void)(SYNCALL<SyncCoreType::Mix>()));
TASSIGN<0>(tile);
"""

    def test_calls_ask_and_lines_stay_where_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "k.cpp"
            file.write_text(self.TEXT)
            calls = Calls()
            calls.add(file)
            self.assertEqual(file.read_text(), self.ASKING)
            self.assertEqual([call.number for call in calls.at("TASSIGN", (file, 4))], [2])
            self.assertEqual([call.number for call in calls.at("SYNCALL", (file, 6))], [3])


class VerdictTest(unittest.TestCase):
    PAIR, OTHER = ("k.cpp:1", "k.cpp:2"), ("k.cpp:1", "k.cpp:3")

    def verdict(self, unordered: set, reported: set) -> tuple[bool, bool]:
        one = Verdict("k", frozenset(unordered), frozenset(reported), frozenset(), False)
        return one.is_missed, one.is_wrong

    def test_says_what_is_missed_and_what_is_wrong(self):
        self.assertEqual(self.verdict(set(), set()), (False, False))
        self.assertEqual(self.verdict({self.PAIR, self.OTHER}, {self.PAIR}), (False, False))
        self.assertEqual(self.verdict({self.PAIR}, set()), (True, False))
        self.assertEqual(self.verdict({self.PAIR}, {self.OTHER}), (True, True))
        self.assertEqual(self.verdict(set(), {self.PAIR}), (False, True))


if __name__ == "__main__":
    unittest.main()
