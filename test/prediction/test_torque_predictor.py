# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Sample by sample, from the past only, with the delay it states, and with corrections."""

from dataclasses import replace

from known_models import known_model, made_up_dataset
import numpy as np
import pytest
from robot_identification.model import (
    correction_blocks, CORRECTIONS, Corrections, FastVelocity, FRICTION_LAWS, JointCorrection,
    JointDeviation, Motion, PositionSeries, Ripple, standard_torque,
)
from robot_identification.prediction.torque_predictor import TorquePredictor
from robot_identification.processing import CAUSAL_CUTOFF, CAUSAL_ORDER, causal_signals
from scipy import signal

RATE = 500.0


def model_of(robot, friction='none', **parameters):
    robot = replace(robot.with_drive_gains([2.0, 4.0, 8.0]), sampling_rate=RATE)
    return replace(known_model(robot, friction, **parameters), effort_unit='A')


@pytest.fixture
def viscous(robots):
    """Return a model whose torque on the first joint is twice its smoothed velocity."""
    return model_of(robots['mixed'], 'viscous', fv=[2.0, 0.0, 0.0])


def recording(t):
    """Return a smooth motion of three joints at times (N,)."""
    q = 0.4 * np.sin(2.0 * t[:, None] + np.arange(3))
    dq = 0.8 * np.cos(2.0 * t[:, None] + np.arange(3))
    return q, dq


def test_step_by_step_equals_the_batch(identification, rng):
    """Bit for bit, on the recording's own samples with their noise."""
    model, motion = identification.model, identification.datasets[0].motion
    stamps = identification.datasets[0].stamps[:300]
    q = motion.q[:300]
    dq = motion.dq[:300] + 1e-3 * rng.normal(size=(300, 6))
    whole = TorquePredictor(model).run(stamps, q, dq)[0]
    stepwise = TorquePredictor(model)
    for k in range(300):
        prediction = stepwise.step(stamps[k], q[k], dq[k])
        np.testing.assert_array_equal(prediction.effort, whole[k])
        np.testing.assert_allclose(
            prediction.torque + prediction.correction,
            prediction.effort * model.robot.drives.drive_gain, rtol=1e-12,
        )


def test_every_law_equals_the_batch(robots, rng):
    """With filters of SciPy and the torque of a whole recording, up to rounding; and by joint."""
    stamps = np.arange(200) / RATE
    q, dq = recording(stamps)
    dq = dq + 1e-2 * rng.normal(size=dq.shape)
    temperature = rng.uniform(20.0, 40.0, q.shape)
    sections = signal.butter(CAUSAL_ORDER, CAUSAL_CUTOFF, fs=RATE, output='sos')
    settled = signal.sosfilt_zi(sections)[:, :, None]
    smooth, _ = signal.sosfilt(sections, dq, axis=0, zi=settled * dq[0])
    difference = RATE * np.diff(smooth, axis=0, prepend=dq[:1])
    ddq, _ = signal.sosfilt(sections, difference, axis=0, zi=0.0 * settled * dq[0])
    motion = Motion(q, smooth, ddq, temperature)
    for law in FRICTION_LAWS:
        model = model_of(robots['mixed'], law)
        model = replace(model, theta_base=rng.uniform(0.1, 1.0, model.reduction.rank))
        expected = standard_torque(model.robot, model.parameters, model.theta_lifted, motion)
        predictor = TorquePredictor(model)
        found = [predictor.step(*one).torque for one in zip(
            stamps, q, dq, temperature, strict=True
        )]
        # Of sums of a hundred products, and differences of velocities times 500 Hz.
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11, err_msg=law)


def test_delay_is_as_stated(viscous):
    """On a ramp, once it has settled, the smoothed velocity lags by exactly the stated time."""
    predictor = TorquePredictor(viscous, rate=RATE, cutoff=30.0)
    t = np.arange(500) / RATE
    dq = np.zeros((500, 3))
    dq[:, 0] = 0.7 * t
    smooth = predictor.run(t, np.zeros((500, 3)), dq)[0][:, 0] * 2.0 / 2.0
    lag = (dq[-1, 0] - smooth[-1]) / 0.7
    assert lag == pytest.approx(predictor.delay, rel=1e-6)
    assert predictor.delay == pytest.approx(np.sqrt(2.0) / (2.0 * np.pi * 30.0), rel=0.02)
    # As the documentation of the class says.
    assert predictor.delay == pytest.approx(0.23 / 30.0, rel=0.05)


