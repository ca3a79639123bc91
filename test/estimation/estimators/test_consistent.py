# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Consistent bodies: two solvers find the same ones, and neither is believed unchecked."""

import sys
from types import SimpleNamespace

from estimation.arm_problems import (
    arm_problem, arm_reduction, fourier_motion, lying_solver, predict,
)
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.estimation.estimators.conic import is_optimal, solve_conic
from robot_identification.estimation.estimators.consistent import (
    choose_regularization, ConsistentLeastSquares, fit_consistent_body, solve_consistent,
    usable_reference, WEIGHT_FACTOR,
)
from robot_identification.estimation.estimators.consistent_problem import ConsistentProblem
from robot_identification.estimation.estimators.least_squares import WeightedLeastSquares
from robot_identification.estimation.estimators.log_cholesky import solve_log_cholesky
from robot_identification.model.consistency import (
    pseudo_inertia, smallest_eigenvalues, smallest_mass_matrix_eigenvalue,
)
from robot_identification.model.regressor import prior_inertial_parameters
from scipy.sparse import csc_matrix

SEEDS = st.integers(0, 2**32 - 1)


def squares_of(robot, seed, *, rows=120, noise=1.0, friction=4):
    """Return a problem of an arm's bodies and some other unknowns, with noise."""
    rng = np.random.default_rng(seed)
    reference = prior_inertial_parameters(robot)
    bodies = reference.size
    R = rng.normal(size=(rows, bodies + friction))
    truth = np.append(reference * rng.uniform(0.8, 1.2), rng.uniform(-0.5, 1.0, friction))
    z = R @ truth + noise * rng.normal(size=rows)
    return ConsistentProblem(R, z, reference, np.arange(friction) < friction - 1)


def cost(squares, x, weight):
    """Return what both solvers minimize."""
    return squares.squared_residual(x) + weight * squares.divergence(x)


@given(seed=SEEDS, power=st.floats(-2.0, 4.0), rows=st.integers(15, 150))
def test_two_solvers_agree(ur5, seed, power, rows):
    """Fault 19: one is checked by the other, also with fewer rows than unknowns."""
    # The conic solver is accepted at 1e-5 of its value plus one, in which a weight above one is
    # one.
    pytest.importorskip('clarabel', reason='clarabel, the conic solver, is not installed')
    squares, weight = squares_of(ur5, seed, rows=rows), 10.0**power
    conic, newton = solve_conic(squares, weight), solve_log_cholesky(squares, weight)
    assert conic is not None
    for x in (conic, newton):
        assert squares.is_possible(x)
    values = [cost(squares, x, weight) for x in (conic, newton)]
    assert values[0] == pytest.approx(values[1], abs=1e-5 * (max(1.0, weight) + values[1]))
    # Newton's method ends lower, or where the other does.
    assert values[1] <= values[0] * (1.0 + 1e-9)


@given(seed=SEEDS)
def test_the_divergence_is_that_of_the_definition(ur5, seed):
    """-log det(P / P0) + trace(P / P0) - 4 for each link; zero for the reference alone."""
    squares = squares_of(ur5, seed)
    x = np.append(squares.reference * np.random.default_rng(seed).uniform(0.5, 2.0), np.ones(4))
    wanted = 0.0
    for one, other in zip(
        x[:60].reshape(6, 10), squares.reference.reshape(6, 10), strict=True
    ):
        ratio = np.linalg.solve(pseudo_inertia(other), pseudo_inertia(one))
        wanted += np.trace(ratio) - np.log(np.linalg.det(ratio)) - 4.0
    assert squares.divergence(x) == pytest.approx(wanted, rel=1e-8, abs=1e-10)
    assert squares.divergence(np.append(squares.reference, x[60:])) == pytest.approx(0, abs=1e-9)
    assert squares.divergence(np.append(-squares.reference, x[60:])) == np.inf


