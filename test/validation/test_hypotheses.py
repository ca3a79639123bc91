# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
What is wrong with a recording is named, and a sound one is not warned of; MuJoCo is the truth.

The arms and what is done to their recordings are those of the calibration in
benchmarks/data_warnings.py, with one seed; shares over many seeds are in docs/verdict.md.
"""

from dataclasses import replace
from functools import cache
import re
from types import SimpleNamespace

from builders import joint, link, robot_urdf
from long_tests import some_by_day
import numpy as np
import pytest
from robot_identification.model import (
    KinematicFilter, make_robot_model, parse_urdf, reduce_to_base, rigid_torque, run_stops,
    StandardParameters,
)
from robot_identification.processing.processing import process
from robot_identification.validation import examine_data, Findings, with_structure
from robot_identification.validation.hypotheses import arm as arm_hypotheses
from robot_identification.validation.hypotheses.arm import dissipated_power, find_gravity
from robot_identification.validation.hypotheses.evidence import choose_windows, gather
from robot_identification.validation.hypotheses.examination import HYPOTHESES
from robot_identification.validation.hypotheses.posterior import make_prior
from robot_identification.validation.hypotheses.signals import (
    find_one_direction, judge_time_scales, share_at_top,
)
from robot_identification.validation.hypotheses.thresholds import DISSIPATED
import scipy

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
corrupted = pytest.importorskip('benchmarks.data_warnings')

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


def test_short_parts_between_gaps_are_no_reason():
    """Of 2 s each, of which half a second is left: a filter has fewer samples than it pads."""
    recording = arm().training
    kept = recording.stamps % 2.5 < 2.0
    parts = replace(
        recording, stamps=recording.stamps[kept], q=recording.q[kept], dq=recording.dq[kept],
        effort=recording.effort[kept],
    )
    assert examine(arm(), parts).warnings == ()


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


def test_without_gains_a_common_factor_is_an_assumption():
    """The same effort, doubled, is warned of against the URDF's masses, and not without gains."""
    twice, found = doubled()
    assert 'common_factor' in {warning.name for warning in found.warnings}
    free = examine(arm(), twice, relative_scale=True)
    assert 'common_factor' not in {warning.name for warning in free.warnings}
    assert any('drive gains are unknown' in text for text in free.assumptions)


def test_joints_that_cannot_be_told_are_listed():
    """The zero of a first joint that stands upright is anywhere: gravity does not see it."""
    made = arm()
    shift = corrupted.offset_zero(made.training, 0, 0.3)
    found = examine(made, shift)
    assert found.warnings == ()
    zeros, = (text for text in found.assumptions if text.startswith('encoder zero'))
    assert made.robot.joint_names[0] in zeros


def test_masses_in_the_joints_are_no_prior():
    """Some URDFs have neither centres nor inertias: what they say would have no width."""
    point = ((0, 0, 0), (0, 0, 0))
    robot = make_robot_model(parse_urdf(robot_urdf(
        link('ground'), link('upper', 2.0, *point), link('lower', 1.0, *point),
        joint('one', 'ground', 'upper'),
        joint('two', 'upper', 'lower', axis=(0, 1, 0), xyz=(0.3, 0, 0.1)),
    ), 'points'))
    reduction = reduce_to_base(robot, StandardParameters(robot.n, (), True))
    assert make_prior(robot, reduction, stated=True).side.size == 0


def test_too_few_samples_are_no_evidence():
    """Tests need some seconds; that they were not made is said."""
    made = arm()
    short = made.training.until(2.0)
    dataset = process(short, KinematicFilter(cutoff=9.0), 'A', robot=made.robot)
    assert gather(made.robot, [dataset]) is None
    found = examine(made, short)
    # In two seconds a joint may move one way only.
    assert {one.name for one in found.warnings} <= {'one_direction'}
    assert 'too few samples' in found.assumptions[0]


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


def test_structure_counts_where_it_matters_and_is_no_noise():
    """Residuals of 20 % of the spread, against noise of 1 % and of 20 %, and residuals of 5 %."""
    made = arm()
    dataset = process(made.training, KinematicFilter(cutoff=9.0), 'A', robot=made.robot)
    spread = made.robot.drives.drive_gain * dataset.effort[dataset.fitted].std(axis=0)
    nothing = Findings()
    warning, = with_structure(nothing, made.robot, [dataset], 0.2 * spread).warnings
    assert warning.name == 'structure' and warning.value > warning.threshold
    assert with_structure(nothing, made.robot, [dataset], 0.05 * spread) == nothing
    rng = np.random.default_rng(1)
    noisy = replace(
        dataset, effort=dataset.effort + 0.2 * dataset.effort.std(axis=0)
        * rng.normal(size=dataset.effort.shape),
    )
    assert with_structure(nothing, made.robot, [noisy], 0.21 * spread) == nothing
    # Nor where another warning explains it.
    explained = Findings((warning,))
    assert with_structure(explained, made.robot, [dataset], 0.2 * spread) == explained