@pytest.mark.parametrize('jump', [0.5, -0.3, -100.0])
def test_filters_start_anew_after_a_gap_or_a_clock_that_jumps(robots, jump):
    """From there on the predictions are those of a predictor that starts there."""
    model = model_of(
        robots['mixed'], 'viscous', fv=[1.0, 0, 0], Ia=[0, 0, 2.0], Izz=[0.5, 0, 0]
    )
    t = np.arange(200) / RATE
    q, dq = recording(t)
    stamps = np.where(np.arange(200) < 120, t, t + jump)
    predictor = TorquePredictor(model)
    first = predictor.run(stamps[:120], q[:120], dq[:120])[0]
    before = predictor.restarts
    second = predictor.run(stamps[120:], q[120:], dq[120:])[0]
    assert predictor.restarts == before + 1
    fresh = TorquePredictor(model)
    anew = fresh.run(stamps[120:], q[120:], dq[120:])[0]
    np.testing.assert_allclose(second, anew, rtol=1e-12)
    assert np.all(np.isfinite(first))


@pytest.mark.parametrize('where', ['stamp', 'q', 'dq'])
@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_what_is_not_finite_gives_no_prediction(viscous, where, value):
    """And leaves no trace in the filters: the next samples are as without it."""
    t = np.arange(100) / RATE
    q, dq = recording(t)
    plain = TorquePredictor(viscous)
    disturbed = TorquePredictor(viscous)
    for k in range(100):
        expected = plain.step(t[k], q[k], dq[k])
        if k == 40:
            sample = {'stamp': t[k] + 0.5 / RATE, 'q': q[k].copy(), 'dq': dq[k].copy()}
            if where == 'stamp':
                sample['stamp'] = value
            else:
                sample[where][1] = value
            assert disturbed.step(**sample) is None
        found = disturbed.step(t[k], q[k], dq[k])
        np.testing.assert_array_equal(found.effort, expected.effort)


def test_a_repeated_stamp_gives_no_prediction(viscous):
    predictor = TorquePredictor(viscous)
    q, dq = np.zeros(3), np.ones(3)
    assert predictor.step(1.0, q, dq) is not None
    assert predictor.step(1.0, q, dq) is None
    assert predictor.step(1.002, q, dq) is not None
    rows = np.zeros((3, 3))
    assert np.isnan(predictor.run(np.array([2.0, 2.0, 2.002]), rows, rows)[0][1]).all()


GROUPS = (
    FastVelocity((*((lag, lag) for lag in range(9)), (9, 10))), PositionSeries(),
    Ripple((159, 160)), JointDeviation((10, 14, 21, 25)),
)


def dataset_of(rng, stamps):
    """Return a recording of three joints in motion, velocities with noise."""
    phase = np.arange(3)
    q = 0.4 * np.sin(2.0 * stamps[:, None] + phase)
    dq = 0.8 * np.cos(2.0 * stamps[:, None] + phase) + 1e-2 * rng.normal(size=q.shape)
    motion = Motion(q, dq, np.zeros_like(q))
    dataset = made_up_dataset(('a', 'b', 'c'), motion, np.zeros_like(q), RATE, measured_dq=dq)
    return replace(dataset, stamps=stamps)


@pytest.fixture
def model(robots, rng):
    plain = known_model(replace(robots['mixed'], sampling_rate=RATE), 'viscous', fv=2.0)
    plain = plain.with_quality({'residual_standard_deviation': [1.0, 1.0, 1.0]})
    return replace(plain, corrections=Corrections(RATE, (), tuple(
        JointCorrection(joint, group, rng.normal(size=group.size))
        for joint in (0, 2) for group in GROUPS
    )))


@pytest.mark.parametrize(('gap', 'limit'), [(0.0, None), (0.5, None), (0.0, [3.0, 0.0, 1.0])])
def test_samples_equal_the_recording(model, rng, gap, limit):
    """Kinematics, parameters and every group; after a gap all of them begin anew."""
    limit = None if limit is None else np.array(limit)
    model = replace(model, corrections=replace(model.corrections, live_limit=limit))
    assert {type(group) for group in GROUPS} == set(CORRECTIONS.values())
    stamps = np.arange(600) / RATE
    stamps[300:] += gap
    dataset = dataset_of(rng, stamps)
    signals = causal_signals(dataset)
    expected = model.effort(signals.motion)
    for rows, torque in correction_blocks(model.corrections.live, model.robot, signals, limit):
        expected[rows] += torque * model.effort_per_torque
    predictor = TorquePredictor(model)
    found = predictor.run(stamps, dataset.motion.q, dataset.measured_dq)[0]
    # Filters as a matrix here and as SciPy's recursion there: rounding of torques of some tens.
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)
    assert predictor.restarts == (2 if gap else 1)
