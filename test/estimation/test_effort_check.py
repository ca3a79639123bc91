# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A unit that the recordings contradict is refused where the model would be wrong."""

from dataclasses import replace
from itertools import permutations

from effort_twins import make_twin
from long_tests import some_by_day
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.estimation.inputs import check_effort_meaning
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.model.parameters import EFFORT_UNITS, STATED_UNITS


@pytest.fixture(scope='module')
def check(ur5):
    """Return a function that checks a recording of a kind, read in a unit."""
    made = {}

    def run(
        kind, unit, *, style='fourier', gains=10.0, factor=1.0, has_scale=True, stated=True,
        **options,
    ):
        if (kind, style) not in made:
            made[kind, style] = make_twin(ur5, 2, kind, style, rough=False)
        twin = made[kind, style]
        # Of a description that states no torques, with which less is left open.
        unlimited = replace(twin.robot.limits, effort=np.full(6, np.inf))
        # As `read_inputs` has it: without gravity where the effort is said to have none.
        robot = replace(twin.robot, limits=unlimited).with_drive_gains(np.full(6, gains))
        robot = robot.for_effort(unit)
        return check_effort_meaning(
            robot, [replace(twin.dataset, effort=factor * twin.dataset.effort, effort_unit=unit)],
            IdentifyOptions(**options),
            has_scale=has_scale, stated=stated,
        )

    return run


@pytest.mark.parametrize(('kind', 'unit'), some_by_day(permutations(STATED_UNITS, 2), 2))
def test_what_makes_the_model_wrong_is_refused(check, kind, unit):
    """With the evidence, the remedy, and the option that keeps the unit."""
    with pytest.raises(DataError) as refused:
        check(kind, unit)
    text = str(refused.value)
    assert 'but the recording shows' in text
    assert 'shoulder_lift_joint' in text
    assert f': give --effort-unit {kind}, or keep the unit with --trust-effort-unit' in text
    assert 'but the recording shows' in check(kind, unit, trust_effort_unit=True)[1]


@pytest.mark.parametrize('unit', some_by_day(STATED_UNITS, 1))
def test_what_the_recording_shows_is_no_warning(check, unit):
    for stated in (True, False):
        text, warning = check(unit, unit, stated=stated)
        name = EFFORT_UNITS[unit].description
        assert text.startswith(f'effort is {name} (effort per torque of the URDF: ')
        assert warning == ''


def test_what_the_recording_leaves_open_is_refused_where_it_is_a_default(check):
    """With the kinds and the motion that decides; a statement or a trust makes it a warning."""
    with pytest.raises(DataError) as refused:
        check('Nm', 'Nm', style='wrists', stated=False)
    text = str(refused.value)
    assert 'which is the default of this arm, and the recording leaves it open' in text
    assert 'joint torque (Nm)' in text and 'motor current (A)' in text
    assert 'to decide, rest for 2 s each with shoulder_lift_joint' in text
    assert text.endswith(': or state what it is with --effort-unit')
    for kept in ({}, {'stated': False, 'trust_effort_unit': True}):
        assert 'to decide, rest for 2 s each' in check('Nm', 'Nm', style='wrists', **kept)[1]
    # Currents of unknown gains claim no scale, whatever they are.
    found = check('Nm', 'A', style='wrists', stated=False, has_scale=False)
    assert 'to decide' in found[1]


def test_a_torque_that_is_larger_than_that_of_the_bodies_may_have_guessed_masses(check):
    """A current of more A than the bodies need N m is rare: unit, factor and masses are named."""
    with pytest.raises(DataError) as refused:
        check('A', 'Nm', factor=120.0)
    text = str(refused.value)
    assert 'the recording shows motor current, or torque of another unit, factor or mass' in text
    assert text.endswith(
        ': give --effort-unit A if it is motor current; if it is not, correct the unit or the '
        'factor of the effort, or the masses of the URDF, or keep both with --trust-effort-unit'
    )


def test_what_is_near_the_torque_of_the_bodies_is_not_refused(check):
    """One joint with another factor, sign or axis makes a torque look like currents."""
    found = check('A', 'Nm', factor=13.0)
    assert 'the recording shows motor current (' in found[1]


def test_what_changes_no_number_is_no_refusal(check):
    """Gains of one, and a relative scale, which claims none: a warning says what was found."""
    for harmless in ({'gains': 1.0}, {'has_scale': False}):
        assert 'but the recording shows joint torque' in check('Nm', 'A', **harmless)[1]
