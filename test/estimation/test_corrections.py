# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Corrections are accepted where their effect is, and leave the parameters as they are."""

from dataclasses import replace
from types import SimpleNamespace

from long_tests import some_by_day
import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.correction_groups import (
    AcceptedGroup, choose_groups, fit_groups, FoldedResiduals, solve_ridge,
)
from robot_identification.estimation.corrections import joints_of_one_motion
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.model import CORRECTIONS, CorrectionSignals, Motion
from robot_identification.pipeline import identify
from robot_identification.validation.folds import blocked_folds
from robot_identification.validation.validation import (
    corrected_joints, describe_uncorrected, predict_effort, score,
)

RATE, SECONDS = 125.0, 40.0
PERIOD = 10.0
HUBER = 1.345
JOINT = 1


def motion_of(rng, n=3):
    """Return 40 s of joints that follow sums of sines, with noise in the measured velocity."""
    t = np.arange(0.0, SECONDS, 1.0 / RATE)
    omega = 2.0 * np.pi * np.arange(1, 6) / PERIOD
    phase, size = rng.uniform(0.0, 6.28, (5, n)), rng.uniform(0.1, 0.5, (5, n))
    angles = omega[:, None] * t[:, None, None] + phase
    q = np.sum(size * np.sin(angles), axis=1)
    dq = np.sum(size * omega[:, None] * np.cos(angles), axis=1)
    ddq = -np.sum(size * omega[:, None] ** 2 * np.sin(angles), axis=1)
    measured = dq + 0.01 * rng.normal(size=dq.shape)
    return t, CorrectionSignals(Motion(q, dq, ddq), measured, RATE)


def residuals_of(robot, t, signals, torque, period=None):
    """Return residuals of one joint in five blocks of time, or of a period, as a fit does."""
    rows = np.ones(len(t), dtype=bool)
    folds = list(blocked_folds(t, rows, period=period))
    whole = np.zeros((len(t), robot.n))
    whole[:, JOINT] = torque
    return FoldedResiduals(
        robot, (signals,), (rows,), (whole,), tuple(range(10 * robot.n)), False,
        tuple(train for train, _ in folds), tuple(held for _, held in folds),
    )


def effect_of(name, robot, signals):
    """Return the torque of a known effect of about 1 N m on the second joint."""
    x = (signals.measured_dq - signals.motion.dq)[:, JOINT]
    q = signals.motion.q[:, JOINT]
    if name == 'fast_velocity':
        return -80.0 * x - 40.0 * np.concatenate([[0.0], x[:-1]])
    if name == 'position_series':
        return np.cos(q + 0.3) + 0.5 * np.sin(3.0 * q)
    if name == 'ripple':
        return np.sin(160.0 * q + 1.0)
    kind = CORRECTIONS['joint_deviation']
    columns = kind(tuple(range(10, 30))).columns(robot, signals, JOINT)
    lengths = np.linalg.norm(columns, axis=0)
    seen = lengths > 1e-3 * lengths.max()
    return np.sqrt(len(q) / seen.sum()) * np.sum(columns[:, seen] / lengths[seen], axis=1)


@pytest.mark.parametrize('name', CORRECTIONS)
def test_an_effect_is_accepted_and_found(robots, rng, name):
    """Beside noise of half its size: what is left is that noise, up to what the ridge keeps."""
    robot = robots['mixed']
    t, signals = motion_of(rng)
    effect = effect_of(name, robot, signals)
    noise = 0.5 * rng.normal(size=len(t))
    residuals = residuals_of(robot, t, signals, effect + noise)
    groups = choose_groups(residuals, [CORRECTIONS[name]], JOINT, HUBER)
    assert groups[0].group.name == name
    found = sum(one.torque(robot, signals) for one in fit_groups(residuals, groups, HUBER))
    # A ridge of 1 halves what a single column explains; none of the groups relies on one alone.
    assert np.std(found - effect) < 0.5 * np.std(effect)
    assert groups[0].decrease > 0.3


@pytest.mark.parametrize(('name', 'periods', 'found'), [
    ('position_series', (20.0,), (JOINT,)), ('joint_deviation', (20.0,), (JOINT,)),
    ('ripple', (20.0,), ()), ('position_series', (20.0, 20.0), ()),
    ('position_series', (None,), ()),
])
def test_one_motion_does_not_distinguish_some_effects_from_bodies(name, periods, found):
    """Others differ from bodies wherever the arm is, and a second motion has other poses."""
    choice = Choice(
        None, tuple(SimpleNamespace(period=one) for one in periods), (), None, None, (),
        groups=(AcceptedGroup(JOINT, CORRECTIONS[name]((1,)), 1.0, 0.1),),
    )
    assert joints_of_one_motion(choice) == found


def coloured(rng, count):
    """Return noise with a memory of a third of a second, as friction that was missed leaves."""
    white = rng.normal(size=count + 200)
    return np.convolve(white, np.exp(-np.arange(200) / 40.0), mode='valid')[:count]