def test_no_solution_is_believed_unchecked(rng):
    """Fault 19: value, gradient and duality are computed again; NaN is no solution."""
    P, q = csc_matrix(np.eye(2)), np.array([-1.0, -1.0])
    A, b = csc_matrix(-np.eye(2)), np.zeros(2)
    x, dual = np.ones(2), np.zeros(2)
    assert is_optimal(P, q, A, b, x, dual)
    assert not is_optimal(P, q, A, b, x * [1.001, 1.0], dual)
    assert not is_optimal(P, q, A, b, x, np.array([0.0, 1e-3]))
    assert not is_optimal(P, q, A, b, np.array([np.nan, 1.0]), dual)
    assert not is_optimal(P, q, A, b, x, np.array([np.inf, 0.0]))


def test_a_solver_that_lies_is_replaced(ur5, monkeypatch):
    """Fault 19: clarabel says 'solved' and returns rubbish: the other solver's answer is taken."""
    clarabel = pytest.importorskip('clarabel', reason='clarabel is not installed')
    squares = squares_of(ur5, 1)
    honest, how = solve_consistent(squares, 10.0)
    assert 'clarabel' in how

    monkeypatch.setattr(clarabel, 'DefaultSolver', lying_solver(1.0))
    assert solve_conic(squares, 10.0) is None
    x, how = solve_consistent(squares, 10.0)
    assert how == 'log-Cholesky coordinates'
    # The conic solution is accepted at 1e-5 of its value.
    assert cost(squares, x, 10.0) == pytest.approx(cost(squares, honest, 10.0), rel=1e-5)


@pytest.mark.parametrize('wrong', [1.0, 3.0])
def test_a_solution_that_is_not_the_best_is_made_so(ur5, monkeypatch, wrong):
    """Fault 19: whatever possible point a solver calls optimal, what is returned is the best."""
    squares = squares_of(ur5, 1)
    point = np.append(wrong * squares.reference, np.zeros(4))
    monkeypatch.setattr(
        'robot_identification.estimation.estimators.consistent.solve_conic',
        lambda squares, weight: point,
    )
    x, _ = solve_consistent(squares, 10.0)
    best = cost(squares, solve_log_cholesky(squares, 10.0), 10.0)
    # Both end where a step promises less than 1e-9 of the value.
    assert cost(squares, x, 10.0) == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize('seed', [0, 1])
def test_the_weight_is_the_largest_that_residuals_allow(ur5, seed):
    """The discrepancy principle: within 2 % of the squares, and the next step beyond."""
    squares = squares_of(ur5, seed)
    weight, _ = choose_regularization(squares, 0.02)
    least = squares.squared_residual(solve_log_cholesky(squares, 1e-6))
    here, beyond = (
        squares.squared_residual(solve_log_cholesky(squares, value))
        for value in (weight, weight * WEIGHT_FACTOR * 1.01)
    )
    # The weakest weight is not zero: a thousandth.
    assert here <= 1.02 * least * 1.001
    assert beyond >= 1.02 * least


def test_references_have_mass_and_size(ur5):
    """A massless link and a point get a little of both, by name; the others stay as they are."""
    prior = prior_inertial_parameters(ur5)
    same, notes = usable_reference(prior, 6)
    np.testing.assert_array_equal(same, prior)
    assert notes == ()
    odd = prior.copy()
    odd[10:20] = 0.0
    odd[20:30] = [1.0, 0.0, 0.0, 0.1, 0.01, 0.0, 0.01, 0.0, 0.0, 0.0]
    repaired, (note,) = usable_reference(odd, 6)
    assert 'joints 2, 3' in note
    assert np.all(smallest_eigenvalues(repaired) > 0.0)
    np.testing.assert_allclose(repaired[21:24], odd[21:24], atol=1e-12)
    np.testing.assert_array_equal(repaired[30:], prior[30:])


