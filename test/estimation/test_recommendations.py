# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recommendations name what the data did not see, and a recording that follows it sees it."""

from dataclasses import replace
from itertools import permutations

from effort_twins import make_twin
from estimation.arm_problems import arm_reduction, dataset_of, fourier_motion
from long_tests import some_by_day
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.estimation import covariance_of, ESTIMATORS, TIME_BLOCKS, TrainingData
from robot_identification.estimation.estimate import PriorTerm
from robot_identification.estimation.fitting import (
    cross_validate, fit_parameters, observe, reference_scale, restrict_to_identifiable,
)
from robot_identification.estimation.inputs import check_effort_meaning
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.recommendations import prior_decided, recommend
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.model import (
    Motion, observation_matrix, parse_friction, prior_inertial_parameters,
)
from robot_identification.model.parameters import STATED_UNITS
from robot_identification.processing.dataset import find_stationary_joints, IDLE_RANGE
from robot_identification.validation.folds import Folds

SAMPLES, RATE = 2000, 100.0
NOISE = np.array([1.5, 1.5, 1.0, 0.3, 0.3, 0.3])
START = np.array([0.0, -1.2, 1.0, 0.2, 0.1, 0.0])


@pytest.fixture(scope='module')
def reduction(ur5):
    """Return the base parameters of the UR5 with friction and rotors."""
    return arm_reduction(ur5)


def swinging(scale, seed=0):
    form = FourierParametrization(harmonics=5, base_period=10.0)
    coefficients = np.random.default_rng(seed).normal(size=(6, form.n_coefficients))
    coefficients *= 0.3 * np.broadcast_to(scale, 6)[:, None]
    coefficients[:, 0] = START
    stamps = np.arange(SAMPLES) / RATE
    return Motion(*(basis @ coefficients.T for basis in form.basis(stamps)))


def identified(robot, reduction, motion):
    names = reduction.parameters.names
    theta = np.zeros(len(names))
    theta[:60] = prior_inertial_parameters(robot)
    for number in range(6):
        for symbol, value in (('fc', 6.0), ('fv', 6.0), ('Ia', 1.0), ('f0', 0.5)):
            theta[names.index(f'{symbol}{number + 1}')] = value if number < 3 else 0.2 * value
    tau = (observation_matrix(robot, reduction.parameters, motion) @ theta).reshape(-1, 6)
    tau += NOISE * np.random.default_rng(1).normal(size=tau.shape)
    dataset = dataset_of(robot, motion, tau, 1.0 / RATE)
    observations = Observations(
        robot, reduction, [TrainingData(dataset, np.ones(6), dataset.fitted)],
        time_blocks=TIME_BLOCKS,
    )
    left, unidentifiable = restrict_to_identifiable(
        robot, observations.factor(), find_stationary_joints([dataset])
    )
    return ESTIMATORS['wls']().estimate(left), unidentifiable


def recommendations_of(robot, reduction, motion):
    estimate, unidentifiable = identified(robot, reduction, motion)
    found = recommend(robot, estimate, covariance_of(estimate, 'residual'), unidentifiable)
    assert [recommendation.gain for recommendation in found] == sorted(
        (recommendation.gain for recommendation in found), reverse=True
    )
    return {name: recommendation for recommendation in found for name in recommendation.parameters}


def test_a_joint_that_stood_still_is_named(ur5, reduction):
    """Its friction and rotor ask for it, and so do bodies that only its turning shows."""
    found = recommendations_of(ur5, reduction, swinging([1.0, 1.0, 1.0, 1.0, 0.0, 1.0]))
    assert {'fc5', 'fv5', 'Ia5', 'Ixx6'} <= set(found)
    assert 'never moved' in found['fc5'].motion
    for recommendation in set(found.values()):
        assert 'wrist_2_joint' in recommendation.motion, recommendation
        for other in ('shoulder', 'elbow', 'wrist_1', 'wrist_3'):
            assert other not in recommendation.motion, recommendation
    assert found['fc5'].finding == 'the data do not determine it'
    assert str(found['fc5']).startswith('fc5')
    assert 'away from 0.1 rad' in found['Ixx6'].motion