@pytest.mark.parametrize('period', some_by_day((None, PERIOD), 1), ids=('once', 'with the motion'))
def test_noise_with_a_memory_is_hardly_ever_accepted(robots, rng, period):
    """At most 5 % of joints take a group that is not there, whether it repeats or not."""
    robot, accepted = robots['mixed'], dict.fromkeys(CORRECTIONS, 0)
    draws = 60
    for _ in range(draws):
        t, signals = motion_of(rng)
        of_a_period = coloured(rng, len(t) if period is None else round(period * RATE))
        noise = np.resize(of_a_period, len(t))
        residuals = residuals_of(robot, t, signals, noise, period)
        for kind in CORRECTIONS.values():
            accepted[kind.name] += bool(choose_groups(residuals, [kind], JOINT, HUBER))
    assert max(accepted.values()) <= 6, accepted


def test_ridge_of_a_single_column_shrinks_it_by_its_share():
    """One column of length one: the estimate is 1 / (1 + rho) of the free one; zeros stay zero."""
    gram, side = np.diag([4.0, 0.0]), np.array([8.0, 0.0])
    np.testing.assert_allclose(
        solve_ridge(gram, side, np.array([0.25, 0.25])), [2.0 / 1.25, 0.0], rtol=1e-15
    )


def test_outliers_do_not_make_a_correction(robots, rng):
    """A collision of a hundred times the noise moves the coefficients by less than a tenth."""
    robot = robots['mixed']
    t, signals = motion_of(rng)
    torque = effect_of('fast_velocity', robot, signals) + 0.2 * rng.normal(size=len(t))
    group = choose_groups(
        residuals_of(robot, t, signals, torque), [CORRECTIONS['fast_velocity']], JOINT, HUBER
    )[0].group
    accepted = (AcceptedGroup(JOINT, group, 0.03, 0.5),)
    hit = torque.copy()
    hit[1000:1010] += 20.0
    clean, struck = (
        fit_groups(residuals_of(robot, t, signals, one), accepted, HUBER)[0].coefficients
        for one in (torque, hit)
    )
    assert np.linalg.norm(struck - clean) < 0.1 * np.linalg.norm(clean)


@pytest.mark.parametrize('text', ['fast', 'fast_velocity,none', ''])
def test_unknown_corrections_are_refused(text):
    with pytest.raises(UsageError, match='unknown corrections'):
        IdentifyOptions(corrections=text)


def test_parameters_are_the_same_with_and_without(scene, identification):
    """To the last bit: bodies, friction, covariance and consistent bodies see no corrections."""
    made = scene('ur5')
    without = identify(made.robot, [made.bags[0]], IdentifyOptions(corrections='none')).model
    model = identification.model
    assert without.corrections.offline == ()
    for name in ('theta_base', 'covariance', 'theta_consistent'):
        np.testing.assert_array_equal(getattr(model, name), getattr(without, name))
    assert without.reduction.names == model.reduction.names


def test_errors_have_them_and_say_what_they_are_without(identification):
    """The prediction differs by the corrections alone, where the rate is theirs."""
    model, dataset = identification.model, identification.datasets[0]
    assert model.corrections.offline, 'the simulated UR5 has an effect that is corrected'
    plain = predict_effort(model, dataset, corrected=False)
    signals = dataset.correction_signals
    added = np.zeros_like(plain)
    for one in model.corrections.offline:
        added[:, one.joint] += one.torque(model.robot, signals) * (
            model.effort_per_torque[one.joint]
        )
    # Sums in another order.
    np.testing.assert_allclose(predict_effort(model, dataset) - plain, added, atol=1e-12)
    found = score(model, dataset)
    without = score(replace(model, corrections=type(model.corrections)()), dataset)
    assert found.nrmse_mean < without.nrmse_mean
    has = np.isin(range(model.robot.n), [one.joint for one in model.corrections.offline])
    # Rounding of an addition that is undone.
    np.testing.assert_allclose(
        found.details.uncorrected, np.where(has, without.nrmse, np.nan), rtol=1e-12
    )
    assert corrected_joints(model, dataset).all() and not describe_uncorrected(model, dataset)


def test_they_are_no_larger_than_in_training(identification):
    """Velocities with twenty times the noise of those that they were found in say no more."""
    model, dataset = identification.model, identification.datasets[0]
    plain = predict_effort(model, dataset, corrected=False)
    limit = model.corrections.offline_limit * np.abs(model.effort_per_torque)
    fast = [one.joint for one in model.corrections.offline if one.group.needs_velocity]
    # Every sample of this recording is fitted, so that the largest one is among them.
    seen = np.abs(predict_effort(model, dataset) - plain)[dataset.fitted]
    np.testing.assert_allclose(seen.max(axis=0), limit, rtol=1e-9, atol=1e-12)
    noise = dataset.measured_dq - dataset.motion.dq
    loud = replace(dataset, measured_dq=dataset.motion.dq + 20.0 * noise)
    added = np.abs(predict_effort(model, loud) - plain)
    assert np.all(added <= limit + 1e-12)
    assert np.all(np.mean(added[:, fast] > 0.99 * limit[fast], axis=0) > 0.2)
