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
    """Return an instance from words of a command line."""
    parser = argparse.ArgumentParser()
    add_arguments(parser, kind)
    given = parser.parse_args(words)
    return from_values(kind, lambda key: getattr(given, key))


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
    still: float = 0.02


def test_options_have_defaults_and_several_values():
    assert parse(Study) == Study(24, None, 0.02)
    assert parse(Study, '--bins', '3', '--center', '0', '1.5') == Study(3, (0.0, 1.5))
    parser = argparse.ArgumentParser()
    add_arguments(parser.add_argument_group('some'), Study, ('bins',))
    text = parser.format_help()
    assert '--bins N' in text and 'how many (default: 24)' in text and '--center' not in text


@dataclass(frozen=True)
class Effect:
    """An option that may stand without a value."""

    share: float | None = option(float, 'how much', otherwise='none', metavar='SHARE', bare=0.25)


def test_an_option_that_stands_alone_has_a_value_of_its_own():
    assert parse(Effect).share is None
    assert parse(Effect, '--share').share == 0.25
    assert parse(Effect, '--share', '0').share == 0.0
    parser = argparse.ArgumentParser()
    add_arguments(parser, Effect)
    assert 'how much (default: none; alone: 0.25)' in ' '.join(parser.format_help().split())


def test_descriptions_say_what_happens_otherwise():
    """In the words of each place."""
    name, speed, fast = options_of(Made)
    assert name.parameter_description == 'a name; empty: none'
    assert speed.parameter_description == 'speed [rad/s]; 0: chosen'
    assert fast.parameter_description == 'be fast'
    parser = argparse.ArgumentParser()
    add_arguments(parser, Made)
    assert 'a name (default: none)' in parser.format_help()


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


@pytest.mark.parametrize('name', ['estimator', 'friction', 'cutoff', 'relative_scale'])
@pytest.mark.parametrize('value', [{}, {'a': 'b'}, []])
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
