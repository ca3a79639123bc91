# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The known friction laws, and lists of them as options have them."""

from __future__ import annotations

from itertools import combinations

from robot_identification.errors import UsageError
from robot_identification.model.friction.law import FrictionLaw
from robot_identification.model.friction.laws import (
    AsymmetricFriction, CoulombFriction, CoulombSignFriction, CubicViscousFriction,
    DictionaryFriction, FrictionOffset, LoadFriction, PowerViscousFriction, StrainWaveFriction,
    StribeckFriction, TemperatureViscousFriction, ViscousFriction,
)
from robot_identification.removed import describe_unknown, REMOVED

FRICTION_LAWS: dict[str, type[FrictionLaw]] = {
    'coulomb': CoulombFriction,
    'coulomb_sign': CoulombSignFriction,
    'viscous': ViscousFriction,
    'offset': FrictionOffset,
    'asymmetric': AsymmetricFriction,
    'stribeck': StribeckFriction,
    'power_viscous': PowerViscousFriction,
    'cubic_viscous': CubicViscousFriction,
    'load': LoadFriction,
    'temperature_viscous': TemperatureViscousFriction,
    'strain_wave': StrainWaveFriction,
    'dictionary': DictionaryFriction,
}

# What is fitted where nothing else is asked for, as --friction states it.
PLAIN_FRICTION = 'coulomb,viscous,offset'
# Terms that are chosen from the data.
AUTOMATIC_FRICTION = 'dictionary,offset'


def parse_friction(text: str) -> tuple[FrictionLaw, ...]:
    """
    Return the laws named in a comma-separated list; `none` is no friction.

    Raises UsageError if a law is unknown or named twice, or two laws exclude each other.
    """
    names = [name.strip() for name in text.split(',') if name.strip()]
    if names == ['none']:
        return ()
    unknown = [name for name in names if name not in FRICTION_LAWS]
    removed = [name for name in unknown if name in REMOVED]
    if removed:
        raise UsageError(describe_unknown('friction', removed[0], ()))
    if unknown or not names:
        raise UsageError(
            f'unknown friction law {", ".join(unknown) or repr(text)}: '
            f'known are {", ".join(FRICTION_LAWS)} and none'
        )
    if len(set(names)) != len(names):
        raise UsageError(f'a friction law is named twice in {text!r}')
    for first, second in combinations(names, 2):
        if exclude_each_other(first, second):
            raise UsageError(
                f'friction laws {first} and {second} cannot be fitted together: in steady '
                'sliding a sum of columns of one is a sum of columns of the other, so that no '
                'recording distinguishes their coefficients; leave one of them out'
            )
    return tuple(FRICTION_LAWS[name]() for name in names)


def exclude_each_other(first: str, second: str) -> bool:
    """Return whether two laws, by name, cannot be fitted together."""
    return second in FRICTION_LAWS[first].excludes or first in FRICTION_LAWS[second].excludes