@pytest.mark.parametrize('seed', [0, 2, 6])
def test_a_size_that_is_off_is_no_direction_of_gravity(seed):
    """Noise turns any gravity that is fitted: the size had explained what was called a tilt."""
    made = corrupted.make_arm('ur5', seed)
    effort = 2.5 * made.training.effort
    noise = scipy.signal.lfilter(
        *scipy.signal.butter(1, 1.5, fs=125.0),
        np.random.default_rng(seed).normal(size=effort.shape), axis=0,
    )
    noise *= 0.6 * effort.std(axis=0) / noise.std(axis=0)
    recording = replace(made.training, effort=effort + noise)
    dataset = process(recording, KinematicFilter(cutoff=9.0), 'A', robot=made.robot)
    warned = [one.warning for one in find_gravity(gather(made.robot, [dataset]))]
    assert [one.quantity for one in warned] in ([], ['ratio'])


@pytest.mark.parametrize('rate', [8.0, 20.0, 125.0])
def test_as_many_samples_are_looked_at_of_any_rate(rate):
    """Of a slow recording too few were: each was taken for one of 20 Hz."""
    count = int(300.0 * rate)
    dataset = SimpleNamespace(
        rate=rate, segments=(slice(0, count),), fitted=np.ones(count, dtype=bool),
    )
    chosen = sum(len(window.rows) for window in choose_windows([dataset]))
    assert chosen == pytest.approx(800, rel=0.05)


def test_a_plateau_is_told_from_a_peak(rng):
    """One-sided clipping counts; a sine, noise, and few coarse levels do not."""
    sine = np.sin(np.linspace(0.0, 20.0, 2000))
    assert share_at_top(np.minimum(sine, 0.8)) == pytest.approx(0.2, abs=0.02)
    assert share_at_top(sine) == 0.0
    assert share_at_top(rng.normal(size=2000)) == 0.0
    # A level is as frequent as that below it, and the top of a peak more than that.
    assert share_at_top(np.minimum(np.round(20.0 * sine), 30.0)) < 0.12
    for levels in (5.0, 20.0, 200.0):
        assert share_at_top(np.round(levels * sine)) == 0.0


def test_an_arm_without_masses_is_examined():
    """Neither a tool nor a payload has a size then, which would be a division by zero."""
    robot = arm().robot
    text = re.sub(r'<inertial>.*?</inertial>', '', robot.urdf.text, flags=re.DOTALL)
    bare = replace(
        make_robot_model(parse_urdf(text, 'bare'), joints=robot.joint_names),
        limits=robot.limits, drives=robot.drives,
    )
    with np.errstate(all='raise'):
        assert examine(replace(arm(), robot=bare), arm().training).warnings == ()


def test_a_joint_at_rest_has_no_wrong_sign():
    """Its velocity is noise, and the power of that means nothing."""
    made = arm()
    evidence = gather(made.robot, [process(
        made.training, KinematicFilter(cutoff=9.0), 'A', robot=made.robot
    )])
    power = dissipated_power(evidence)
    assert np.all(power > 0.0)
    dq = evidence.motion.dq.copy()
    dq[:, 2] *= 0.01 / np.abs(dq[:, 2]).max()
    still = replace(evidence, motion=replace(evidence.motion, dq=dq))
    np.testing.assert_array_equal(dissipated_power(still) != 0.0, np.arange(6) != 2)


@pytest.mark.parametrize(('scales', 'is_named'), [
    ([0.67, 0.69, 0.71, 0.73], True), ([0.93, 0.95, 0.98, 1.0], False), ([0.5, 0.7, 0.9], False),
])
def test_time_may_run_unevenly_where_it_is_far_off(scales, is_named):
    """As where three of ten rows are missing here and there, and the stamps were counted."""
    assert bool(judge_time_scales(np.array(scales))) == is_named


@pytest.mark.parametrize(('name', 'joint'), [('ur5', 0), ('ur5', 2), ('youbot', 1), ('youbot', 3)])
def test_a_constant_effort_says_nothing(name, joint):
    """A joint that the driver fills with one number was exchanged, or the others had a factor."""
    made = arm(name)
    effort = made.training.effort.copy()
    effort[:, joint] = 1.0
    assert examine(made, replace(made.training, effort=effort)).warnings == ()


