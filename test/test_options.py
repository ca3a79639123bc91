# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options declared once mean the same on the command line, as parameters and in YAML."""

import argparse
from dataclasses import dataclass

import pytest
from robot_identification.errors import DescriptionError
from robot_identification.estimation import IdentifyArguments, IdentifyOptions
from robot_identification.options import (
    add_arguments, check_kinds, from_values, option, options_of,
)


@dataclass(frozen=True)
class Made:
    """One option of each kind."""

    name: str | None = option(str, 'a name', otherwise='none')
    speed: float | None = option(float, 'speed [rad/s]', otherwise='chosen', minimum=0.0, key='v')
    fast: bool | None = option(bool, 'be fast')

    def __post_init__(self):
        check_kinds(self)


def parse(kind, *words):
    parser = argparse.ArgumentParser()
    add_arguments(parser, kind)
    given = parser.parse_args(words)
    return from_values(kind, lambda key: getattr(given, key))


def help_of(kind):
    """Return the help of the options, without its line breaks."""
    parser = argparse.ArgumentParser()
    add_arguments(parser, kind)
    return ' '.join(parser.format_help().split())


def test_what_is_not_given_is_none():
    """On the command line; and as parameters, whose defaults are empty, zero or false."""
    defaults = {one.key: one.parameter_default for one in options_of(Made)}
    assert parse(Made) == Made() == from_values(Made, lambda key: defaults[key] or None)


def test_words_parameters_and_keys_give_the_same():
    """Zero on the command line is given."""
    expected = Made(name='a', speed=0.0, fast=True)
    assert parse(Made, '--name', 'a', '--v', '0', '--fast') == expected
    assert Made(**{'name': 'a', 'speed': 0, 'fast': True}) == expected


@dataclass(frozen=True)
class Study:
    """Options with values of their own, several values, and a field that is no option."""

    bins: int = option(int, 'how many', default=24, metavar='N')
    center: tuple[float, ...] | None = option(float, 'where [m]', count=2, metavar=('X', 'Y'))
    share: float | None = option(float, 'how much', otherwise='none', metavar='SHARE', bare=0.25)
    still: float = 0.02


def test_options_have_defaults_and_several_values():
    """One that may stand alone has a value of its own for that."""
    assert parse(Study) == Study(24, None, None, 0.02)
    assert parse(Study, '--bins', '3', '--center', '0', '1.5') == Study(3, (0.0, 1.5))
    parser = argparse.ArgumentParser()
    add_arguments(parser.add_argument_group('some'), Study, ('bins',))
    text = parser.format_help()
    assert '--bins N' in text and 'how many (default: 24)' in text and '--center' not in text
    assert [parse(Study, *words).share for words in (['--share'], ['--share', '0'])] == [0.25, 0.0]
    assert 'how much (default: none; alone: 0.25)' in help_of(Study)


def test_descriptions_say_what_happens_otherwise():
    name, speed, fast = options_of(Made)
    assert name.parameter_description == 'a name; empty: none'
    assert speed.parameter_description == 'speed [rad/s]; 0: chosen'
    assert fast.parameter_description == 'be fast'
    assert 'a name (default: none)' in help_of(Made)


@pytest.mark.parametrize(('values', 'words'), [
    ({'name': 3}, 'name is 3, it must be a text'),
    ({'speed': True}, 'speed is True, it must be a number'),
    ({'speed': float('nan')}, 'speed is nan, it must be a number'),
    ({'fast': 'yes'}, "fast is 'yes', it must be true or false"),
])
def test_other_types_are_refused_by_name(values, words):
    with pytest.raises(DescriptionError) as refused:
        Made(**values)
    assert str(refused.value) == words


@pytest.mark.parametrize('name', ['estimator', 'cutoff', 'relative_scale'])
@pytest.mark.parametrize('value', [{'a': 'b'}, []])
def test_only_joint_names_map(name, value):
    """A mapping elsewhere is refused, not looked up."""
    with pytest.raises(DescriptionError, match=f'{name} is'):
        IdentifyArguments(**{name: value})


def test_identification_is_the_same_from_words_and_from_yaml():
    """And without any option, what `IdentifyOptions` is by default."""
    words = parse(
        IdentifyArguments, '--joint-names', 'a=b,c=d', '--cutoff', '7', '--friction', 'viscous',
        '--relative-scale', '--stop', '3',
    )
    mapped = IdentifyArguments(
        joint_names={'a': 'b', 'c': 'd'}, cutoff=7, friction='viscous', relative_scale=True,
        stop=3,
    )
    assert words == mapped
    assert words.identify_options() == mapped.identify_options()
    assert parse(IdentifyArguments).identify_options() == IdentifyOptions()
