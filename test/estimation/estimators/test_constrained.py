# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bounded least squares meet the conditions of an optimum, and what has no bound is free."""

from estimation.arm_problems import (
    arm_problem, arm_reduction, fourier_motion, noisy_problem, possible_parameters, torque_of,
)
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.errors import NotIdentifiableError
from robot_identification.estimation.estimators import least_squares
from robot_identification.estimation.estimators.least_squares import (
    bounded_unknowns, ConstrainedLeastSquares, optimality, OrdinaryLeastSquares,
    solve_not_negative, WeightedLeastSquares,
)

SEEDS = st.integers(0, 2**32 - 1)


def problem_of(arm, reduction, seed, actuators):
    """Return a problem whose friction and rotor parameters are given."""
    def change(theta):
        theta[10 * arm.n:] = actuators
        return theta

    return noisy_problem(arm, reduction, seed, 400, change=change)[0]


@given(seed=SEEDS)
def test_bounded_solution_is_the_only_one(seed):
    """Columns a thousandfold apart, half of them bounded: the conditions of the optimum."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-1.5, 1.5, 12)
    R, z = rng.normal(size=(30, 12)) * units, rng.normal(size=30)
    bounded = rng.random(12) < 0.5
    x, active = solve_not_negative(R, z, bounded)
    assert np.all(x[bounded] >= 0.0)
    np.testing.assert_array_equal(active, bounded & (x == 0.0))
    multipliers = optimality(R, z, x)
    assert np.all(np.abs(multipliers[~active]) < 1e-12)
    assert np.all(multipliers[active] > 0.0)


def test_what_does_not_meet_its_conditions_is_not_returned(monkeypatch):
    """A tolerance that nothing can meet stands for a solver that fails: an error, no result."""
    monkeypatch.setattr(least_squares, 'OPTIMALITY_TOLERANCE', -1.0)
    R, z = np.eye(3), np.array([1.0, -1.0, 1.0])
    with pytest.raises(NotIdentifiableError, match='found no optimum'):
        solve_not_negative(R, z, np.ones(3, dtype=bool))


@given(seed=SEEDS)
def test_bounds_that_hold_nothing_change_nothing(arm, reduction, seed):
    """Property P3: where least squares find friction and rotors positive, it is their solution."""
    problem = problem_of(arm, reduction, seed, 50.0)
    for one, other in (
        (ConstrainedLeastSquares(), OrdinaryLeastSquares()),
        (ConstrainedLeastSquares(reweightings=3), WeightedLeastSquares()),
    ):
        bounded, free = one.estimate(problem), other.estimate(problem)
        assert not bounded.active.any()
        np.testing.assert_allclose(bounded.theta, free.theta, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(
            bounded.standard_errors, free.standard_errors, rtol=1e-6
        )


def test_offsets_and_combinations_have_no_bound(robots):
    """On a UR5, rotors 1 and 2 are merged with links; the offset may have either sign."""
    arm = robots['ur5']
    reduction = arm_reduction(arm, 'coulomb,viscous,offset,cubic_viscous')
    motion = fourier_motion(6, 0, 200)
    theta = possible_parameters(arm, reduction.parameters, np.random.default_rng(0))
    theta[60:] = 0.0
    tau = torque_of(arm, reduction, theta, motion)
    problem = arm_problem(arm, reduction, motion, tau - 5.0)
    bounded = bounded_unknowns(problem)
    names = {reduction.names[unknown] for unknown in np.flatnonzero(bounded)}
    assert names == {
        *(f'fc{j}' for j in range(1, 7)), *(f'fv{j}' for j in range(1, 7)),
        *(f'Ia{j}' for j in range(3, 7)),
    }
    rotors = bounded_unknowns(problem, friction=False)
    assert {reduction.names[unknown] for unknown in np.flatnonzero(rotors)} == {
        'Ia3', 'Ia4', 'Ia5', 'Ia6'
    }
    estimate = ConstrainedLeastSquares().estimate(problem)
    offsets = [reduction.names.index(f'f0{j}') for j in range(1, 7)]
    np.testing.assert_allclose(estimate.theta[offsets], -5.0, atol=0.01)
    assert 'Ia1 (in Izz1), Ia2 (in Izz2)' in estimate.notes[-1]


def test_what_is_held_has_no_error(arm, reduction):
    """True friction and rotor inertia are negative: all are held, and the rest knows it."""
    # The covariance is that of the problem without them, by NumPy.
    problem = problem_of(arm, reduction, 1, -3.0)
    estimate = ConstrainedLeastSquares().estimate(problem)
    held = bounded_unknowns(problem)
    np.testing.assert_array_equal(estimate.active, held)
    assert np.all(estimate.theta[held] == 0.0)
    assert np.all(estimate.standard_errors[held] == 0.0)
    assert 'held at zero by their bounds: fc1, ' in estimate.notes[0]
    R, z = problem.stacked(np.ones(3))
    deviation = np.repeat(estimate.sigma, [len(factor.triangle) for factor in problem.factors])
    units = np.linalg.norm(R[:, ~held], axis=0)
    G = np.linalg.pinv(R[:, ~held] / units) / units[:, None]
    np.testing.assert_allclose(estimate.theta[~held], G @ z, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(
        estimate.standard_errors[~held], np.sqrt(np.sum((G * deviation) ** 2, axis=1)), rtol=1e-7
    )
