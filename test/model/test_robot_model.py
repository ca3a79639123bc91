# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Drives and encoders: what a driver says, and what the model makes of it; joints at rest."""

from dataclasses import replace

from builders import joint, link, mixed_urdf, robot_urdf
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.model import held_leaders, load_robot, parse_urdf
from robot_identification.model.robot_model import Drives, make_robot_model, unknown_drives

# J. Rajagopal, R&D report, Bonn-Rhein-Sieg 2017, table 3.1 [deg], joints 1 to 5: what the youBot
# reads at one end, straight up and at the other end; and the model's positions there. The last
# minimum has lost its sign in print.
READINGS = np.radians([
    [0.0, 0.0, 0.0, 0.0, 0.0], [169.0, 65.0, -146.0, 102.5, 167.5],
    [338.0, 155.0, -297.0, 205.0, 335.0],
])
POSITIONS = np.radians([
    [-169.0, -65.0, 146.0, -102.5, -167.5], [0.0, 0.0, 0.0, 0.0, 0.0],
    [169.0, 90.0, -151.0, 102.5, 167.5],
])
SEEDS = st.integers(0, 2**32 - 1)


def test_youbots_readings_are_the_models_positions():
    """Row by row, there and back; 1e-12 is rounding of degrees."""
    encoders = load_robot('youbot').encoders
    np.testing.assert_allclose(encoders.to_model(READINGS), POSITIONS, rtol=0, atol=1e-12)
    np.testing.assert_allclose(encoders.to_reading(POSITIONS), READINGS, rtol=0, atol=1e-12)
    # They go with their joints.
    arm = load_robot('youbot', joints=['arm_joint_2', 'arm_joint_3'])
    np.testing.assert_allclose(
        arm.encoders.to_model(READINGS[:, 1:3]), POSITIONS[:, 1:3], rtol=0, atol=1e-12
    )


