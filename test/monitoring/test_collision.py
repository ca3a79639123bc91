# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Who touches the arm is seen in the time that is stated; who does not is no alarm; files."""

from dataclasses import replace

from known_models import known_model, true_model
from long_tests import long_test
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import dump_yaml
from robot_identification.model import (
    equivalent_bodies, Motion, prior_inertial_parameters, SignalSource,
)
from robot_identification.monitoring import CollisionCalibration, load_collision_calibration
from robot_identification.monitoring.collision import (
    calibrate_thresholds, CollisionDetector, CollisionThresholds, RestMemory, smallest_seen, SURE,
)
from robot_identification.monitoring.contact_observer import MomentumObserver, observe_recording
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import rigid_inverse_dynamics
import scipy
from study_pages import medians, page_table

RATE = 500.0
BANDWIDTH = 25.0


def observed(seconds, seed):
    """Return stamps and what an observer makes of noise, of standard deviation 1 and 2."""
    rng = np.random.default_rng(seed)
    stamps = np.arange(round(seconds * RATE)) / RATE
    kept = np.exp(-BANDWIDTH / RATE)
    noise = rng.standard_normal((len(stamps) + 500, 2))
    low = scipy.signal.lfilter([1.0 - kept], [1.0, -kept], noise, axis=0)[500:]
    return stamps, low / np.sqrt((1.0 - kept) / (1.0 + kept)) * [1.0, 2.0]


def alarms(external, thresholds):
    """Return how often an alarm begins, without a hold."""
    over = np.any(np.abs(external) > thresholds.factor * [1.0, 2.0], axis=1)
    return int(np.sum(np.diff(over.astype(int)) > 0))


def test_alarms_are_as_rare_as_they_are_allowed_to_be():
    """Calibrated on two minutes of noise for 60 alarms an hour, on ten minutes of other noise."""
    # Ten are expected. Gumbel's is the limit of maxima only, and two minutes leave its parameters
    # uncertain by a tenth: from a fifth to twice as many.
    stamps, external = observed(120.0, 1)
    deviation = np.broadcast_to([1.0, 2.0], external.shape)
    thresholds = calibrate_thresholds(
        external, deviation, stamps, false_alarms_per_hour=60.0
    )
    # The same noise in units of its deviation has the same factor on both joints.
    assert thresholds.factor[0] == pytest.approx(thresholds.factor[1], rel=0.15)
    assert 2 <= alarms(observed(600.0, 2)[1], thresholds) <= 20
    rare = calibrate_thresholds(external, deviation, stamps, false_alarms_per_hour=0.01)
    assert np.all(rare.factor > thresholds.factor)
    assert alarms(observed(600.0, 2)[1], rare) == 0


def test_a_step_is_seen_in_the_time_that_is_stated():
    """Without noise exactly so; a percent less is not seen by then."""
    thresholds = CollisionThresholds(np.array([5.0, 4.0]), hold=0.004)
    deviation = np.array([1.0, 2.0])
    step = smallest_seen(thresholds, deviation, BANDWIDTH, within=0.05)
    stamps = np.arange(26) / RATE
    for factor, seen in ((1.01, True), (0.99, False)):
        detector = CollisionDetector(thresholds)
        for t in stamps:
            external = factor * step * (1.0 - np.exp(-BANDWIDTH * t))
            touched = detector.step(t, external, deviation)
        assert np.all(touched == seen)
    assert np.all(np.isinf(smallest_seen(thresholds, deviation, BANDWIDTH, within=0.004)))


def low_pass(values):
    """Return what the observer's low-pass makes of samples, which were constant before."""
    kept = np.exp(-BANDWIDTH / RATE)
    return scipy.signal.lfilter(
        [1.0 - kept], [1.0, -kept], values, axis=0, zi=kept * values[:1]
    )[0]


def shares_of(stamps, dq):
    memory = RestMemory(BANDWIDTH)
    return np.array([memory.step(t, one) for t, one in zip(stamps, dq, strict=True)])