def test_no_factor_is_named_of_a_joint_that_carries_little():
    """Bodies make under a fifth of the torque of a wrist; its gain is said to be unseen."""
    made = arm()
    found = examine(made, corrupted.scaled(made.training, 3.0, 4))
    assert 'joint_factor' not in {warning.name for warning in found.warnings}
    assert any(
        text.startswith('drive gain of') and 'wrist_2_joint' in text for text in found.assumptions
    )


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


@pytest.mark.parametrize(('name', 'joint'), [('ur5', 1), ('ur5', 3), ('youbot', 2)])
def test_a_motion_that_is_reversed_is_named(name, joint):
    """Position and velocity alone: joints were said to be exchanged with one of the wrist."""
    made = arm(name)
    reversed_motion = np.where(np.arange(made.robot.n) == joint, -1.0, 1.0)
    recording = made.training
    warning, = examine(made, replace(
        recording, q=recording.q * reversed_motion, dq=recording.dq * reversed_motion
    )).warnings
    assert warning.name == 'sign'
    assert warning.joints == (made.robot.joint_names[joint],)
    assert warning.suspicion.startswith('position and velocity of')


@pytest.mark.parametrize('turned', [(0, 1), (1, 2, 3)])
def test_joints_that_friction_drives_are_all_named(turned):
    """Whatever explains bodies that contradict themselves: positions have the other sign there."""
    made = arm()
    sign = np.where(np.isin(np.arange(6), turned), -1.0, 1.0)
    warnings = examine(made, replace(
        made.training, q=made.training.q * sign, dq=made.training.dq * sign
    )).warnings
    named = {
        joint for warning in warnings if warning.name in ('sign', 'joint_order')
        for joint in warning.joints
    }
    assert named >= {made.robot.joint_names[joint] for joint in turned}


@cache
def computed():
    """Return what the bodies of the URDF give along the training motion, as a recording in Nm."""
    made = arm()
    dataset = process(made.training, KinematicFilter(cutoff=9.0), 'A', robot=made.robot)
    return replace(
        made.training, effort=rigid_torque(made.robot, dataset.motion),
        metadata={**made.training.metadata, 'effort_unit': 'Nm'},
    )


def test_the_sign_of_a_joint_without_friction_is_named(rng):
    """Nothing is dissipated, but the bodies are known. Each link is a few per cent off."""
    recording = computed()
    noise = 0.05 * recording.effort.std(axis=0) * rng.normal(size=recording.effort.shape)
    noisy = replace(recording, effort=recording.effort + noise)
    warning, *_ = examine(arm(), reversed_joint(noisy, 2, effort_only=True), 'Nm').warnings
    assert (warning.name, warning.joints) == ('sign', (arm().robot.joint_names[2],))


def test_friction_that_brakes_shows_that_the_sign_is_right(monkeypatch):
    """Whatever bodies say: of a real Panda those of the URDF asked for another sign of joint 7."""
    monkeypatch.setattr(arm_hypotheses, 'gain_of_sign', lambda evidence, joints: 1e3)
    assert not [one for one in examine(arm(), arm().training).warnings if one.name == 'sign']


def test_a_wrong_sign_is_named_where_what_bodies_leave_brakes(rng):
    """
    Bodies of another sign leave an effort of which a part goes with the velocity by chance.

    That is no friction: a wrist with the wrong sign was found in the joint behind it.
    """
    recording = computed()
    noise = 0.02 * recording.effort.std(axis=0) * rng.normal(size=recording.effort.shape)
    noisy = replace(recording, effort=recording.effort + noise)
    turned = reversed_joint(noisy, 3, effort_only=True)
    evidence = gather(arm().robot, [process(
        turned, KinematicFilter(cutoff=9.0), 'Nm', robot=arm().robot
    )])
    assert dissipated_power(evidence)[3] > DISSIPATED
    warning, *_ = examine(arm(), turned, 'Nm').warnings
    assert (warning.name, warning.joints) == ('sign', (arm().robot.joint_names[3],))


def test_what_makes_friction_drive_is_named_first():
    """The motion of a joint with the wrong sign also drives the friction of joints beside it."""
    made = arm()
    sign = np.where(np.isin(np.arange(6), (0, 1)), -1.0, 1.0)
    warnings = examine(made, replace(
        made.training, q=made.training.q * sign, dq=made.training.dq * sign
    )).warnings
    drives = ['drives' in warning.suspicion for warning in warnings]
    assert any(drives) and drives == sorted(drives)


def test_no_gravity_is_larger_than_that_of_the_earth():
    """Efforts that are too large, or masses too small, are no matter of how the base stands."""
    turned = reversed_joint(corrupted.scaled(arm().training, 3.0), 0, effort_only=True)
    names = [warning.name for warning in examine(arm(), turned).warnings]
    assert names == ['sign', 'common_factor']


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
