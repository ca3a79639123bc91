# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Identifiability classes in both conventions, and that the reasons given are the true ones."""

from builders import joint, link, robot_urdf
from known_models import base_of
import numpy as np
import pytest
from robot_identification.model import (
    CLASSES, gravity_of_mounting, inertial_regressor, linear_classes, link_frames, load_robot,
    make_robot_model, Motion, parse_urdf, physical_classes, reduce_to_base, unidentifiable_reasons,
)

GROUND, WALL = (0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0)


def classes_of(name, mounting=GROUND, frames='dh', drives=True):
    """Return robot, frames and reduction."""
    robot = load_robot(name, gravity=gravity_of_mounting(*mounting))
    friction, stated = 'coulomb,viscous' if drives else 'none', link_frames(robot, frames)
    return robot, stated, base_of(robot, friction, drives, frames=stated)


def counts(classes):
    return tuple(len(classes[kind]) for kind in CLASSES)


@pytest.mark.parametrize('name', ['ur3', 'ur5', 'ur10e', 'ur5_porcelli'])
@pytest.mark.parametrize(
    ('mounting', 'frames', 'linear', 'physical'),
    [
        (GROUND, 'dh', (36, 33, 9), (30, 39, 9)),
        (WALL, 'dh', (37, 34, 7), (30, 42, 6)),
        (GROUND, 'mdh', (36, 31, 11), (30, 38, 10)),
        (WALL, 'joint', (37, 33, 8), (30, 42, 6)),
    ],
)
def test_published_counts(name, mounting, frames, linear, physical):
    """Raviola et al. 2021 print 30/39/9 and 30/42/6, counting masses and centres (numbers B3)."""
    _, _, reduction = classes_of(name, mounting, frames)
    assert counts(linear_classes(reduction)) == linear
    assert counts(physical_classes(reduction)) == physical


@pytest.mark.parametrize('frames', ['joint', 'dh', 'mdh'])
@pytest.mark.parametrize('name', ['ur5', 'youbot', 'ur5_porcelli_bse'])
def test_classes_are_those_of_the_null_space(name, frames):
    """A parameter is seen alone exactly if no null vector of the regressor has a part along it."""
    # That is so whatever set of base parameters is chosen; null vectors are found by SVD of other
    # random samples, where "no part" is 1e-12 and the smallest part of a combined one 0.1.
    robot, stated, reduction = classes_of(name, frames=frames, drives=False)
    rng = np.random.default_rng(7)
    n = robot.n
    motion = Motion(*(rng.uniform(-3, 3, (150, n)) for _ in range(3)))
    W = inertial_regressor(robot, motion) @ stated.to_joint_frames()
    _, singular, Vt = np.linalg.svd(W)
    null = Vt[np.count_nonzero(singular > 1e-9 * singular[0]):].T
    part = np.linalg.norm(null, axis=1)
    alone = {reduction.parameters.names[i] for i in np.flatnonzero(part < 1e-9)}
    hidden = {
        reduction.parameters.names[i]
        for i in np.flatnonzero(np.linalg.norm(W, axis=0) < 1e-9 * np.linalg.norm(W))
    }
    found = linear_classes(reduction)
    assert set(found['identifiable']) == alone
    assert set(found['unidentifiable']) == hidden


@pytest.mark.parametrize('frames', ['joint', 'dh', 'mdh'])
@pytest.mark.parametrize('mounting', [GROUND, WALL])
@pytest.mark.parametrize('name', ['ur5', 'youbot'])
def test_reasons_are_true(name, mounting, frames):
    """What is blamed on gravity is seen when the arm is tilted, and nothing else is."""
    robot, stated, reduction = classes_of(name, mounting, frames)
    reasons = unidentifiable_reasons(robot, reduction, stated)
    hidden = linear_classes(reduction)['unidentifiable']
    assert sorted(reasons) == sorted(hidden)
    tilted = robot.with_gravity([3.0, -2.0, -8.0])
    then = linear_classes(reduce_to_base(tilted, reduction.parameters, frames=stated))
    for parameter, reason in reasons.items():
        assert ('parallel to gravity' in reason) == (parameter not in then['unidentifiable'])
    if mounting == WALL:
        assert not any('gravity' in reason for reason in reasons.values())


def test_a_link_that_only_slides_shows_its_mass_only():
    """Of a slider on a rail: the mass, and why not the rest."""
    robot = make_robot_model(parse_urdf(robot_urdf(
        link('rail'), link('cart'), joint('slide', 'rail', 'cart', 'prismatic', (1, 0, 0)),
    ), 'cart'))
    reduction = base_of(robot)
    assert reduction.names == ('m1',)
    reasons = unidentifiable_reasons(robot, reduction)
    assert len(reasons) == 9
    assert all('only slides' in reason for reason in reasons.values())
