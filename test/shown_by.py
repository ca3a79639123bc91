# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
