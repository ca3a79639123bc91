# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Friction over temperature: lines, their errors, and models written back."""

from dataclasses import replace

from identified_arms import DURATION, RATE, WarmArm
import numpy as np
import pytest
from recordings import Driver, execute, write_small_arm
from robot_identification.errors import DataError
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.estimation.uncertainty.intervals import confidence_intervals
from robot_identification.model.model_file import dump_model, load_model
from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import unknown_drives
from robot_identification.recording.recording import Recording
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.studies.comparison.torque_change import model_torque
from robot_identification.studies.temperature.line import fit_temperature_line, relative_change
from robot_identification.studies.temperature.model import model_at, model_over_temperature
from robot_identification.studies.temperature.steady_state import (
    figures_of_run, judge_steady_state, RunFigures, SteadyStateOptions,
)
from robot_identification.studies.temperature.trend import study_temperature

JOINT_REGRESSION = 'coulomb,viscous,temperature_viscous,offset'
TEMPERATURES = np.array([[20.0, 22.0, 21.0], [25.0, 25.0, 27.0], [29.0, 31.0, 33.0],
                         [34.0, 33.0, 36.0], [37.0, 38.0, 41.0]])
SAMPLES = int(DURATION * RATE)


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return an arm whose viscous friction falls with temperature."""
    return WarmArm(tmp_path_factory.mktemp('warm'))


@pytest.fixture(scope='module')
def models(arm):
    return [arm.run(T, seed) for seed, T in enumerate(TEMPERATURES)]


@pytest.fixture(scope='module')
def study(models):
    return study_temperature(models)


# --- the line ------------------------------------------------------------------------------


def test_errors_are_those_of_weighted_least_squares(rng):
    """``(A' W A)^-1`` where the scatter is within the errors; R^2 by its definition."""
    T = np.array([22.0, 25.0, 31.0, 36.0, 40.0])
    errors = np.array([0.3, 0.1, 0.2, 0.4, 0.1])
    values = 8.0 - 0.1 * T + 0.1 * errors * rng.normal(size=5)
    line = fit_temperature_line(T, values, errors)
    A = np.column_stack([np.ones(5), T]) / errors[:, None]
    expected = np.sqrt(np.diag(np.linalg.inv(A.T @ A)))
    assert line.excess < 1.0
    assert line.slope_error == pytest.approx(expected[1])
    assert line.intercept_error == pytest.approx(expected[0])
    weights = errors**-2.0
    left = np.sum(weights * (values - line.intercept - line.slope * T) ** 2)
    mean = np.average(values, weights=weights)
    assert line.r_squared == pytest.approx(1.0 - left / np.sum(weights * (values - mean) ** 2))


@pytest.mark.parametrize('promised', [1.0, 0.2])
def test_intervals_of_slopes_hold_the_truth(promised):
    """In 95 % of the cases at least, also where runs scatter five times more than they promise."""
    # With 600 repetitions the share scatters by 0.9 %: 93 % is within two and a half of that.
    rng = np.random.default_rng(1)
    T = np.array([21.0, 26.0, 29.0, 33.0, 38.0])
    errors = np.array([0.1, 0.2, 0.15, 0.1, 0.2])
    held = 0
    for _ in range(600):
        values = 9.0 - 0.1 * T + errors * rng.normal(size=5)
        low, high = fit_temperature_line(T, values, promised * errors).slope_interval()
        held += low < -0.1 < high
    assert held / 600 > 0.93


# --- temperature within the recordings -----------------------------------------------------


@pytest.fixture(scope='module')
def ramps(arm):
    """Return five recordings during which the arm warms up from 20 to 40 deg C."""
    return [
        arm.dataset(20.0 + 4.0 * k + np.linspace(0.0, 4.0, SAMPLES)[:, None] + np.zeros(3),
                    100 + k, noise=0.002)
        for k in range(5)
    ]


def test_one_regression_finds_the_slopes(arm, ramps):
    """
    Property P17: within 5 % of the truth, and equal to the line through the five within errors.

    The noise leaves the slopes standard errors of 1 to 3 %.
    """
    model = arm.identify(ramps, JOINT_REGRESSION)
    rows = [model.reduction.names.index(f'fvT{j}') for j in (1, 2, 3)]
    found = model.theta_base[rows]
    np.testing.assert_allclose(found, arm.slopes, rtol=0.05)
    covariance = Covariance(
        model.covariance_kind, model.covariance, model.quality['degrees_of_freedom'],
        np.zeros(len(model.theta_base), bool),
    )
    ends = confidence_intervals(model.theta_base, covariance)[rows]
    lines = [
        joint.viscous_line
        for joint in study_temperature([arm.identify([one]) for one in ramps]).joints
    ]
    for slope, (low, high), line in zip(found, ends, lines, strict=True):
        assert line.slope_interval()[0] < slope < line.slope_interval()[1]
        half = 0.5 * (high - low) + np.ptp(line.slope_interval()) / 2.0
        assert abs(line.slope - slope) < half


# --- models written back -------------------------------------------------------------------


def torque_without_viscous(model, motion):
    """Return a model's torque without its viscous friction."""
    gone = [name.startswith('fv') for name in model.reduction.names]
    return replace(model, theta_base=np.where(gone, 0.0, model.theta_base)).torque(motion)


def test_a_model_follows_temperature(arm, models, study, tmp_path):
    """Its viscous friction is the line at every temperature; it survives its file."""
    model = model_over_temperature(models, study)
    path = tmp_path / 'identified_model.yaml'
    path.write_text(dump_model(model))
    read = load_model(path)
    motion = arm.dataset(25.0, 0).motion
    for warmth in (23.0, 30.0, 36.0):  # inside the range of every line
        T = np.full((SAMPLES, 3), warmth)
        torque = read.torque(replace(motion, temperature=T))
        np.testing.assert_allclose(
            torque, model.torque(replace(motion, temperature=T)), rtol=0, atol=1e-9
        )
        lines = np.array([joint.viscous_line.at(warmth) for joint in study.joints])
        fast, slow = (replace(
            motion, dq=np.tile(speed, (SAMPLES, 3)), ddq=np.zeros((SAMPLES, 3)), temperature=T
        ) for speed in (1.0, 0.5))
        friction = read.torque(fast) - read.torque(slow)
        others = torque_without_viscous(read, fast) - torque_without_viscous(read, slow)
        np.testing.assert_allclose((friction - others).mean(axis=0), 0.5 * lines, rtol=1e-9)
    assert len(read.provenance['bags']) == 1  # all recordings have the same made-up name
    assert 'lines through 5 models' in read.quality['reasons'][-1]
    values = np.linalg.eigvalsh(read.covariance)
    assert values.min() > -1e-12 * values.max()


def test_a_model_at_a_temperature_has_plain_friction(arm, models, study):
    """
    The same torque as the one that follows temperature; outside the lines' range, their ends'.

    Viscous friction is the truth's within four standard errors.
    """
    model = model_over_temperature(models, study)
    motion = arm.dataset(25.0, 0).motion
    T = np.array([28.0, 30.0, 35.0])
    at, notes = model_at(models, study, T)
    assert notes == ()
    assert {term.law.name for term in at.parameters.friction} == {'coulomb', 'viscous', 'offset'}
    np.testing.assert_allclose(
        at.torque(motion), model.torque(replace(motion, temperature=np.tile(T, (SAMPLES, 1)))),
        rtol=0, atol=1e-9,
    )
    np.testing.assert_allclose(model_torque(at, motion), at.torque(motion), rtol=0, atol=0)
    rows = [at.reduction.names.index(f'fv{j}') for j in (1, 2, 3)]
    apart = at.theta_base[rows] - arm.viscous(T)
    assert np.all(np.abs(apart) < 4.0 * at.standard_errors[rows])
    hot, notes = model_at(models, study, np.array([60.0, 30.0, 0.0]))
    assert [note.partition(':')[0] for note in notes] == ['pan', 'reach']
    edge, _ = model_at(models, study, np.array([37.0, 30.0, 21.0]))
    np.testing.assert_allclose(hot.theta_base, edge.theta_base)
    with pytest.raises(DataError, match='2 temperatures for 3 joints'):
        model_at(models, study, np.array([20.0, 30.0]))


JOINTS = ('pan', 'lift')
OPTIONS = SteadyStateOptions(rise=0.5, change=0.02, runs=2)


def judged(values, options=OPTIONS, errors=None):
    runs = [
        RunFigures(row) if errors is None else RunFigures(None, row, errors[k])
        for k, row in enumerate(np.asarray(values, dtype=float))
    ]
    return judge_steady_state(runs, JOINTS, options)


def test_a_warming_arm_settles_when_it_is_warm():
    """1 K a run is no rest, 0.4 K twice is; the joint that changed most is named."""
    rising = [(24.0, 24.0), (25.0, 24.2), (26.0, 24.4)]
    told = judged(rising)
    assert not told.reached
    assert (told.by, told.joint) == ('temperature', 0)
    assert 'changed by 1.00 K at most (pan)' in told.reason
    assert not judged([*rising, (26.4, 24.5)]).reached
    assert judged([*rising, (26.4, 24.5), (26.6, 24.6)]).reached


def recording_of(robot, stamps, q, dq, effort, **channels):
    return Recording(
        source='bag', topic='/joint_states', joint_names=robot.joint_names, stamps=stamps, q=q,
        dq=dq, effort=effort, start=0, stamps_from='header', metadata={}, channels=channels,
    )


def rest(robot, **channels):
    stamps = np.arange(0.0, 3.0, 0.008)
    still = np.zeros((len(stamps), robot.n))
    effort = still + np.random.default_rng(0).normal(size=still.shape)
    return recording_of(robot, stamps, still, still, effort, **channels)


def recorded(robot, truth, run, seed):
    """Return a recording of a run, with noise of its own."""
    found = Driver().record(run, robot.limits.effort / truth.drive_gain, seed)
    return recording_of(robot, found.stamps - found.stamps[0], *found.measured)


@pytest.fixture(scope='module')
def steady_arm(tmp_path_factory):
    """Return an arm whose drive gains nobody knows, and what it really is."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    robot = load_robot(str(write_small_arm(tmp_path_factory.mktemp('arm'))))
    return replace(robot, drives=unknown_drives(robot.n)), draw_truth(robot, 3)


def test_the_quick_fit_sees_friction_fall(steady_arm):
    """A fall of viscous friction by a tenth is seen as such, a repeated run as none."""
    # Noise is that of a good driver. Drive gains are unknown, and the model has one law for
    # friction that is another in truth: a share is right within a fifth of the tenth all the same.
    robot, truth = steady_arm
    cold, warm = (
        execute(robot, replace(truth, viscous=share * truth.viscous), 6, 8.0)
        for share in (1.0, 0.9)
    )
    figures = [
        figures_of_run(robot, recorded(robot, truth, run, seed), 'A')
        for seed, run in enumerate((cold, cold, warm))
    ]
    viscous = np.array([one.viscous for one in figures])
    share = np.diff(viscous, axis=0) / viscous[:-1]
    np.testing.assert_allclose(share[0], 0.0, atol=0.02)
    np.testing.assert_allclose(share[1], -0.1, atol=0.02)
    assert not judge_steady_state(figures, robot.joint_names, replace(OPTIONS, runs=1)).reached
    assert judge_steady_state(
        figures[:2], robot.joint_names, SteadyStateOptions(change=0.05, runs=1)
    ).reached


def test_slopes_of_repeated_identifications(arm, study):
    """The truth is inside the intervals, R^2 is near one, Coulomb friction stays."""
    for j, joint in enumerate(study.joints):
        line = joint.viscous_line
        low, high = line.slope_interval(0.99)
        assert low < arm.slopes[j] < high, joint.joint
        assert line.r_squared > 0.9
        np.testing.assert_allclose(joint.temperature, TEMPERATURES[:, j], atol=1e-9)
        assert not joint.coulomb_moves
        # Noise of 0.4 % of the limit moves the coefficient of a run by some 4 %.
        truth = relative_change(*arm.viscous(TEMPERATURES[[0, -1]])[:, j])
        assert joint.viscous_change == pytest.approx(truth, abs=0.05)
    assert study.notes == ()
