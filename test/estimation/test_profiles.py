# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Published methods: every choice is one that exists, and documented."""

from dataclasses import fields
from pathlib import Path

import pytest
from robot_identification.errors import UsageError
from robot_identification.estimation.estimators import ESTIMATORS
from robot_identification.estimation.profiles import find_profile, PROFILES
from robot_identification.model import (
    exclude_each_other, kinematic_filter_from_options, make_standard_parameters, reduce_to_base,
)

DOCUMENT = Path(__file__).parents[2] / 'docs' / 'estimators.md'
# Base parameters of a UR5 on the ground: 36 of bodies, 12 of friction, 4 rotors (Tika et al.
# table II, Raviola et al. section 3.1).
UR5_PARAMETERS = {
    'porcelli_2020': 36, 'porcelli_2020_groups': 36, 'rajagopal_2017': 36, 'tika_2020': 52,
    'raviola_2021': 52, 'raviola_2021_wls': 52, 'madsen_2020': 52,
}


def reduction_of(robot, profile):
    return reduce_to_base(robot, make_standard_parameters(
        robot.n, profile.friction, profile.reflected_inertia
    ))


@pytest.mark.parametrize('name', PROFILES)
def test_choices_exist(ur5, name):
    """Names are those of the command line; a filter comes back from a model file."""
    # A year in the name is that of the paper, base parameters are as many as in it, and every
    # profile says where it differs.
    profile = PROFILES[name]
    assert all(part in profile.paper for part in (name.split('_')[0].capitalize(),
                                                  name.split('_')[1]))
    assert profile.method and profile.departures and all(profile.departures)
    assert reduction_of(ur5, profile).rank == UR5_PARAMETERS[name]
    assert find_profile(name) is profile
    assert type(profile.estimator) is ESTIMATORS[profile.estimator_name]
    assert not any(
        exclude_each_other(one.name, other.name)
        for one in profile.friction for other in profile.friction
    )
    for smoothing in (profile.kinematic_filter, profile.effort_filter):
        if smoothing is not None:
            assert kinematic_filter_from_options(smoothing.options()) == smoothing
    for limit in (profile.decimation, profile.slowest):
        assert limit is None or limit > 0.0


def test_unknown_profiles_are_refused():
    with pytest.raises(UsageError, match="unknown profile 'swevers_1997': known are porcelli"):
        find_profile('swevers_1997')


def test_document_names_every_estimator_and_profile():
    """A new entry needs a line in docs/estimators.md, with its options."""
    text = DOCUMENT.read_text()
    for name, kind in ESTIMATORS.items():
        assert f'| `{name}` |' in text, name
        options = [field.name for field in fields(kind) if field.name != 'prior']
        assert not [option for option in options if f'`{option}`' not in text], name
    for name in PROFILES:
        assert f'| `{name}` |' in text, name
