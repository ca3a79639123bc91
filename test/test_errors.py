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

"""What an error says goes to terminals and logs, whatever names strangers chose."""

from builders import two_link_urdf
from hypothesis import given
from hypothesis import strategies as st
import pytest
from robot_identification.errors import DataError
from robot_identification.errors import DescriptionError
from robot_identification.errors import IdentificationError
from robot_identification.model.urdf import parse_urdf


@given(text=st.text())
def test_an_error_cannot_forge_a_line_or_steer_a_terminal(text):
    """Every letter can be printed, and a line after the first one begins with spaces."""
    first, *others = str(DataError(text)).split('\n')
    assert all(line.isprintable() for line in (first, *others))
    assert all(line.startswith('  ') for line in others)


@given(text=st.text())
def test_an_error_within_an_error_says_the_same(text):
    said = str(DataError(text))
    assert str(IdentificationError(said)) == said


def test_plain_messages_stay_as_they_are():
    assert str(DataError('joint ä: 3.0 > 2.0\n  in line 3')) == 'joint ä: 3.0 > 2.0\n  in line 3'
    assert str(DataError()) == ''


@pytest.mark.parametrize('name', ['a&#10;[ERROR] b', 'a&#9;b', 'a\u200bb', 'a\u202eb'])
def test_names_of_a_urdf_can_be_printed(name):
    """Line breaks, tabs, and what turns or hides text are refused where names enter."""
    with pytest.raises(DescriptionError, match=r'cannot be printed'):
        parse_urdf(two_link_urdf(name=name), 'text')
