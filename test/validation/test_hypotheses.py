# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
What is wrong with a recording is named, and a sound one is not warned of; MuJoCo is the truth.

The arms and what is done to their recordings are those of the calibration in
validation_studies/wrong_recordings.py, with one seed; shares over many seeds are in
docs/verdict.md.
"""

from dataclasses import replace
from functools import cache

from long_tests import some_by_day
import numpy as np
import pytest
from robot_identification.model import KinematicFilter, rigid_torque, run_stops
from robot_identification.processing.processing import process
from robot_identification.validation import examine_data
from robot_identification.validation.hypotheses.examination import HYPOTHESES
from robot_identification.validation.hypotheses.signals import find_one_direction

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
corrupted = pytest.importorskip('validation_studies.wrong_recordings')

SEED = 0
WRONG = [name for name, one in corrupted.CORRUPTIONS.items() if one.names]


@cache
def arm(name='ur5', *, with_tool=False):
    return corrupted.make_arm(name, SEED, with_tool=with_tool)


def examine(made, recording, unit='A', **options):
    """Return what is found in a recording."""
    dataset = process(recording, KinematicFilter(cutoff=9.0), unit, robot=made.robot)
    return examine_data(made.robot, [dataset], **options).findings


@cache
def doubled():
    recording = corrupted.scaled(arm().training, 2.0)
    return recording, examine(arm(), recording)


@pytest.mark.parametrize('with_tool', (False, True))
@pytest.mark.parametrize('name', corrupted.ARMS)
def test_a_sound_recording_raises_no_warning(name, with_tool):
    """Friction, elasticity and ripple that the model lacks are no reason, nor is a tool."""
    made = arm(name, with_tool=with_tool)
    found = examine(made, made.training)
    assert found.warnings == ()
    assert any('common factor' in text for text in found.assumptions)
    # The tool that the youBot gets is within the tolerance of its URDF.
    assert any(
        f'behind {made.robot.joint_names[-1]} is another body' in text
        for text in found.assumptions
    ) == (with_tool and name != 'youbot')


# Of two that are alike, one by day.
@pytest.mark.parametrize('wrong', some_by_day(WRONG[::2] + WRONG[1::2], 8))
def test_what_is_wrong_is_named(wrong):
    """The hypothesis that is true explains most; a warning gives evidence and a check."""
    corruption = corrupted.CORRUPTIONS[wrong]
    made = arm(with_tool=corruption.with_tool)
    found = examine(made, corruption.make(made, SEED))
    assert {warning.name for warning in found.warnings} & set(corruption.names)
    for warning in found.warnings:
        assert warning.name in HYPOTHESES
        assert set(warning.joints) <= set(arm().robot.joint_names)
        assert np.isfinite(warning.value) and warning.check
        assert f'{warning.value:.3g}' in str(warning)


def test_the_joint_and_the_number_are_right():
    """To a step of the search: 6 ms of a delay, a tenth of a factor, 3 degrees of a mounting."""
    warning, *_ = examine(arm(), corrupted.late(arm().training, 0.08, slice(4, 5))).warnings
    assert warning.joints == (arm().robot.joint_names[4],)
    assert warning.value == pytest.approx(0.08, abs=0.006)
    warning, *_ = doubled()[1].warnings
    # Masses and gains are up to 20 % and 5 % off.
    assert warning.value == pytest.approx(2.0, rel=0.25)
    warning, *_ = examine(arm(), corrupted.exchange(arm().training, 3, 4, effort=True)).warnings
    assert warning.joints == arm().robot.joint_names[3:5]
    assert warning.suspicion.startswith('the names of')


@pytest.mark.parametrize('joint', (0, 4))
def test_a_joint_that_moved_in_one_direction_is_named(joint):
    """Its friction in the other direction was not recorded; a second recording shows it."""
    made = arm()
    whole = process(made.training, KinematicFilter(cutoff=9.0), 'A', robot=made.robot)
    forward = whole.motion.dq[:, joint] > 0.0
    parts = [replace(whole, fitted=whole.fitted & side) for side in (forward, ~forward)]
    for part in parts:
        warning, = find_one_direction(made.robot, [part])
        assert made.robot.joint_names[joint] in warning.joints
        assert warning.value < warning.threshold
    assert find_one_direction(made.robot, parts) == ()
    # A joint that stands has no direction.
    still = replace(
        whole, motion=replace(whole.motion, q=np.zeros_like(whole.motion.q)), fitted=forward
    )
    assert find_one_direction(made.robot, [still]) == ()


@pytest.mark.parametrize(('name', 'joint'), [('ur5', 0), ('ur5', 2), ('youbot', 1), ('youbot', 3)])
def test_a_constant_effort_says_nothing(name, joint):
    """A joint that the driver fills with one number was exchanged, or the others had a factor."""
    made = arm(name)
    effort = made.training.effort.copy()
    effort[:, joint] = 1.0
    assert examine(made, replace(made.training, effort=effort)).warnings == ()


def reversed_joint(recording, joint, *, effort_only=False):
    """Return the recording with a joint whose signals, or whose effort, have the other sign."""
    sign = np.where(np.arange(recording.q.shape[1]) == joint, -1.0, 1.0)
    effort = recording.effort * sign
    if effort_only:
        return replace(recording, effort=effort)
    return replace(recording, q=recording.q * sign, dq=recording.dq * sign, effort=effort)


@pytest.mark.parametrize('joint', [1, 2, 3])
def test_an_axis_that_is_reversed_is_named(joint):
    """The other joints are turned another way by it, and no direction of gravity does the same."""
    warning, *_ = examine(arm(), reversed_joint(arm().training, joint)).warnings
    assert (warning.name, warning.joints) == ('axis', (arm().robot.joint_names[joint],))


@cache
def computed():
    """Return what the bodies of the URDF give along the training motion, as a recording in Nm."""
    made = arm()
    dataset = process(made.training, KinematicFilter(cutoff=9.0), 'A', robot=made.robot)
    return replace(
        made.training, effort=rigid_torque(made.robot, dataset.motion),
        metadata={**made.training.metadata, 'effort_unit': 'Nm'},
    )


def test_an_effort_that_the_description_gives_is_no_measurement():
    """A controller's inverse dynamics; with friction of a twentieth it is a measurement."""
    recording = computed()
    warning, = examine(arm(), recording, 'Nm').warnings
    assert warning.name == 'computed' and warning.value < 0.01
    friction = 0.05 * recording.effort.std(axis=0) * np.sign(recording.dq)
    found = examine(arm(), replace(recording, effort=recording.effort + friction), 'Nm')
    assert found.warnings == ()


