# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The URDF as a prior is the quadratic form that it should be, and taken of the right links."""

from known_models import base_of
import numpy as np
import pytest
from robot_identification.estimation.prior import cad_prior
from robot_identification.estimation.selection import choose
from robot_identification.validation import Trial


@pytest.mark.parametrize('name', ['ur5', 'mixed'])
@pytest.mark.parametrize('laws', ['none', 'coulomb,viscous,offset', 'dictionary,offset'])
@pytest.mark.parametrize('rotors', [True, False])
def test_rows_give_the_quadratic_form(robots, rng, name, laws, rotors):
    """Against ``weight (b - b0)' (K S K')^-1 (b - b0)`` with a dense inverse."""
    # Friction laws have no part in it. With rotors S has numbers from 1e-9 to 1e6; equilibrated,
    # the inverse is right to 1e-9.
    robot, weight, nuisance = robots[name], 7.0, 5
    reduction = base_of(robot, laws, rotors)
    parameters = reduction.parameters
    prior = cad_prior(robot)
    term = prior.term(reduction, reduction.rank + nuisance, weight)
    inertial = 10 * robot.n
    mean, deviation = np.zeros(parameters.size), np.zeros(parameters.size)
    mean[:inertial], deviation[:inertial] = prior.inertial, prior.deviation
    deviation[parameters.reflected_inertia_slice] = 1e3
    friction = range(parameters.size)[parameters.friction_slice]
    rows = [row for row, column in enumerate(reduction.independent) if column not in friction]
    K = reduction.K[rows]
    covariance = K @ np.diag(deviation**2) @ K.T
    scale = np.sqrt(np.diag(covariance))
    inverse = np.linalg.inv(covariance / np.outer(scale, scale))
    for _ in range(5):
        away = rng.normal(size=len(rows))
        unknowns = rng.normal(size=reduction.rank + nuisance)
        unknowns[rows] = K @ mean + away * scale
        expected = weight * away @ inverse @ away
        squares = np.sum((term.matrix @ unknowns - term.side) ** 2)
        assert squares == pytest.approx(expected, rel=1e-6)
    others = np.setdiff1d(np.arange(reduction.rank + nuisance), rows)
    np.testing.assert_array_equal(term.matrix[:, others], 0.0)


def test_the_urdf_itself_costs_nothing(ur5):
    """Nor does anything else with its base parameters; without weight there are no rows."""
    reduction = base_of(ur5, 'viscous', rotors=True)
    prior = cad_prior(ur5)
    theta = np.concatenate([prior.inertial, np.ones(6), np.zeros(6)])
    term = prior.term(reduction, reduction.rank, 100.0)
    size = np.abs(term.matrix) @ np.abs(reduction.K @ theta)
    found = term.matrix @ reduction.K @ theta
    np.testing.assert_allclose(found, term.side, atol=1e-9 * size.max())
    assert prior.term(reduction, reduction.rank, 0.0) is None


def test_how_far_a_urdf_may_be_wrong(robots):
    """By hand: 30 % of the mass, 15 cm of the centre, 30 % of the largest principal inertia."""
    # That inertia is about the joint frame's origin; a link without mass has a floor.
    robot = robots['mixed']
    prior = cad_prior(robot)
    links = list(robot.pinocchio.inertias)[1:]
    for link, body in enumerate(links):
        centre = body.lever
        tensor = body.inertia + body.mass * (centre @ centre * np.eye(3)
                                             - np.outer(centre, centre))
        own = prior.deviation[10 * link: 10 * link + 10]
        assert own[0] == pytest.approx(0.3 * body.mass)
        np.testing.assert_allclose(own[1:4], 0.15 * body.mass)
        np.testing.assert_allclose(own[4:], 0.3 * np.linalg.eigvalsh(tensor)[-1])
        np.testing.assert_allclose(
            prior.inertial[10 * link: 10 * link + 4], body.mass * np.append(1.0, centre)
        )
    assert prior.reflected_inertia_deviation == 1e3


def trial(by_fold):
    return Trial('', (), np.array(by_fold))


@pytest.mark.parametrize('scatter, level', [
    # Standard errors and quantiles of Student's distribution by hand, of four and two freedoms.
    ([1.0, -1.0, 0.5, -0.5, 0.0], 0.35355 * 2.7764), ([1.0, -1.0, 0.0], 0.57735 * 4.3027),
])
def test_better_is_sure_by_the_t_distribution(scatter, level):
    """At 97.5 %; fewer blocks ask for more."""
    zero = trial(np.zeros(len(scatter)))
    assert not zero.is_surely_better_than(trial(0.999 * level + np.array(scatter)))
    assert zero.is_surely_better_than(trial(1.001 * level + np.array(scatter)))


@pytest.mark.parametrize('with_tool', [False, True])
def test_a_tool_that_the_urdf_lacks_is_no_prior(with_tool):
    """The other links still are; without a tool all are. The truth is MuJoCo's."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    from validation_studies.wrong_recordings import AUTOMATIC, make_arm
    made = make_arm('ur5', 0, with_tool=with_tool)
    choice = choose(made.robot, [made.training], 'A', AUTOMATIC, with_prior=True)
    tool = 'the link behind wrist_3_joint is another body than in the URDF'
    assert any(note.startswith(tool) for note in choice.notes) == with_tool
    wide = choice.estimator.prior.deviation == cad_prior(made.robot, range(6)).deviation
    assert wide[50:].all() == wide[50:].any() == with_tool
    # Of the link before it the effort itself contradicts the URDF.
    assert not wide[:40].any()
    assert choice.estimator.prior_weight > 0.0