def test_an_error_at_rest_is_bounded_by_what_is_remembered_of_rest(rng):
    """Any error within +-1 while the joint is slow and none else, through the low-pass."""
    stamps = np.arange(2000) / RATE
    dq = 0.05 * np.sin(stamps[:, None] * rng.uniform(2.0, 20.0, 3))
    rests = np.abs(dq) < 0.02
    share = shares_of(stamps, dq)
    assert share.min() >= 0.0
    assert share.max() <= 1.0
    for error in (rests * 1.0, rests * rng.uniform(-1.0, 1.0, dq.shape)):
        # The second is the first where the error is the bound itself.
        assert np.all(np.abs(low_pass(error)) <= share + 1e-12)
    np.testing.assert_allclose(low_pass(rests * 1.0), share, atol=1e-12)


def test_a_joint_at_rest_has_the_wider_limit():
    """Where nobody says whether it rests, too: rather no alarm than a false one."""
    thresholds = CollisionThresholds(np.array([5.0]), hold=0.0, rest=np.array([10.0]))
    one = np.ones(1)
    for share, limit in ((np.zeros(1), 5.0), (np.array([0.5]), 10.0), (one, 15.0), (None, 15.0)):
        for external, touched in ((0.99 * limit, False), (1.01 * limit, True)):
            detector = CollisionDetector(thresholds)
            assert detector.step(0.0, np.array([-external]), one, share) == touched


# --- thresholds as a file ----------------------------------------------------------------


SHA = 'a' * 64


@pytest.fixture(scope='module')
def model(identification):
    return identification.model


@pytest.fixture
def calibration(model):
    factor = np.linspace(4.0, 9.0, 6) + 1e-13
    return CollisionCalibration(
        model.robot.name, SHA, ('free_motion',), 120.0, 0.1, 25.0,
        CollisionThresholds(factor, 0.004, factor / 7.0), tuple(model.robot.joint_names),
        factor / 3.0,
    )


def written(path, content):
    path.write_text(dump_yaml(content))
    return path


def test_comes_back_as_it_was(tmp_path, calibration, model):
    path = written(tmp_path / 'collision.yaml', calibration.content())
    again = load_collision_calibration(path, model, SHA)
    assert again.content() == calibration.content()
    np.testing.assert_array_equal(again.thresholds.factor, calibration.thresholds.factor)


@pytest.mark.parametrize('change, error, words', [
    ({'model_sha256': 'b' * 64}, UsageError, 'another model'),
    ({'joints': []}, DescriptionError, 'joints are'),
    ({'hold': float('nan')}, DescriptionError, 'hold is .*, a finite number is needed'),
    ({'hold': 7.0}, UsageError, 'hold must be from 0 to 1 s'),
])
def test_what_is_wrong_with_a_file_is_said(tmp_path, calibration, model, change, error, words):
    path = written(tmp_path / 'collision.yaml', {**calibration.content(), **change})
    with pytest.raises(error, match=words):
        load_collision_calibration(path, model, SHA)


PUSHED_AT = 2.0


