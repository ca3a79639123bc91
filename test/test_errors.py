# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What an error says goes to terminals and logs, whatever names strangers chose."""

from builders import two_link_urdf
from hypothesis import given, strategies as st
import pytest
from robot_identification.errors import DataError, DescriptionError, IdentificationError
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
