# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What a model knows of an experiment, what a motion leaves weak, and the next motion."""

from dataclasses import replace

from builders import two_link_urdf
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.cli.excite_text import describe_weakness
from robot_identification.excitation import (
    find_experiment, FourierParametrization, knowledge_of_model, load_experiment, motion_limits,
    Trajectory, weak_parameters,
)
from robot_identification.excitation.experiment_file import Margins
from robot_identification.excitation.information import (
    BaseColumns, Knowledge, runs_until, standard_errors,
)
from robot_identification.excitation.sequential import _weights, allowed_errors
from robot_identification.model import (
    BaseReduction, CoulombFriction, IdentifiedModel, make_robot_model, make_standard_parameters,
    Motion, observation_matrix, parse_urdf, reduce_to_base, SignalSource, ViscousFriction,
)
from robot_identification.model.robot_model import Drives

RATE = 100.0
NOISE = np.array([0.4, 0.2])
# A base with friction and rotors as `identify` has it, with a width that no experiment has.
FRICTION = (CoulombFriction(0.02), ViscousFriction())


@pytest.fixture(scope='module')
def arm():
    drives = Drives(np.ones(2), np.ones(2), np.ones(2))
    return replace(
        make_robot_model(parse_urdf(two_link_urdf(), 'arm')), drives=drives, effort_unit='Nm',
        sampling_rate=RATE,
    )


@pytest.fixture(scope='module')
def wanted():
    demo = load_experiment(find_experiment('demo'))
    return replace(
        demo, form=FourierParametrization(3, 4.0), segments=(), window={}, collision=False,
        samples=(40,), friction='coulomb,viscous', margins=Margins(acceleration=1.0),
    )


@pytest.fixture(scope='module')
def first(arm, wanted):
    """Return a poor motion: the second joint moves little."""
    coefficients = np.random.default_rng(0).normal(size=(2, wanted.form.n_coefficients)) * 0.2
    coefficients[1] *= 0.4
    return Trajectory(arm.name, arm.joint_names, wanted.form, coefficients, 1, {})


def lively(robot, count=400):
    rng = np.random.default_rng(3)
    return Motion(*(rng.uniform(-size, size, (count, robot.n)) for size in (1.5, 2.0, 4.0)))


def identified(robot, motion, noise, friction=FRICTION, keep=None, changes=None):
    """Return the model that weighted least squares finds, with the exact covariance."""
    parameters = make_standard_parameters(robot.n, friction, reflected_inertia=True)
    reduction = reduce_to_base(robot, parameters)
    if keep is not None:
        rows = [i for i, name in enumerate(reduction.names) if keep(name)]
        reduction = BaseReduction(
            parameters, reduction.K[rows], reduction.independent[rows], reduction.gap
        )
    W = observation_matrix(robot, parameters, motion)[:, reduction.independent]
    R = np.linalg.qr(W / np.tile(noise, len(motion))[:, None], mode='r')
    inverse = np.linalg.inv(R)
    theta = np.linspace(0.5, 1.5, reduction.rank)
    model = IdentifiedModel(
        robot, 'Nm', reduction, theta, inverse @ inverse.T, None, '', SignalSource(), {},
        {'residual_standard_deviation': noise},
    )
    return replace(model, **(changes or {}))


def information(robot, experiment, motion, noise):
    """Return the information of a motion about an experiment's base parameters, squared."""
    W = BaseColumns(robot, experiment).matrix(motion)
    weighted = W / np.tile(noise, len(motion))[:, None]
    return weighted.T @ weighted


def assert_same_information(rows, expected, tolerance=1e-6):
    """Compare in units of the expected errors: of one is the difference of every eigenvalue."""
    root = np.linalg.cholesky(np.linalg.inv(expected))
    relative = root.T @ (rows.T @ rows) @ root
    np.testing.assert_allclose(relative, np.eye(len(relative)), atol=tolerance)


