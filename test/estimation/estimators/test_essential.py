# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the data hardly show is left out, as long as nothing is lost by it."""

from dataclasses import replace

from estimation.arm_problems import (
    arm_problem, arm_reduction, fourier_motion, NOISE, noisy_problem, predict,
)
import numpy as np
import pytest
from robot_identification.estimation.estimators.essential import EssentialParameters
from robot_identification.estimation.estimators.weighted import WeightedLeastSquares
from scipy.stats import f as f_distribution


@pytest.fixture(scope='module')
def reduction(arm):
    """Return its base parameters, cubic friction among them, which the arm does not have."""
    return arm_reduction(arm, 'coulomb,viscous,offset,cubic_viscous')


def problem_of(arm, reduction, seed, samples=400, **options):
    def change(theta):
        # Well above the noise, all but those that are not there.
        theta = np.sign(theta) * (1.0 + np.abs(theta))
        for term, columns in reduction.parameters.friction_columns:
            if term.law.name == 'cubic_viscous':
                theta[columns] = 0.0
        return theta

    problem, theta = noisy_problem(arm, reduction, seed, samples, change=change, **options)
    return problem, reduction.K @ theta


def test_what_is_not_there_is_left_out(arm, reduction):
    """Over ten recordings: the three cubic coefficients, which are zero, go, and nothing else."""
    # A parameter that is not there passes a test of 5 % once in twenty times. What is left
    # predicts unseen torques at least as well as all parameters.
    gone, errors = [], {'wls': [], 'essential': []}
    for seed in range(10):
        problem, truth = problem_of(arm, reduction, seed)
        found = EssentialParameters().estimate(problem)
        names = [reduction.names[at] for at in np.flatnonzero(found.active)]
        assert {name[:-1] for name in names} == {'fvc'}
        gone += names
        assert np.all(found.theta[found.active] == 0.0)
        assert np.all(found.standard_errors[found.active] == 0.0)
        assert np.all(found.standard_errors[~found.active] > 0.0)
        unseen = fourier_motion(arm.n, 100 + seed, 200)
        true = predict(arm, reduction, truth, unseen)
        for name, estimate in (
            ('wls', WeightedLeastSquares().estimate(problem)), ('essential', found),
        ):
            error = predict(arm, reduction, estimate.theta, unseen) - true
            errors[name].append(np.mean((error / NOISE) ** 2))
    assert len(gone) >= 25
    assert np.mean(errors['essential']) <= np.mean(errors['wls'])


def test_the_order_and_the_end_are_those_of_the_rule(arm, reduction):
    """Recomputed by NumPy from the stacked problem: errors, F-tests, and why it stopped."""
    # Weights are those of all parameters and stay.
    problem, _ = problem_of(arm, reduction, 0, 150)
    options = EssentialParameters(limit=0.2, contrast=5.0)
    found = options.estimate(problem)
    start = WeightedLeastSquares().estimate(problem)
    np.testing.assert_array_equal(found.weights, start.weights)
    R, z = problem.stacked(start.weights)
    height = np.array([len(factor.triangle) for factor in problem.factors])
    free = np.arange(problem.size)
    removed = []
    first = None
    while True:
        theta, squares, _, _ = np.linalg.lstsq(R[:, free], z, rcond=None)
        first = squares[0] if first is None else first
        whole = np.zeros(problem.size)
        whole[free] = theta
        freedom = np.maximum(problem.samples - problem.size / 3.0, 1.0)
        sigma = np.sqrt(problem.squared_residuals(whole) / freedom)
        G = np.linalg.pinv(R[:, free])
        errors = np.sqrt(((G * np.repeat(start.weights * sigma, height)) ** 2).sum(axis=1))
        relative = errors / np.abs(theta)
        worst = np.argmax(relative)
        if relative[worst] <= max(0.2, 5.0 * relative.min()):
            break
        fewer = np.delete(free, worst)
        after = np.linalg.lstsq(R[:, fewer], z, rcond=None)[1][0]
        degrees = problem.samples.sum() - len(free)
        p = f_distribution.sf((after - squares[0]) / (squares[0] / degrees), 1, degrees)
        if p < 0.05 or after > 1.02**2 * first:
            break
        removed.append(problem.reduction.names[free[worst]])
        free = fewer
    assert removed
    assert set(removed) == {reduction.names[at] for at in np.flatnonzero(found.active)}
    places = [found.notes[1].index(f' {name} (standard error') for name in removed]
    assert places == sorted(places)
    np.testing.assert_allclose(found.theta[free], theta, rtol=1e-7, atol=1e-9)
    assert f'{problem.size - len(removed)} of {problem.size} base parameters are essential' in (
        found.notes[0]
    )


def test_why_it_ends(arm, reduction):
    """Each of the three rules ends it where the others would go on; the notes say which."""
    problem, _ = problem_of(arm, reduction, 3, 120)
    ends = {
        'the largest relative standard error, that of': {'limit': 1e6},
        'times the smallest': {'limit': 1e-3, 'contrast': 1e9},
        'the F-test needs': {'limit': 1e-6, 'contrast': 1e-3, 'growth': 1e6},
        'the residuals would be': {
            'limit': 1e-6, 'contrast': 1e-3, 'growth': 1e-9, 'significance': 1e-300,
        },
        'one parameter is left': {
            'limit': 1e-6, 'contrast': 1e-3, 'growth': 1e9, 'significance': 1e-300,
        },
    }
    counts = {}
    for words, options in ends.items():
        estimate = EssentialParameters(**options).estimate(problem)
        counts[words] = int(np.sum(~estimate.active))
        if words != 'one parameter is left':
            assert words in estimate.notes[0]
    assert counts['times the smallest'] == problem.size
    assert counts['the F-test needs'] < problem.size


def test_correlated_residuals_remove_more(arm, reduction):
    """Noise that remembers ten samples: by its own covariance more parameters are uncertain."""
    # The same from blocks of time, for which the factors are enough.
    rng = np.random.default_rng(0)
    problem, _ = problem_of(arm, reduction, 1, 2000, time_blocks=16)
    dataset = problem.observations.data[0].dataset
    noise = rng.normal(size=dataset.effort.shape)
    for k in range(1, len(noise)):
        noise[k] += 0.9 * noise[k - 1]
    problem = arm_problem(
        arm, reduction, dataset.motion, dataset.effort + 2.0 * NOISE * noise, time_blocks=16
    )
    removed = {
        kind: int(np.sum(EssentialParameters(covariance=kind).estimate(each).active))
        for kind, each in (
            ('residual', problem), ('hac', problem),
            ('blocks', replace(problem, observations=None)),
        )
    }
    assert removed['hac'] >= removed['residual']
    assert removed['blocks'] >= removed['residual']
    assert removed['hac'] > 0