def test_hysteresis_does_not_pass_for_a_delay_of_all():
    """
    Friction before sliding, as large as the torque, explains late effort of every joint.

    It raised a warning of 32 ms, where the delay that is found with more of such friction is
    uncertain by 10 ms. A true one of 30 ms is certain.
    """
    recording = arm().training
    added = np.column_stack([
        np.std(effort) * run_stops(q, np.array([0.03]), np.zeros(1), float(q[0]))[:, 0] / 0.03
        for q, effort in zip(recording.q.T, recording.effort.T, strict=True)
    ])
    found = examine(arm(), replace(recording, effort=recording.effort + added))
    assert not any(one.name == 'delay' and not one.joints for one in found.warnings)
    warning, *_ = examine(arm(), corrupted.late(recording, 0.03, slice(None))).warnings
    assert warning.name == 'delay' and not warning.joints
    assert warning.value == pytest.approx(0.03, abs=0.006)


@pytest.mark.parametrize('wrong', ['nothing', 'sign'])
def test_noise_does_not_pass_for_a_delay(wrong):
    """
    Effort between two samples has less noise than at one: it is never looked at there.

    At 100 Hz and with a few thinned samples of noise a shift of 6 ms was the best explanation of
    a sound recording, and of a joint with the wrong sign.
    """
    recording = arm().training.until(25.0)
    effort = recording.effort.copy()
    effort += 0.3 * np.std(effort, axis=0) * np.random.default_rng(0).normal(size=effort.shape)
    if wrong == 'sign':
        effort[:, 3] *= -1.0
    # As if it had been recorded at 100 Hz.
    stamps = np.arange(0.0, recording.stamps[-1], 0.01)
    at = np.searchsorted(recording.stamps, stamps)
    found = examine(arm(), replace(
        recording, stamps=stamps, effort=effort[at], channels={},
        q=np.column_stack([np.interp(stamps, recording.stamps, q) for q in recording.q.T]),
        dq=np.column_stack([np.interp(stamps, recording.stamps, dq) for dq in recording.dq.T]),
    ))
    names = [warning.name for warning in found.warnings]
    assert 'delay' not in names
    assert bool(names) == (wrong == 'sign')
