# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A prefix is taken off the names of a description, and nothing else is changed."""

import re

from builders import two_link_urdf
from hypothesis import given
from hypothesis import strategies as st
import pytest
from robot_identification.model.urdf_prefix import without_prefix

PREFIXES = st.text('abz_09', min_size=1, max_size=8).map(lambda text: f'{text}_')


def with_prefix(text, prefix):
    """Put a prefix before the names of links and joints, as a driver's xacro does."""
    for pattern in (
        r'(<link name=")', r'(<joint name=")', r'(<parent link=")', r'(<child link=")',
        r'(<mimic joint=")',
    ):
        text = re.sub(pattern, rf'\g<1>{prefix}', text)
    return text


@given(prefix=PREFIXES)
def test_what_a_driver_puts_before_names_is_taken_off(ur5, prefix):
    """The same text comes out, so the same hash, and a certificate holds for both arms."""
    text = ur5.urdf.text
    changed = with_prefix(text, prefix)
    assert f'"{prefix}elbow_joint"' in changed
    assert without_prefix(changed, prefix) == text
    assert without_prefix(changed, '') == changed


def test_names_of_another_arm_keep_their_prefix():
    """Two arms in one description: what is the other's stays told apart."""
    text = with_prefix(two_link_urdf(), 'right_')
    assert without_prefix(text, 'left_') == text


@pytest.mark.parametrize('prefix', ['a.c_', 'left(', 'x+', '\\d_'])
def test_a_prefix_is_taken_verbatim(prefix):
    """Not as a pattern."""
    text = '<joint name="abc_one"/><joint name="' + prefix + 'two"/>'
    assert without_prefix(text, prefix) == '<joint name="abc_one"/><joint name="two"/>'


def test_single_quotes_and_spaces_are_xml_too():
    text = "<joint name = 'left_one'><parent link='left_base'/><mimic joint = \"left_two\"/>"
    assert without_prefix(text, 'left_') == (
        "<joint name = 'one'><parent link='base'/><mimic joint = \"two\"/>"
    )
