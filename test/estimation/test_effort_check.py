# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A unit that the recordings contradict is refused where the model would be wrong."""

from dataclasses import replace

from effort_twins import make_twin
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.estimation.effort_check import check_effort_meaning
from robot_identification.estimation.method import IdentifyOptions


@pytest.fixture(scope='module')
def check(ur5):
    """Return a function that checks a recording of a kind, read in a unit."""
    made = {}

    def run(kind, unit, gains=10.0, has_scale=True, **options):
        if kind not in made:
            made[kind] = make_twin(ur5, 2, kind, 'fourier', rough=False)
        twin = made[kind]
        return check_effort_meaning(
            twin.robot.with_drive_gains(np.full(6, gains)),
            [replace(twin.dataset, effort_unit=unit)], IdentifyOptions(**options), has_scale,
        )

    return run


@pytest.mark.parametrize(('kind', 'unit', 'remedy'), [
    ('A', 'Nm', 'give --effort-unit A'),
    ('Nm', 'A', 'give --effort-unit Nm'),
    ('Nm-without-gravity', 'Nm', 'record with a driver that publishes current or whole torque'),
    ('Nm-without-gravity', 'A', 'record with a driver that publishes current or whole torque'),
])
def test_what_makes_the_model_wrong_is_refused(check, kind, unit, remedy):
    """With the evidence, the remedy, and the option that keeps the unit."""
    with pytest.raises(DataError) as refused:
        check(kind, unit)
    text = str(refused.value)
    assert 'but the recording shows' in text
    assert 'shoulder_lift_joint' in text
    assert f': {remedy}, or keep the unit with --trust-effort-unit' in text
    assert 'but the recording shows' in check(kind, unit, trust_effort_unit=True).warning


@pytest.mark.parametrize('unit', ['A', 'Nm'])
def test_what_the_recording_shows_is_no_warning(check, unit):
    name = {'A': 'motor current', 'Nm': 'joint torque'}[unit]
    text, warning = check(unit, unit)
    assert text.startswith(f'effort is {name} (effort per torque of the URDF: ')
    assert warning == ''


def test_what_changes_no_number_is_no_refusal(check):
    """Gains of one, and a relative scale, which claims none: a warning says what was found."""
    for harmless in ({'gains': 1.0}, {'has_scale': False}):
        assert 'but the recording shows joint torque' in check('Nm', 'A', **harmless).warning