@pytest.fixture(scope='module')
def arm(ur5):
    """Return an arm that is known exactly, its motion, and MuJoCo's torque along it."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    truth = draw_truth(ur5, 4)
    watched = true_model(ur5, truth).with_quality({'residual_standard_deviation': [0.5] * 6})
    watched = replace(watched, covariance=1e-6 * watched.covariance, robot=replace(
        watched.robot, sampling_rate=RATE
    ))
    t = np.arange(0.0, 4.0, 1.0 / RATE)
    phase = np.arange(6)
    # Through standstill, in both directions, several times.
    q = 0.7 * np.sin(2.0 * t[:, None] + phase)
    dq = 1.4 * np.cos(2.0 * t[:, None] + phase)
    ddq = -2.8 * np.sin(2.0 * t[:, None] + phase)
    friction = truth.coulomb * np.sign(dq) + truth.viscous * dq
    torque = rigid_inverse_dynamics(ur5, truth, Motion(q, dq, ddq)) + friction
    return watched, t, q, dq, torque


def test_who_is_not_touched_feels_nothing(arm):
    """Not even where joints reverse: friction belongs to the sample, not to those before it."""
    # The sign of the simulated friction changes within a sample, the model's within some 0.01
    # rad/s, a dozen samples here. With the smoothed velocity, 7 ms late, a third of the friction
    # would be felt at each of them.
    watched, t, q, dq, torque = arm
    found = observe_recording(watched, t, q, dq, torque)
    external, deviation = found.external, found.deviation
    said = np.all(np.isfinite(external), axis=1)
    # Three time constants, and no later.
    assert np.argmax(said) == pytest.approx(3.0 / BANDWIDTH * RATE, abs=2)
    assert not found.touched.any()
    friction = np.abs(torque).max(axis=0)
    assert np.all(np.abs(external[said]).max(axis=0) < 0.05 * friction)
    assert np.all(deviation[said] >= 0.5)


def test_a_touch_is_said_of_the_joints_that_are_touched(arm):
    """With thresholds of six standard deviations, 3 N m here."""
    watched, t, q, dq, torque = arm
    thresholds = CollisionThresholds(np.full(6, 6.0))
    push = np.where(np.arange(6) == 1, 15.0, 0.0)
    touched = observe_recording(
        watched, t, q, dq, torque + np.where(t[:, None] >= PUSHED_AT, push, 0.0),
        thresholds=thresholds,
    ).touched
    assert np.array_equal(touched.any(axis=0), np.arange(6) == 1)
    latency = t[np.argmax(touched[:, 1])] - PUSHED_AT
    # Of the low-pass, ln(15 / (15 - 3)) / 25 s, then the hold of two samples; the deviation has a
    # part of the parameters, too.
    assert 0.009 < latency < 0.03


def test_effort_that_comes_late_is_compared_with_the_past(arm):
    """Torques 20 ms late, and a model that knows it: as if they were not."""
    watched, t, q, dq, torque = arm
    late = replace(watched, source=SignalSource(delay=0.02))
    shift = round(0.02 * RATE)
    external = observe_recording(late, t, q, dq, np.roll(torque, shift, axis=0)).external
    told = observe_recording(watched, t, q, dq, np.roll(torque, shift, axis=0)).external
    free = observe_recording(watched, t, q, dq, torque).external
    rows = slice(200, None)
    np.testing.assert_allclose(external[rows], np.roll(free, shift, axis=0)[rows], atol=0.3)
    assert np.abs(told[rows]).max() > 5.0


PERIOD = 0.002
ROTORS = np.array([1.9, 1.9, 1.2, 0.3, 0.3, 0.3])


def model_of(robot, scale=1.0):
    """Return a model with the description's bodies, all heavier by one factor, and rotors."""
    bodies = scale * prior_inertial_parameters(robot)
    return known_model(robot, 'coulomb,viscous', bodies, Ia=ROTORS)


@pytest.fixture(scope='module')
def watched(ur5):
    """Return a UR5 that is a third heavier than described."""
    return model_of(ur5, 4.0 / 3.0)


def motion_of(t):
    """Return a smooth motion of six joints at times (N,)."""
    phase = np.arange(6)
    q = 0.8 * np.sin(1.3 * t[:, None] + phase)
    dq = 0.8 * 1.3 * np.cos(1.3 * t[:, None] + phase)
    return Motion(q, dq, -(1.3**2) * q)


def observe(watched, motion, torque, bandwidth=25.0):
    """Return what is observed along a motion, NaN where nothing is said."""
    observer = MomentumObserver(watched, bandwidth)
    found = [
        observer.step(PERIOD, q, dq, tau, np.zeros(6))
        for q, dq, tau in zip(motion.q, motion.dq, torque, strict=True)
    ]
    return np.array([np.full(6, np.nan) if one is None else one for one in found])


def test_bodies_have_the_mass_matrix_of_the_truth(ur5, watched):
    """Base parameters fix it: here of the arm that is a third heavier, with its rotors."""
    bodies, rotors = equivalent_bodies(watched)
    truth = ur5.pinocchio.copy()
    for joint in range(1, 7):
        truth.inertias[joint] = pin.Inertia.FromDynamicParameters(
            4.0 / 3.0 * truth.inertias[joint].toDynamicParameters()
        )
    for q in np.random.default_rng(3).uniform(-3.0, 3.0, (10, 6)):
        wanted = pin.crba(truth, truth.createData(), q) + np.diag(ROTORS)
        found = pin.crba(bodies, bodies.createData(), q)
        found += np.diag(rotors)
        # Rounding of a reduction whose rank is decided at 1e-8.
        np.testing.assert_allclose(np.triu(found), np.triu(wanted), atol=1e-7)


