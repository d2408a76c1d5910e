# SPDX-License-Identifier: Apache-2.0
"""The code of the pages runs, and prints what they say that it prints."""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

if __name__ == "__main__":  # in a script, "test" would be the standard library's
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test.docs.page import ROOT, PageTest

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))


def links_of(page):
    """The files that a page links to."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return {(page.parent / target).resolve() for target in re.findall(r"\]\((?!https?:)([^)#]+)", prose)}


def gdb_works():
    """Whether gdb is there and may run a program."""
    if shutil.which("gdb") is None:
        return False
    command = ["gdb", "-batch", "-ex", "run", "--args", "true"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return False
    return "exited normally" in done.stdout


class PagesTest(PageTest):
    def test_readme(self):
        self.assertGreaterEqual(self.run_page(ROOT / "README.md", "python"), 6)

    def test_kernels_from_python(self):
        self.assertGreaterEqual(self.run_page(ROOT / "docs" / "kernels_from_python.md", "python", "sh"), 8)

    def test_tutorial(self):
        self.assertGreaterEqual(self.run_page(ROOT / "docs" / "tutorial.md", "python"), 21)

    def test_each_section_of_the_tutorial_has_something_to_run(self):
        for part in re.split(r"^## ", (ROOT / "docs" / "tutorial.md").read_text(), flags=re.MULTILINE)[1:]:
            self.assertRegex(part, r"(?m)^```python$", part.splitlines()[0])

    def test_checker(self):
        self.assertGreaterEqual(self.run_page(ROOT / "docs" / "checker.md", "python"), 18)

    def test_debugging(self):
        self.assertGreaterEqual(self.run_page(ROOT / "docs" / "debugging.md", "python", "sh"), 11)

    def test_debugging_in_gdb(self):
        if not gdb_works():
            self.skipTest("needs gdb, and leave to trace processes")
        self.assertEqual(self.run_page(ROOT / "docs" / "debugging.md", "bash"), 1)

    def assert_shows_files(self, page, least):
        """Each block of C++ or Python stands in the files that the heading above it names."""
        shown = 0
        for part in re.split(r"^## ", (ROOT / "docs" / page).read_text(), flags=re.MULTILINE)[1:]:
            heading = part.splitlines()[0]
            files = "\n".join((ROOT / name).read_text() for name in re.findall(r"`([^`]+)`", heading))
            for block in re.findall(r"^```(?:cpp|python)\n(.*?)^```$", part, flags=re.MULTILINE | re.DOTALL):
                self.assertIn(block, files, heading)
                shown += 1
        self.assertGreaterEqual(shown, least)

    def test_adding_an_operator_shows_the_files_as_they_stand(self):
        self.assert_shows_files("adding_an_operator.md", 7)

    def test_adding_an_operator_counts_the_lines_of_its_five_files(self):
        text = (ROOT / "docs" / "adding_an_operator.md").read_text()
        headings = " ".join(re.findall(r"^## .*$", text, flags=re.MULTILINE))
        files = re.findall(r"`([^`]+)`", headings)
        self.assertEqual(len(files), 5)
        lines = sum(len((ROOT / name).read_text().splitlines()) for name in files)
        self.assertIn(f"files have {lines} lines in all", text)
        self.assertLess(lines, 150)

    def test_own_package_shows_the_files_as_they_stand(self):
        self.assert_shows_files("own_package.md", 5)

    def test_a_page_that_says_something_else_is_noticed(self):
        class OneBlock(PageTest):
            def runTest(self):
                self.run_page(page, "python")

        for code, text in (("print(1)", "2"), ("raise ValueError('a')", "ValueError: b"), ("1 / 0", None)):
            page = self.source(f"```python\n{code}\n```\n" + (f"\n```text\n{text}\n```\n" if text else ""), "page.md")
            self.assertFalse(OneBlock().run().wasSuccessful(), code)

    def test_links_lead_to_files_and_the_readme_to_all_pages(self):
        self.assertLessEqual(set(PAGES[1:]), links_of(PAGES[0]))
        for page in PAGES:
            self.assertEqual([], [str(path) for path in links_of(page) if not path.exists()], page.name)

    def test_names_of_files_in_pages_are_those_of_files(self):
        written = re.compile(r"`((?:csrc|docs|examples|npu_backend|op_extension|test|tools)/[\w./]+)`")
        for page in PAGES:
            for name in {name for name in written.findall(page.read_text()) if not name.endswith(".so")}:
                with self.subTest(page=page.name, name=name):
                    self.assertTrue((ROOT / name).exists())


if __name__ == "__main__":
    unittest.main()
