# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Drives and encoders: what a driver says, and what the model makes of it; joints at rest."""

from dataclasses import replace

from builders import joint, link, mixed_urdf, robot_urdf
from hypothesis import given, strategies as st
from known_models import base_of, pinocchio_torque
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DataError, DescriptionError, UsageError
from robot_identification.model import (
    dump_model, held_leaders, IdentifiedModel, joint_parameters, last_link, load_model, load_robot,
    Motion, mount_tool, parse_urdf, Payload, payload_from_parameters, prior_inertial_parameters,
    SignalSource, to_frame, Tool, tool_frame, tool_placements, with_payload,
)
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


def any_payload(seed, frame='tool0'):
    """Return the payload of three to six point masses: it can be."""
    rng = np.random.default_rng(seed)
    masses = rng.uniform(0.1, 1.0, rng.integers(3, 7))
    places = rng.normal(scale=0.1, size=(len(masses), 3))
    centre = masses @ places / masses.sum()
    about = places - centre
    inertia = sum(
        m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, about, strict=True)
    )
    return Payload(float(masses.sum()), centre, inertia, frame)


@given(SEEDS)
def test_parameters_are_those_of_pinocchio(seed):
    payload = any_payload(seed)
    expected = pin.Inertia(payload.mass, payload.center_of_mass, payload.inertia)
    # Sums of a few products: rounding.
    np.testing.assert_allclose(
        payload.parameters, expected.toDynamicParameters(), rtol=0, atol=1e-14
    )
    assert payload.is_possible
    back = payload_from_parameters(payload.parameters, 'tool0')
    np.testing.assert_allclose(back.inertia, payload.inertia, rtol=0, atol=1e-13)


@given(SEEDS)
def test_to_frame_inverts_joint_parameters(robots, seed):
    robot = robots['ur5']
    payload = any_payload(seed, 'flange')
    back = to_frame(robot, 'flange') @ joint_parameters(robot, payload)
    np.testing.assert_allclose(back, payload.parameters, rtol=0, atol=1e-13)


def test_frames_come_from_the_urdf(robots):
    """The tool's frame where there is one, else the last link's; others only if fixed to it."""
    assert last_link(robots['ur5']) == 'wrist_3_link'
    assert tool_frame(robots['ur5']) == 'tool0'
    assert tool_frame(robots['youbot']) == 'arm_link_5'
    assert tool_frame(robots['ur5'], 'flange') == 'flange'
    with pytest.raises(UsageError, match=r'no link forearm_link is fixed .* wrist_3_link, flange'):
        tool_frame(robots['ur5'], 'forearm_link')


def model_of(robot, **changes):
    """Return an identified model with the URDF's own parameters."""
    reduction, theta = base_of(robot), prior_inertial_parameters(robot)
    return IdentifiedModel(
        robot, 'Nm', reduction, reduction.K @ theta, np.eye(reduction.rank), theta, '',
        SignalSource(), {}, {}, **changes,
    )


def test_model_with_payload_moves_as_pinocchio_with_the_body(robots, rng):
    """Appended to the last link, Pinocchio's own inverse dynamics give the same torques."""
    robot, payload = robots['ur5'], any_payload(1)
    motion = Motion(*rng.normal(size=(3, 20, robot.n)))
    found = with_payload(model_of(robot), payload)
    loaded = robot.pinocchio.copy()
    frame = loaded.frames[loaded.getFrameId('tool0')]
    loaded.appendBodyToJoint(frame.parentJoint, pin.Inertia(
        payload.mass, payload.center_of_mass, payload.inertia), frame.placement)
    expected = pinocchio_torque(loaded, motion)
    # Base parameters leave columns out that rounding sees: 1e-9 of some 100 N m.
    np.testing.assert_allclose(found.torque(motion), expected, rtol=0, atol=1e-7)
    assert found.theta_consistent is not None
    np.testing.assert_allclose(
        found.reduction.K @ found.theta_consistent, found.theta_base, rtol=0, atol=1e-10
    )


def test_what_is_no_payload_is_refused(robots):
    payload = any_payload(1)
    with pytest.raises(UsageError, match=r'3 x 3 numbers, not \(2,\)'):
        replace(payload, center_of_mass=np.zeros(2))
    with pytest.raises(UsageError, match='finite numbers'):
        replace(payload, mass=np.nan)
    with pytest.raises(UsageError, match='symmetric'):
        replace(payload, inertia=np.triu(np.ones((3, 3))))
    with pytest.raises(DataError, match='without mass has no centre'):
        payload_from_parameters(np.zeros(10), 'tool0')
    with pytest.raises(UsageError, match=r'relative scale: a payload in kg cannot be added'):
        with_payload(model_of(robots['ur5'], relative_scale=True), payload)
    assert not replace(payload, inertia=np.diag([1.0, 0.1, 0.1])).is_possible
    assert replace(payload, inertia=np.zeros((3, 3))).is_possible


def test_the_model_file_keeps_what_was_added(model_file, tmp_path):
    """Read again it predicts the same, and says which bodies are in its parameters."""
    bare = load_model(model_file)
    payload = Payload(
        1.5, np.array([0.01, 0.0, 0.08]), np.diag([0.01, 0.012, 0.008]), last_link(bare.robot)
    )
    path = tmp_path / 'with_payload.yaml'
    path.write_text(dump_model(with_payload(bare, payload)), encoding='utf-8')
    again = load_model(path)
    kept, = again.payloads
    assert (kept.mass, kept.frame) == (payload.mass, payload.frame)
    np.testing.assert_array_equal(kept.center_of_mass, payload.center_of_mass)
    np.testing.assert_array_equal(kept.inertia, payload.inertia)
    np.testing.assert_array_equal(again.theta_base, with_payload(bare, payload).theta_base)
    assert bare.payloads == ()


# --- a tool in the URDF ------------------------------------------------------------------


LENGTHS = st.tuples(*[st.floats(0.01, 0.5)] * 3)


def with_tool(robot, tool):
    text = mount_tool(robot.urdf.text, 'ur5', tool_frame(robot), tool)
    return load_robot('ur5', urdf=parse_urdf(text, 'ur5 with a tool'))


@given(st.floats(0.1, 10.0), LENGTHS, LENGTHS)
def test_only_the_last_link_grows_by_the_tool(ur5, mass, center, size):
    """What is added to its parameters is the tool's solid box, to rounding of the text."""
    tool = Tool(mass, center, size)
    bare, carrying = (
        prior_inertial_parameters(robot).reshape(robot.n, 10)
        for robot in (ur5, with_tool(ur5, tool))
    )
    np.testing.assert_allclose(carrying[:-1], bare[:-1], atol=1e-12)
    x, y, z = np.square(size) * mass / 12.0
    box = Payload(mass, np.array(center), np.diag([y + z, x + z, x + y]), 'tool0')
    placement = tool_placements(ur5)['tool0']
    expected = placement.act(pin.Inertia(mass, box.center_of_mass, box.inertia))
    added = payload_from_parameters(carrying[-1] - bare[-1], 'last')
    # Masses of 0.1 kg beside links of kilograms, subtracted.
    assert added.mass == pytest.approx(mass, abs=1e-9)
    np.testing.assert_allclose(added.center_of_mass, expected.lever, atol=1e-7)
    np.testing.assert_allclose(added.inertia, expected.inertia, atol=1e-7)
