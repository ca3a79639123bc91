# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options declared once mean the same on the command line, as parameters and in YAML."""

import argparse
from dataclasses import dataclass
import importlib
import math
import pkgutil

import numpy as np
import pytest
import robot_identification
from robot_identification.cli.command import CommandLineError, COMMANDS
from robot_identification.cli.main import make_parser, parse_arguments
from robot_identification.errors import IdentificationError, UsageError
from robot_identification.estimation import IdentifyOptions
from robot_identification.options import (
    add_arguments, check_options, from_values, option, options_of,
)


@dataclass(frozen=True)
class Made:
    """One option of each kind."""

    name: str | None = option(str, 'a name', otherwise='none')
    speed: float | None = option(float, 'speed [rad/s]', otherwise='chosen', minimum=0.0, key='v')
    fast: bool | None = option(bool, 'be fast')
    place: tuple[float, ...] | None = option(float, 'where [m]', count=2)
    names: tuple[str, ...] | None = option(str, 'names', count='+')

    def __post_init__(self):
        check_options(self)


def parse(kind, *words):
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


def test_identification_is_the_same_from_words_and_from_yaml():
    """And without any option, what `IdentifyOptions` is by default."""
    words = parse(
        IdentifyOptions, '--joint-names', 'a=b,c=d', '--cutoff', '7', '--friction', 'viscous',
        '--relative-scale', '--stop', '3',
    )
    mapped = IdentifyOptions(
        joint_names={'a': 'b', 'c': 'd'}, cutoff=7, friction='viscous', relative_scale=True,
        stop=3,
    )
    assert words == mapped
    assert parse(IdentifyOptions) == IdentifyOptions()


def declared_ranges():
    """Return every dataclass with an option of limited values, and the option."""
    names = [
        found.name for found in pkgutil.walk_packages(
            robot_identification.__path__, 'robot_identification.'
        ) if not found.name.startswith('robot_identification.nodes')
    ]
    kinds = {
        kind for name in names for kind in vars(importlib.import_module(name)).values()
        if isinstance(kind, type) and hasattr(kind, '__dataclass_fields__')
    }
    return sorted((
        (kind, one) for kind in kinds for one in options_of(kind)
        if (one.minimum, one.maximum) != (None, None)
    ), key=lambda pair: (pair[0].__name__, pair[1].name))


RANGES = declared_ranges()
# What an option needs beside it.
NEEDED = {
    'BreakAwaySettings': {'torque_cap': 1.0, 'torque_limit': 2.0, 'inertia': 0.1},
    'Campaign': {'name': 'small', 'arms': (), 'runs': ()},
    'JointReference': {
        'windows': 30, 'change': 0.0, 'scatter': 0.01, 'repeat': 0.0, 'unexplained': 0.1,
        'load': 0.0,
    },
}


def values_of(one):
    """Return the bounds of an option, and the values just outside them."""
    bounds = [value for value in (one.minimum, one.maximum) if value is not None]
    beyond = [
        value + side if one.kind is int else float(np.nextafter(value, side * math.inf))
        for value, side in ((one.minimum, -1), (one.maximum, 1)) if value is not None
    ]
    return bounds, [*beyond, *([] if one.kind is int else [math.nan, math.inf])]


@pytest.mark.parametrize(
    ('kind', 'one'), RANGES, ids=[f'{kind.__name__}.{one.name}' for kind, one in RANGES]
)
def test_declared_ranges_hold_wherever_options_are_made(kind, one):
    """At a bound a class may still have reasons of its own, as a time limit of 0 s."""
    def make(value):
        given = value if one.count is None else (value,)
        return kind(**{**NEEDED.get(kind.__name__, {}), one.name: given})

    bounds, beyond = values_of(one)
    for value in beyond:
        with pytest.raises(UsageError, match=rf'^{one.name} is .*(allowed are|must be finite)'):
            make(value)
    for value in bounds:
        try:
            make(value)
        except IdentificationError as error:
            assert 'allowed are' not in str(error)


def test_declared_ranges_hold_in_every_command():
    """Before anything is read; each is an option of a command, but for those of others."""
    others = {
        'BreakAwaySettings', 'Campaign', 'CarriedPayload', 'EffortJointConstants',
        'JointReference', 'RobotCondition', 'StreamFaults',
    }
    found = set()
    for command in COMMANDS:
        parser = make_parser([command])._subparsers._group_actions[0].choices[command]
        helps = {flag: action.help or '' for action in parser._actions
                 for flag in action.option_strings}
        for kind, one in RANGES:
            flag = f'--{one.key.replace("_", "-")}'
            if not helps.get(flag, '').startswith(one.text):
                continue
            found.add((kind.__name__, one.name))
            for value in values_of(one)[1]:
                with pytest.raises(CommandLineError, match=rf'{flag}: .*(allowed are|finite)') \
                        as refused:
                    parse_arguments([command, f'{flag}={value!r}'])
                assert refused.value.exit_code == 2
    expected = {(kind.__name__, one.name) for kind, one in RANGES}
    assert {pair for pair in expected if pair[0] not in others} == found