def test_free_motion_is_free(watched):
    """What remains is of differences over a sample: second order in its length."""
    t = np.arange(0.0, 4.0, PERIOD)
    motion = motion_of(t)
    found = observe(watched, motion, watched.torque(motion))
    assert np.all(np.isnan(found[0]))
    # (w T)^2 / 12 of torques of 100 N m at w of 5 rad/s: 1e-3 N m.
    assert np.nanmax(np.abs(found)) < 1e-3


@pytest.mark.parametrize('bandwidth', [10.0, 40.0])
def test_converges_with_its_time_constant(watched, bandwidth):
    """P18: a step of the external torque is seen as 1 - exp(-K t), joint by joint."""
    t = np.arange(0.0, 3.0, PERIOD)
    motion = motion_of(t)
    external = np.where(t[:, None] >= 1.5, np.array([8.0, -5.0, 3.0, 1.0, -1.0, 0.5]), 0.0)
    # Who is pushed forward along the same path needs less from the drives.
    found = observe(watched, motion, watched.torque(motion) - external, bandwidth)
    rises = 1.0 - np.exp(-bandwidth * np.maximum(t - 1.5, 0.0))
    settled = t > 4.0 / bandwidth
    # The step falls between two samples: half a period of the steepest rise.
    np.testing.assert_allclose(
        found[settled], (rises[:, None] * external[-1])[settled],
        atol=2e-3 + 8.0 * bandwidth * PERIOD,
    )
    np.testing.assert_allclose(
        found[-1], (1.0 - np.exp(-bandwidth * 1.5)) * external[-1], atol=5e-3
    )


study = pytest.importorskip('validation_studies.contact')


@pytest.fixture(scope='module')
def measured():
    return medians('contact')


def test_the_page_has_the_figures_of_the_study(measured):
    """Digit by digit, every joint."""
    for joint, row in enumerate(page_table('contact', 'joint')[1:], start=1):
        def of(name, joint=joint):
            return measured[f'joint {joint}: {name}']

        detected = round(of('pushes') * of('seen within 50 ms') / 100.0)
        assert row == [
            str(joint), f'{of("stated step"):.1f}', f'{detected} of {of("pushes"):.0f}',
            f'{of("latency, median"):.0f} ({of("latency, 99 %"):.0f})',
            f'{of("added near rest"):.1f}',
        ]
    assert joint == 6


@pytest.fixture(scope='module')
def table_arm():
    """Return the model of an arm, known but for what makes its joints stick and warm up."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    robot, truth = study.make_arm(1)
    model = true_model(robot.with_drive_gains(truth.drive_gain), truth)
    noise = (0.004 * robot.limits.effort).tolist()
    return replace(
        model, effort_unit='A', covariance=1e-8 * model.covariance,
        quality={'residual_standard_deviation': noise},
    )


@long_test
def test_a_miniature_is_silent_and_sees_pushes(table_arm, monkeypatch):
    """Some seconds instead of an hour, with limits that are set instead of calibrated."""
    # Eight deviations are what the hour needs, too. Near rest friction is within +-1.3 times
    # Coulomb's and what load adds; the model's tanh may have the other sign: three times it.
    _, truth = study.make_arm(1)
    thresholds = CollisionThresholds(np.full(6, 8.0), rest=3.0 * truth.coulomb)
    monkeypatch.setattr(study, 'PIECE', 5.0)
    monkeypatch.setattr(study, 'STEPS', (SURE,))
    deviation = np.asarray(table_arm.quality['residual_standard_deviation'])
    steps = study.smallest_seen(
        thresholds, deviation, study.DEFAULT_BANDWIDTH, study.WITHIN
    )
    (runs,) = study.shifts(study.simulate(1, 3, 3, 5.0, 0.0))
    seconds, alarms, largest = study.count_alarms(table_arm, thresholds, runs)
    assert seconds >= 5.0
    assert alarms == 0
    assert np.all(largest < 1.0)
    assert np.all(largest.max(axis=1) > 0.1)
    pushes = study.push(1, table_arm, thresholds, 0, 5.0, steps)
    moving = [one for one in pushes if one.moved]
    assert len(moving) >= 4
    assert all(one.latency <= study.WITHIN for one in moving)
    # 8 / 0.68 deviations twice, over the limit of 8: no sooner than the low-pass lets it.
    assert min(one.latency for one in moving) > 0.004