def body_problem(seed, noise):
    """Return a triangle, a side and the true parameters of a possible body."""
    rng = np.random.default_rng(seed)
    places, masses = rng.normal(scale=0.1, size=(6, 3)), rng.uniform(0.1, 1.0, 6)
    rows = np.hstack([places, np.ones((6, 1))])
    matrix = (rows * masses[:, None]).T @ rows
    units = np.array([pseudo_inertia(unit) for unit in np.eye(10)])
    true = np.linalg.lstsq(units.reshape(10, -1).T, matrix.ravel(), rcond=None)[0]
    R = np.triu(rng.normal(size=(10, 10))) * 10.0 ** rng.uniform(0.0, 3.0, 10)[:, None]
    return R, R @ true + noise * rng.normal(size=10), true


@pytest.mark.parametrize('solver', ['clarabel', 'log_cholesky'])
@given(seed=SEEDS, power=st.floats(-2.0, 3.0))
def test_a_consistent_body_is_as_good_as_any(seed, solver, power):
    """No other physically consistent body fits better, by either solver."""
    # However wrong the numbers. A millionth of the squares times the divergence; measured 3e-5 of
    # them, 1e-4 is allowed.
    R, z, true = body_problem(seed, 10.0**power)
    with pytest.MonkeyPatch.context() as patch:
        if solver == 'log_cholesky':
            patch.setitem(sys.modules, 'clarabel', None)
        body = fit_consistent_body(R, z, 0.1)
    assert smallest_eigenvalues(body.parameters)[0] > 0.0
    found = np.sum((R @ body.parameters - z) ** 2)
    rng = np.random.default_rng(seed)
    for share in (1e-3, *rng.uniform(0.0, 1.0, 5), 1.0):
        # All between two physically consistent bodies are consistent.
        other = share * true + (1.0 - share) * body.parameters
        assert np.sum((R @ other - z) ** 2) >= found - 1e-4 * (1.0 + found)


@pytest.fixture(scope='module')
def scene(ur5):
    """Return an arm, its base parameters, a truth, and a noisy and an exact motion."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    from robot_identification.simulation.ground_truth import draw_truth
    from robot_identification.simulation.mujoco_robot import inverse_dynamics

    reduction = arm_reduction(ur5)
    truth = draw_truth(ur5, 3)
    motions = [fourier_motion(6, seed, 500, 0.25) for seed in (1, 2)]

    def true_torque(motion):
        return inverse_dynamics(ur5, truth, motion)

    taus = [true_torque(motion) for motion in motions]
    deviation = np.array([3.0, 3.5, 3.0, 0.7, 0.7, 0.6])
    noise = np.random.default_rng(0).normal(size=taus[0].shape) * deviation
    return SimpleNamespace(
        robot=ur5, reduction=reduction, motions=motions, taus=taus, true_torque=true_torque,
        deviation=deviation,
        problem=arm_problem(ur5, reduction, motions[0], taus[0] + noise),
    )


def unseen_error(scene, theta):
    """Return the error on the other motion, without noise [N m], root mean square."""
    tau = predict(scene.robot, scene.reduction, theta, scene.motions[1])
    return np.sqrt(np.mean((tau - scene.taus[1]) ** 2))


def test_found_bodies_can_exist_and_predict_better(scene):
    """Property P13: every P and M(q) positive; noise that WLS fits impossible bodies to."""
    estimate = ConsistentLeastSquares().estimate(scene.problem)
    theta, rotors = estimate.standard, scene.reduction.parameters.reflected_inertia_slice
    np.testing.assert_allclose(scene.reduction.K @ theta, estimate.theta, atol=1e-9)
    assert np.all(smallest_eigenvalues(theta[:60]) > 0.0)
    assert np.all(theta[rotors] >= 0.0)
    assert smallest_mass_matrix_eigenvalue(scene.robot, theta[:60], theta[rotors])[0] > 0.0
    free = WeightedLeastSquares().estimate(scene.problem)
    # Measured: 0.35 N m against 0.62 N m; a fifth is left for other machines' rounding.
    assert unseen_error(scene, estimate.theta) < 0.8 * unseen_error(scene, free.theta)
