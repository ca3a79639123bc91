# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tables of what is shown by which test: that the tests exist."""

from pathlib import Path
import re

TESTS = Path(__file__).resolve().parent


def all_tests(table):
    """Return every test of a table, each once; values are tuples of 'file::test'."""
    return sorted({test for tests in table.values() for test in tests})


def assert_exists(test):
    """Check that a test exists, given as 'file::test', the file seen from the tests' folder."""
    file, name = test.split('::')
    text = (TESTS / file).read_text(encoding='utf-8')
    assert re.search(rf'^def {name}\(', text, re.MULTILINE), test