@pytest.mark.parametrize('frames', ['joint', 'mdh'])
@pytest.mark.parametrize('preference', ['gautier_khalil', 'mass_first'])
def test_information_is_that_of_the_recording_in_every_base_set(ur5, frames, preference):
    """What was recorded is known, whatever set the next experiment is stated in."""
    demo = load_experiment(find_experiment('demo'))
    experiment = replace(
        demo, frames=frames, preference=preference, friction='coulomb,viscous'
    )
    motion = lively(ur5)
    # The widths differ on purpose; the oracle has the model's at slow passages: none are sampled.
    motion = replace(motion, dq=motion.dq + 0.5 * np.sign(motion.dq))
    noise = np.array([0.5, 0.6, 0.4, 0.2, 0.1, 0.15])
    model = identified(ur5, motion, noise)
    known = knowledge_of_model(model, ur5, experiment)
    assert known.notes == ()
    np.testing.assert_array_equal(known.noise, noise)
    # 54 parameters have information over nine orders of magnitude; 1e-6 of the errors is left.
    assert_same_information(known.rows, information(ur5, experiment, motion, noise))
    # The identified values predict the same torques.
    W = BaseColumns(ur5, experiment).matrix(motion)
    torque = model.torque(motion).ravel()
    np.testing.assert_allclose(W @ known.theta, torque, atol=1e-8 * np.abs(torque).max())


@given(st.integers(0, 2**31))
def test_errors_and_times_are_those_of_the_sum_of_information(seed):
    """Against plain inverses, which well-conditioned examples allow; times put back in."""
    rng = np.random.default_rng(seed)
    before, run = rng.normal(size=(9, 5)), rng.normal(size=(20, 5))
    run[:, 4] = 0.0
    errors = [
        np.sqrt(np.diag(np.linalg.inv(before.T @ before + runs * run.T @ run)))
        for runs in (0.0, 1.0)
    ]
    np.testing.assert_allclose(standard_errors(before), errors[0], rtol=1e-8)
    np.testing.assert_allclose(standard_errors(np.vstack([before, run])), errors[1], rtol=1e-8)
    targets = 0.3 * errors[0]
    # The last one is helped by what the others are known better, and no further.
    end = 1.0 / np.linalg.norm(before[:, 4])
    targets[4] = 0.99 * end
    runs = runs_until(before, run, targets)
    for index in range(4):
        found = np.linalg.inv(before.T @ before + runs[index] * run.T @ run)[index, index]
        # What the search for the time leaves.
        assert np.sqrt(found) == pytest.approx(targets[index], rel=1e-6)
    assert runs[4] == np.inf
    targets = 1.1 * errors[0]
    targets[4] = 1.01 * end
    np.testing.assert_array_equal(runs_until(before, run, targets)[:4], 0.0)
    assert np.isfinite(runs_until(before, run, targets)[4])


def no_knowledge(arm, experiment):
    """Return what is known before a first motion: nothing."""
    base = BaseColumns(arm, experiment)
    theta = np.zeros(base.reduction.rank)
    return Knowledge(
        np.zeros((0, len(theta))), _weights(experiment, NOISE, RATE),
        allowed_errors(base, motion_limits(arm, experiment), theta, NOISE), theta, NOISE, RATE,
    )


def test_weak_parameters_are_named_with_the_time_that_mends_them(arm, wanted, first):
    """A motion that moves the second joint little leaves its parameters weak."""
    nothing = no_knowledge(arm, wanted)
    weakness = weak_parameters(arm, wanted, first, nothing)
    assert np.all(np.isinf(weakness.before))
    count = int(RATE * wanted.form.duration)
    recording = first.sample(np.arange(count) / RATE)
    F = information(arm, wanted, recording, NOISE)
    # What it says is checked against information of the recording itself, sampled as recorded; the
    # analysis samples otherwise, which changes errors by up to 2 % where friction turns over.
    np.testing.assert_allclose(
        weakness.after, np.sqrt(np.diag(np.linalg.inv(F))), rtol=0.02
    )
    # Without knowledge information is proportional to time, and errors fall with its root.
    expected = first.duration / 60.0 * (weakness.after / weakness.allowed) ** 2
    np.testing.assert_allclose(weakness.minutes, expected, rtol=1e-6)
    weakest = [weakness.names[i] for i in weakness.order[:2]]
    assert weakness.weak[weakness.order[0]]
    assert all(name.endswith('2') for name in weakest)
    text = ' '.join(describe_weakness(weakness).split())
    assert all(name in text for name in weakest)
    assert f'{weakness.minutes.max():.1f} minutes of it suffice for all' in text
    # The same motion again, known to be there: twice the information.
    twice = replace(first, periods=2)
    np.testing.assert_allclose(
        weak_parameters(arm, wanted, twice, nothing).after, weakness.after / np.sqrt(2.0),
        rtol=1e-9,
    )