@given(seed=SEEDS)
def test_torque_and_current_there_and_back(seed):
    """Gains of both signs, one sample or many; a product and a quotient are right to 1e-15."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], 6)
    drives = Drives(signs * rng.uniform(50, 160, 6), rng.uniform(0.02, 0.2, 6), np.zeros(6))
    for current in (rng.uniform(-8, 8, 6), rng.uniform(-8, 8, (9, 6))):
        tau = drives.to_torque(current)
        np.testing.assert_allclose(drives.to_current(tau), current, rtol=1e-14)
        np.testing.assert_allclose(
            tau, current * drives.gear_ratio * drives.torque_constant, rtol=1e-14
        )


def test_unknown_gains_stay_unknown():
    """What is NaN stays NaN, joint by joint; never zero torque, and no warning either."""
    drives = Drives(
        np.array([100.0, np.nan, 100.0]), np.array([0.1, 0.1, np.nan]), np.full(3, np.nan)
    )
    for convert in (drives.to_torque, drives.to_current):
        found = convert(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))
        assert np.isnan(found).tolist() == [[False, True, True]] * 2
    assert np.all(np.isnan(unknown_drives(3).to_torque(np.ones(3))))
    assert np.all(np.isnan(unknown_drives(3).to_current(np.ones(3))))
    assert np.all(np.isnan(drives.reflected_inertia))


def coupled_urdf(mimics):
    """Return an arm of joints a to d in a row; `mimics` says which one follows which."""
    names = 'abcd'
    return parse_urdf(robot_urdf(
        link('l0'), *(link(f'l{number}') for number in range(1, 5)),
        *(
            joint(
                name, f'l{number}', f'l{number + 1}',
                more=f'<mimic joint="{mimics[name]}"/>' if name in mimics else '',
            )
            for number, name in enumerate(names)
        ),
    ), 'coupled')


@pytest.mark.parametrize(
    ('mimics', 'moving'),
    [
        ({}, 'abcd'), ({'b': 'a'}, 'cd'), ({'a': 'd'}, 'bc'), ({'b': 'a', 'c': 'a'}, 'd'),
        ({'b': 'a', 'c': 'b'}, 'd'),
    ],
    ids=['none', 'pair', 'pair far apart', 'one leads two', 'a chain'],
)
def test_followers_and_leaders_are_locked_together(mimics, moving):
    """Two axes on one motor are no joint of the model; the others move."""
    urdf = coupled_urdf(mimics)
    robot = make_robot_model(urdf)
    assert robot.joint_names == tuple(moving)
    assert robot.locked == dict.fromkeys((name for name in 'abcd' if name not in moving), 0.0)
    assert robot.pinocchio.nq == len(moving)
    for name in set('abcd') - set(moving):
        with pytest.raises(UsageError, match=f'joint {name} of .* is coupled with [abcd].*leave'):
            make_robot_model(urdf, joints=sorted({*moving, name}))


def balanced_arm(piston, *more):
    """Return an arm of joints a to d in a row; a piston on its second link follows b."""
    return parse_urdf(robot_urdf(
        *(link(f'l{number}') for number in range(5)),
        *(joint(name, f'l{number}', f'l{number + 1}') for number, name in enumerate('abcd')),
        piston, joint('e', 'l2', 'piston', more='<mimic joint="b" multiplier="-0.25"/>'), *more,
    ), 'balanced')


def test_a_joint_moves_where_what_follows_it_is_only_drawn():
    """A massless piston changes no torque: it stands on its link, and its leader moves."""
    urdf = balanced_arm('<link name="piston"/>')
    robot = make_robot_model(urdf)
    assert robot.joint_names == tuple('abcd')
    assert robot.locked == {'e': 0.0}
    assert robot.remarks == (
        'held fixed: e (coupled by mimic); --joints chooses others',
    )
    assert make_robot_model(urdf, joints='abcd').joint_names == tuple('abcd')
    assert not held_leaders(urdf, robot.joint_names)


@pytest.mark.parametrize(('piston', 'more'), [
    (link('piston'), ()),
    # Behind it, on a joint of its own, on one that follows it, or fixed to it.
    ('<link name="piston"/>', ('<link name="end"/>', joint('f', 'piston', 'end'))),
    ('<link name="piston"/>', (link('end'), joint('f', 'l2', 'end', more='<mimic joint="e"/>'))),
    ('<link name="piston"/>', (link('end'), joint('f', 'piston', 'end', 'fixed', limit=''))),
])
def test_a_joint_is_held_where_what_follows_it_matters(piston, more):
    urdf = balanced_arm(piston, *more)
    with pytest.raises(UsageError, match=r'joint b of .* is coupled with e'):
        make_robot_model(urdf, joints='abcd')
    assert held_leaders(urdf, 'acd') == {'b': 'e'}
    assert not held_leaders(urdf, 'cd')


def test_joints_are_chosen_in_order_and_once(ur5):
    first, second = ur5.joint_names[:2]
    for joints in ((second, first), (first, first)):
        with pytest.raises(UsageError, match=f'once each and in kinematic order: {first}'):
            make_robot_model(ur5.urdf, joints=joints)
    with pytest.raises(UsageError, match=r'no joint elbow in the URDF .* moving joints are shoul'):
        make_robot_model(ur5.urdf, joints=['elbow'])
    with pytest.raises(UsageError, match='no joint of the URDF'):
        make_robot_model(ur5.urdf, joints=[])


@pytest.mark.parametrize('position', [3.5, -3.5, np.nan, np.inf])
def test_a_joint_cannot_stand_outside_its_limits(ur5, position):
    """The elbow's half turn, both ways; nowhere is outside, too."""
    with pytest.raises(DescriptionError, match=r'joint elbow_joint .* is locked at .* are -3'):
        make_robot_model(
            ur5.urdf, joints=ur5.joint_names[:2], locked={'elbow_joint': position}
        )


def test_the_usual_unit_is_stated_or_follows_from_the_gains():
    """Currents need gains: of an arm without any, effort is torque."""
    robot = make_robot_model(parse_urdf(mixed_urdf(), 'mixed'))
    assert robot.effort_unit is None and robot.usual_effort_unit == 'Nm'
    assert robot.with_drive_gains([7.0, 8.0, 9.0]).usual_effort_unit == 'A'
    for unit in ('A', 'Nm'):
        assert replace(robot, effort_unit=unit).usual_effort_unit == unit