def test_a_recording_that_follows_a_recommendation_knows_more(ur5, reduction):
    """A slow wrist asks for a lively one; with it errors fall by a third or more."""
    # They would be halved by twenty seconds more in which the joint is everywhere; here it swings,
    # in a recording that is as long as before and the same but for the joints that are named.
    scale = np.array([1.0, 1.0, 1.0, 0.05, 0.3, 1.0])
    found = recommendations_of(ur5, reduction, swinging(scale))
    assert 'Ixz4' in found
    before, _ = identified(ur5, reduction, swinging(scale))
    for recommendation in set(found.values()):
        named = np.array([name in recommendation.motion for name in ur5.joint_names])
        assert named.any()
        assert not named[[0, 1, 2]].any(), recommendation
        after, _ = identified(ur5, reduction, swinging(np.where(named, 2.5, scale)))
        for name in recommendation.parameters:
            errors = [
                estimate.standard_errors[estimate.problem.reduction.names.index(name)]
                for estimate in (before, after)
            ]
            assert errors[1] < errors[0] / 1.5, recommendation


def test_friction_is_asked_by_its_own_kind_of_motion(ur5, reduction):
    """One way only, or never slowly: the sentence says which and what to do."""
    motion = swinging(1.0)
    # The joint turns on and on at nearly one speed: offset, Coulomb and viscous look the same.
    stamps = np.arange(SAMPLES) / RATE
    for values, own in zip(
        (motion.q, motion.dq, motion.ddq),
        (1.5 * stamps, np.full(SAMPLES, 1.5) + 1e-3 * np.sin(stamps), 1e-3 * np.cos(stamps)),
        strict=True,
    ):
        values[:, 5] = own
    found = recommendations_of(ur5, reduction, motion)
    friction = [found[name] for name in ('fc6', 'fv6', 'f06') if name in found]
    assert friction
    for recommendation in friction:
        assert 'sweep wrist_3_joint' in recommendation.motion
        assert 'both ways' in recommendation.motion
        assert 'it turned one way only' in recommendation.motion


def test_the_prior_decides_what_the_data_say_less_of(ur5, reduction):
    """By variances: of bodies with a sharp prior all, of friction without one none."""
    estimate, _ = identified(ur5, reduction, swinging(1.0))
    b = reduction.rank
    assert prior_decided(estimate) == ()
    bodies = np.flatnonzero(reduction.independent < 60)
    errors = np.sqrt(np.diag(np.linalg.inv(
        (R := estimate.problem.stacked(estimate.weights)[0]).T @ R
    )))
    for factor, decided in ((0.5, bodies), (2.0, [])):
        matrix = np.zeros((len(bodies), b))
        matrix[np.arange(len(bodies)), bodies] = 1.0 / (factor * errors[bodies])
        known = replace(estimate, prior=PriorTerm(matrix, matrix @ estimate.theta))
        assert prior_decided(known) == tuple(reduction.names[row] for row in decided)


def test_what_the_prior_decides_is_advised_on(ur5, reduction):
    """Even if its error is small: it is not the data's."""
    motion = swinging([1.0, 1.0, 1.0, 0.05, 0.3, 1.0])
    estimate, _ = identified(ur5, reduction, motion)
    row = reduction.names.index('Ia4')
    matrix = np.zeros((1, reduction.rank))
    matrix[0, row] = 1e4
    known = replace(estimate, prior=PriorTerm(matrix, matrix @ estimate.theta))
    found = recommend(ur5, known, covariance_of(known, 'blocks'))
    recommendation, = (one for one in found if 'Ia4' in one.parameters)
    assert recommendation.finding == 'the prior says more of it than the data'
    assert 'wrist_1_joint' in recommendation.motion


def reduction_of(robot):
    return arm_reduction(robot, 'viscous,coulomb,offset')


def problem_of(robot, reduction, motion, theta):
    """Return the problem of torques without noise, and those torques (N n,)."""
    tau = observation_matrix(robot, reduction.parameters, motion) @ theta
    dataset = dataset_of(robot, motion, tau.reshape(-1, robot.n), 0.02)
    data = [TrainingData(dataset, np.ones(robot.n), dataset.fitted)]
    return Observations(robot, reduction, data).factor(), tau


