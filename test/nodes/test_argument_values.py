# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A value that launch cannot make a parameter of is refused with its name and an example."""

import pytest
from robot_identification.nodes.argument_values import checked_value
import yaml


@pytest.mark.parametrize('text, kind', [
    ('anything', str), ('', str), ('true', bool), ('3', int), ('-1', int), ('2', float),
    ('0.5', float), ('1e-3', float), ('[]', list[float]), ('[0.0, -1.5]', list[float]),
    ('[""]', list[str]), ('[/home/a b, relative]', list[str]),
])
def test_values_of_a_kind_are_taken(text, kind):
    """Nothing that launch takes is refused, or changed."""
    assert checked_value('name', text, kind, 'example') == text


@pytest.mark.parametrize('text, values', [
    ('[0, 0, 3.14]', [0.0, 0.0, 3.14]), ('[1]', [1.0]), ('[2e-3, 1e-05]', [2e-3, 1e-5]),
])
def test_whole_numbers_become_numbers(text, values):
    """Launch makes a parameter only of a list whose entries YAML takes for floats."""
    made = yaml.safe_load(checked_value('name', text, list[float], 'example'))
    assert made == values
    assert all(isinstance(value, float) for value in made)


def test_a_long_list_stays_on_one_line():
    """A line break would be part of the value."""
    assert '\n' not in checked_value('name', str([0.123456789] * 64), list[float], 'example')


@pytest.mark.parametrize('text, kind, words', [
    ('0 0 0', list[float], 'a YAML list, each a number is needed, such as mounting:="[0.0]"'),
    ('0.0', list[float], 'a YAML list'), ('[a, b]', list[float], 'each a number'),
    ('[0.0', list[float], 'a YAML list'), ('/home', list[str], 'a YAML list, each a text'),
    ('fast', float, 'a number is needed'), ('1,5', float, 'a number is needed'),
    ('2.5', int, 'a whole number is needed'),
])
def test_others_are_refused_by_name(text, kind, words):
    """Launch itself says neither the name nor what would be right."""
    with pytest.raises(RuntimeError) as refused:
        checked_value('mounting', text, kind, '[0.0]')
    assert str(refused.value).startswith(f'mounting:={text}: ')
    assert words in str(refused.value)
