# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The sections of an identification's report say what is known of made-up arms."""

from dataclasses import replace

import numpy as np
import pytest
from report import report_cases
from robot_identification.estimation.uncertainty.intervals import (
    find_needed_terms, schwarz_criterion,
)
from robot_identification.report.explanation import Scored
from robot_identification.report.friction import (
    friction_picture, friction_points, sliding_friction,
)
from robot_identification.report.parameters import coefficients
from robot_identification.validation.validation import predict_effort


@pytest.fixture(scope='module')
def found():
    """Return the identification of an arm of three joints whose truth is known."""
    return report_cases.identify_chain(3, 2)


@pytest.fixture(scope='module')
def bags(found):
    return [
        Scored(dataset, predict_effort(found.model, dataset), dataset.fitted, errors)
        for dataset, errors in zip(found.datasets, found.cross_validation, strict=True)
    ]


def test_intervals_hold_the_truth(found):
    """Of all parameters but a few: 95 of 100 do by their definition, the noise being white."""
    rows = coefficients(found.model, ('Ia2',))
    truth = found.model.reduction.K @ found.model.theta_consistent
    inside = [row.low <= value <= row.high for row, value in zip(rows, truth, strict=True)]
    # Four of thirty outside happen in one of fifteen arms.
    assert np.mean(inside) > 0.85
    for row in rows:
        middle = 0.5 * (row.low + row.high)
        assert row.value == pytest.approx(middle)
        assert row.by_prior == (row.name == 'Ia2')


def test_friction_points_lie_on_the_true_friction(found, bags):
    """Bins and curve are Coulomb, viscous and offset of the truth, in both directions."""
    for points in friction_points(found.model, bags):
        for values in (points.bins, *points.curve):
            speed, friction = values[:2]
            fast = np.abs(speed) > 0.1
            expected = (
                report_cases.COULOMB * np.sign(speed) + report_cases.VISCOUS * speed
                + report_cases.OFFSET
            )
            # A bin holds at least ten samples of the noise; bodies are known far better.
            np.testing.assert_allclose(
                friction[fast], expected[fast], atol=4.0 * report_cases.NOISE / np.sqrt(10.0)
            )
        assert points.bins.shape[1] > 10 and len(points.curve) == 2
        assert points.temperature == pytest.approx(31.5)
        assert points.joint in friction_picture(points).alternative


def test_steady_sliding_is_the_laws_sum(found):
    speeds = np.array([0.2, 0.5, 1.0])
    model = found.model
    theta = dict(zip(model.parameters.names, model.theta_lifted, strict=True))
    torque, error = sliding_friction(model, 1, -speeds, 5.0, float('nan'))
    expected = theta['f02'] - theta['fc2'] - theta['fv2'] * speeds
    # Far from rest the smooth sign of the law is one to rounding.
    np.testing.assert_allclose(torque, expected, rtol=1e-6)
    # The error is that of the sum, by the covariance of the three coefficients.
    W = np.column_stack([-np.ones(3), -speeds, np.ones(3)])
    rows = [model.reduction.names.index(name) for name in ('fc2', 'fv2', 'f02')]
    covariance = model.covariance[np.ix_(rows, rows)]
    np.testing.assert_allclose(error**2, np.diag(W @ covariance @ W.T), rtol=1e-6)


def test_schwarz_criterion_by_hand(found):
    """``N log(s^2)`` summed over joints, and log(rows) for each parameter and noise."""
    problem, unknowns = found.estimate.problem, found.estimate.unknowns
    variance = problem.squared_residuals(unknowns) / problem.samples
    expected = 0.1 * problem.samples @ np.log(variance)
    expected += (problem.size + 3) * np.log(0.1 * problem.samples.sum())
    assert schwarz_criterion(problem, unknowns, 0.1) == pytest.approx(expected)


def test_terms_that_are_there_are_needed(found):
    """What the recordings were made with is needed; a term that is not there mostly is not."""
    groups = find_needed_terms(found)
    kinds = {group.kind for group in groups}
    assert {'coulomb', 'viscous', 'rotor inertia'} <= kinds
    for group in groups:
        if group.kind in ('coulomb', 'viscous'):
            assert group.finding == 'needed' and group.bic > 0.0
        # Residuals are white: both tests are the same one.
        assert group.white_p == pytest.approx(group.p_value, abs=1e-6)
    names = found.model.reduction.names
    absent = replace(found.model, theta_base=np.where(
        [name == 'fc2' for name in names], 0.0, found.model.theta_base
    ))
    one = next(
        group for group in find_needed_terms(replace(found, model=absent))
        if group.parameters == ('fc2',)
    )
    assert one.p_value == pytest.approx(1.0)
    assert one.finding == 'not shown to be needed'


def test_with_a_prior_only_the_covariance_is_asked(found):
    """Sums of squares say nothing of a fit that more than the data decided."""
    held = found.estimate.active.copy()
    held[0] = True
    for group in find_needed_terms(replace(found, estimate=replace(found.estimate, active=held))):
        assert np.isnan(group.white_p) and np.isnan(group.bic)
        assert np.isfinite(group.p_value)


def test_a_group_without_errors_cannot_be_told(found):
    model = replace(found.model, covariance=np.zeros_like(found.model.covariance))
    groups = find_needed_terms(replace(found, model=model))
    assert {group.finding for group in groups} == {'not determined'}