@pytest.mark.parametrize('idle', [(3,), (0,), (5,), (1, 4), (1, 2, 3, 4, 5)])
def test_a_stationary_joint_loses_its_friction_and_rotor(ur5, rng, idle):
    """And the others lose nothing: the reduced parameters of any arm give its torques."""
    # Parameters of the idle joint itself are zero here: at rest the data cannot show them. The
    # rest is exact to what `restrict_to_identifiable` rounds, 1e-6 of a lively motion's torques.
    reduction = reduction_of(ur5)
    parameters = reduction.parameters
    theta = rng.normal(size=parameters.size)
    own = [f'{symbol}{joint + 1}' for joint in idle for symbol in ('fv', 'fc', 'f0', 'Ia')]
    theta[[parameters.names.index(name) for name in own]] = 0.0
    motion = fourier_motion(6, 0, idle=idle)
    problem, _ = problem_of(ur5, reduction, motion, theta)
    left, unidentifiable = restrict_to_identifiable(ur5, problem, idle)
    assert set(own) & set(reduction.names) <= set(unidentifiable)
    moving = [f'{symbol}{joint + 1}' for joint in range(6) if joint not in idle
              for symbol in ('fv', 'fc', 'f0')]
    assert set(moving).isdisjoint(unidentifiable)
    smaller = left.reduction
    assert smaller.rank == reduction.rank - len(unidentifiable)
    assert set(smaller.names) | set(unidentifiable) == set(reduction.names)
    estimate = ESTIMATORS['ols']().estimate(left)
    # What was folded away comes back on any motion in which the joints stand there too.
    unseen = fourier_motion(6, 1, idle=idle)
    unseen.q[:, idle] = motion.q[0, idle]
    for one, tolerance in ((motion, 1e-6), (unseen, 1e-3)):
        W = observation_matrix(ur5, parameters, one)
        tau, seen = W @ theta, W[:, smaller.independent]
        for found, atol in ((smaller.K @ theta, 1e-3), (estimate.theta, tolerance)):
            np.testing.assert_allclose(seen @ found, tau, atol=atol * np.abs(tau).max())
    for name in moving:
        found = estimate.theta[smaller.names.index(name)]
        assert found == pytest.approx(theta[parameters.names.index(name)], abs=1e-4), name


def test_stationary_joints_stand_still_in_every_recording(ur5):
    """Fifty millirad is the limit; only what is scored counts."""
    moving, standing = fourier_motion(6, 0), fourier_motion(6, 0, idle=(2,))
    standing.q[:, 4] = 1.0 + 0.9 * IDLE_RANGE * np.linspace(0, 1, 400)
    tau = np.zeros((400, 6))
    first, second = (dataset_of(ur5, motion, tau, 0.02) for motion in (moving, standing))
    assert find_stationary_joints([first]) == ()
    assert find_stationary_joints([second]) == (2, 4)
    assert find_stationary_joints([first, second]) == ()
    standing.q[:, 4] *= 1.2
    assert find_stationary_joints([second]) == (2,)
    short = replace(second, scored=np.arange(400) < 3)
    assert set(find_stationary_joints([short])) > {2, 4}


def test_reference_is_what_a_lively_motion_puts_into_each_column(ur5):
    """Within a factor of ten of the excitation motion's own columns, none of them zero."""
    reduction = reduction_of(ur5)
    scale = reference_scale(ur5, reduction)
    W = observation_matrix(ur5, reduction.parameters, fourier_motion(6, 0))
    ratio = np.linalg.norm(W[:, reduction.independent], axis=0) / np.sqrt(400) / scale
    assert np.all(scale > 0.0)
    assert np.all((ratio > 1e-2) & (ratio < 1e2))


def test_too_few_rows_are_refused_with_their_number(ur5):
    """Six samples are 36 rows for 58 parameters."""
    reduction = reduction_of(ur5)
    motion = fourier_motion(6, 0, 6)
    theta = np.ones(reduction.parameters.size)
    with pytest.raises(DataError, match='6 usable samples for 58 parameters'):
        problem_of(ur5, reduction, motion, theta)


def test_held_out_blocks_are_not_trained_on(robots):
    """Of pure noise nothing can be predicted: held-out errors exceed the spread itself."""
    # Fitted to the very samples, 30 parameters explain a part of 600 rows of noise.
    robot, rng = robots['mixed'], np.random.default_rng(1)
    motion = fourier_motion(robot.n, 0, 200)
    dataset = dataset_of(robot, motion, rng.normal(size=(200, 3)), 0.02)
    laws = parse_friction('viscous,coulomb,offset')
    observations = observe(robot, laws, [dataset], [dataset.fitted])
    estimator = ESTIMATORS['ols']()
    trial = cross_validate(observations, (), estimator, 'noise', Folds())
    assert np.all(trial.errors[0].nrmse > 1.0)
    fit = fit_parameters(observations, (), estimator)
    assert np.all(fit.estimate.sigma < np.std(dataset.effort, axis=0) * 1.1)
    assert trial.errors[0].samples == 200


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
