# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""An arm of the user's, a URDF and a YAML: joints that slide, stand still or are coupled."""

import json
from pathlib import Path

from builders import joint, link, robot_urdf
from known_models import mujoco_torque
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import dump_yaml
from robot_identification.model import (
    check_table, for_simulation, link_frames, load_robot, make_robot_model, Motion, parse_urdf,
    rigid_torque,
)
from robot_identification.model.denavit_hartenberg import derive_table

ARM = ('pan', 'lift', 'slide', 'wrist')
GRAVITY = (1.0, -2.0, -9.5)
LIMITS = {
    'pan': '<limit velocity="3" effort="80"/>',
    'lift': '<limit lower="0.2" upper="1.5" velocity="3" effort="60"/>',
    'slide': '<limit lower="-0.3" upper="0.4" velocity="1" effort="90"/>',
    'wrist': '<limit lower="-2" upper="2" velocity="3" effort="20"/>',
    'left': '<limit lower="0" upper="0.04" velocity="0.2" effort="20"/>',
}
HAND = {'mass': 1.2, 'centre': (0.08, -0.02, 0.05), 'principal': (0.006, 0.009, 0.008),
        'rpy': (-0.2, 0.4, 0.0)}
TOOL = {'mass': 0.7, 'centre': (0.01, 0.02, 0.08), 'principal': (0.002, 0.003, 0.004),
        'rpy': (0.3, 0.0, -0.5)}
TOOL_POSE = {'xyz': (0.05, 0.0, 0.1), 'rpy': (0.4, -0.3, 0.2)}


def arm_elements(hand):
    """Return links and joints of four joints; the third one slides, no frames are aligned."""
    return (
        link('ground'),
        link('tower', 4.0, (0.03, 0.01, 0.2), (0.05, 0.06, 0.03), (0.1, 0.2, 0.3)),
        link('beam', 3.0, (0.2, 0.0, 0.05), (0.02, 0.08, 0.07), (0.0, 0.1, 0.0)),
        link('slider', 2.5, (-0.05, 0.04, 0.06), (0.02, 0.03, 0.015), (0.3, -0.2, 0.1)),
        hand,
        joint('pan', 'ground', 'tower', 'continuous', rpy=(0.2, 0, 0), limit=LIMITS['pan']),
        joint('lift', 'tower', 'beam', 'revolute', (0, 1, 0), (0.1, 0, 0.3), (0, 0.1, 0.3),
              LIMITS['lift']),
        joint('slide', 'beam', 'slider', 'prismatic', (2, 0, 1), (0.3, 0, 0.05), (0, 0.4, 0.1),
              LIMITS['slide']),
        joint('wrist', 'slider', 'hand', 'revolute', (0, 0.6, 0.8), (0.2, 0.05, 0), (0.1, 0, 0.5),
              LIMITS['wrist']),
    )


def gripper_elements():
    """Return a tool that is fixed to the hand, with two fingers of one motor."""
    return (
        link('tool', **TOOL),
        joint('mount', 'hand', 'tool', 'fixed', limit='', **TOOL_POSE),
        link('left_finger', 0.1, (0.0, 0.01, 0.02), (1e-4, 2e-4, 1.5e-4)),
        link('right_finger', 0.1, (0.0, -0.01, 0.02), (1e-4, 2e-4, 1.5e-4)),
        joint('left', 'tool', 'left_finger', 'prismatic', (0, 1, 0), (0, 0.02, 0.1),
              limit=LIMITS['left']),
        joint('right', 'tool', 'right_finger', 'prismatic', (0, -1, 0), (0, -0.02, 0.1),
              limit=LIMITS['left'], more='<mimic joint="left"/>'),
    )


@pytest.fixture
def write_arm(tmp_path):
    """Return a function that writes the arm's URDF and YAML, and returns the YAML's path."""
    text = robot_urdf(*arm_elements(link('hand', **HAND)), *gripper_elements(), name='mine')
    (tmp_path / 'mine.urdf').write_text(text)
    path = tmp_path / 'mine.yaml'

    def write(joints=ARM, **more):
        entries = joints if isinstance(joints, dict) else {name: {} for name in joints}
        path.write_text(dump_yaml({
            'schema_version': 1, 'name': 'mine', 'urdf': 'mine.urdf', 'joints': entries, **more,
        }))
        return str(path)

    return write


def random_states(rng, robot, samples=10):
    return Motion(
        rng.uniform(np.clip(robot.limits.lower, -3, 3), np.clip(robot.limits.upper, -3, 3),
                    (samples, robot.n)),
        *rng.uniform(-2.0, 2.0, (2, samples, robot.n)),
    )


def held(robot, full, motion, positions):
    """Return torques of the moving joints in a full arm whose other joints are held [Nm]."""
    q, dq, ddq = np.zeros((3, len(motion), full.n))
    moving = [full.joint_names.index(name) for name in robot.joint_names]
    for name, position in positions.items():
        q[:, full.joint_names.index(name)] = position
    for part, values in ((q, motion.q), (dq, motion.dq), (ddq, motion.ddq)):
        part[:, moving] = values
    return rigid_torque(full, Motion(q, dq, ddq))[:, moving]


def write_urdf(beside, text):
    path = Path(beside).with_name('other.urdf')
    path.write_text(text)
    return path


# Every joint of the arm in turn, at a place of its own.
STOPS = {'pan': 2.0, 'lift': 0.9, 'slide': -0.25, 'wrist': 1.1}


@pytest.mark.parametrize('where', ['yaml', 'option'])
@pytest.mark.parametrize('stopped', [*ARM, 'pan lift', 'slide wrist', 'pan slide wrist'])
def test_locked_joints_stand_where_they_are_told(write_arm, rng, stopped, where):
    """Torques of the joints that move are those of the whole arm with the others held there."""
    # Whether the YAML leaves them out or --joints; 1e-9 N m is far above rounding.
    stops = {name: STOPS[name] for name in stopped.split()}
    moving = [name for name in ARM if name not in stops]
    robot = (
        load_robot(write_arm(moving, locked=stops), gravity=GRAVITY) if where == 'yaml'
        else load_robot(write_arm(locked=STOPS), joints=moving, gravity=GRAVITY)
    )
    assert robot.joint_names == tuple(moving)
    assert {name: robot.locked[name] for name in stops} == stops
    motion, full = random_states(rng, robot), load_robot(write_arm(), gravity=GRAVITY)
    expected = held(robot, full, motion, stops)
    np.testing.assert_allclose(rigid_torque(robot, motion), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize('moving', [('pan', 'slide'), ('lift', 'wrist'), ('wrist',), ARM[1:]])
def test_chosen_joints_move_and_the_others_stand_at_neutral(command, write_arm, moving):
    """Zero, clipped to the limits: the lift cannot be lower than 0.2 rad."""
    path = write_arm()
    robot, full = load_robot(path, joints=moving), load_robot(path)
    neutral = {name: {'lift': 0.2}.get(name, 0.0) for name in ARM if name not in moving}
    assert robot.locked == {**neutral, 'left': 0.0, 'right': 0.0}
    np.testing.assert_array_equal(robot.limits.effort, [
        full.limits.effort[full.joint_names.index(name)] for name in moving
    ])
    outcome = command('base-parameters', '--robot', path, '--joints', *moving, '--json')
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)['joints'] == list(moving)


@pytest.mark.parametrize('kind', ['prismatic', 'revolute'])
def test_a_joint_without_stated_limits_is_locked_anywhere(write_arm, kind):
    """In a URDF 0 and 0 stand where a limit is unknown, which is no range to stay in."""
    for limit in ('<limit velocity="1" effort="9"/>', '<limit lower="0" upper="0"/>', ''):
        text = robot_urdf(
            link('ground'), link('one'), link('two'), joint('turn', 'ground', 'one'),
            joint('free', 'one', 'two', kind, limit=limit), name='mine',
        )
        path = write_arm(['turn'], locked={'free': 0.7})
        robot = load_robot(path, urdf=write_urdf(path, text))
        assert robot.locked == {'free': 0.7}


def simulated_torque(robot, motion):
    """Return MuJoCo's inverse dynamics of the description for simulators [Nm]."""
    mujoco = pytest.importorskip('mujoco', reason='MuJoCo, the other opinion, is not installed')
    model = mujoco.MjModel.from_xml_string(for_simulation(robot.urdf.text, robot.locked))
    assert [model.joint(index).name for index in range(model.njnt)] == list(robot.joint_names)
    model.opt.gravity[:] = robot.gravity
    return mujoco_torque(mujoco, model, motion, robot.joint_names)


@pytest.mark.parametrize('stopped', ['', 'lift', 'slide', 'pan slide', 'lift wrist'])
def test_simulators_get_the_same_locked_arm(write_arm, rng, stopped):
    """Fixed joints of MuJoCo and a reduced model of Pinocchio have the same torques."""
    # MuJoCo works on quaternions and principal moments in double precision: 1e-9 N m.
    stops = {name: STOPS[name] for name in stopped.split()} | {'left': 0.03, 'right': 0.01}
    moving = [name for name in ARM if name not in stops]
    robot = load_robot(write_arm(moving, locked=stops), gravity=GRAVITY)
    motion = random_states(rng, robot)
    if not stopped:
        # What is fixed to the hand is a part of it: tool and fingers.
        assert robot.pinocchio.inertias[4].mass == pytest.approx(1.2 + 0.7 + 2 * 0.1)
    np.testing.assert_allclose(
        rigid_torque(robot, motion), simulated_torque(robot, motion), rtol=0, atol=1e-9
    )


def table_entry(table, base):
    pose = pin.SE3(base)
    return {
        'convention': table.convention,
        'base': {'xyz': pose.translation.tolist(),
                 'rpy': pin.rpy.matrixToRpy(pose.rotation).tolist()},
        **{key: getattr(table, key).tolist() for key in ('a', 'alpha', 'd', 'theta')},
    }


@pytest.mark.parametrize('stopped', ['', 'lift', 'slide', 'pan', 'slide wrist'])
def test_a_table_has_a_row_for_every_joint_of_the_yaml(write_arm, stopped):
    """One table for the arm, however many of its joints move: the rows of the others stand."""
    # Frames of the moving links are those of the arm with all joints moving; 1e-12 is rounding.
    full = load_robot(write_arm())
    table = derive_table(full.pinocchio)
    path = write_arm(denavit_hartenberg=table_entry(table, table.base), locked=STOPS)
    moving = [name for name in ARM if name not in stopped.split()]
    robot = load_robot(path, joints=moving)
    np.testing.assert_array_equal(
        robot.denavit_hartenberg.moving, [name in moving for name in ARM]
    )
    assert robot.denavit_hartenberg.prismatic.tolist() == [False, False, True, False]
    check_table(robot, robot.denavit_hartenberg)
    whole = link_frames(load_robot(path), 'mdh').placements
    for name, placement in zip(moving, link_frames(robot, 'mdh').placements, strict=True):
        np.testing.assert_allclose(
            placement.homogeneous, whole[ARM.index(name)].homogeneous, rtol=0, atol=1e-12
        )


TABLE = {'convention': 'modified', **{key: [0.0] * 4 for key in ('a', 'alpha', 'd', 'theta')}}
WRONG = {
    'a table without a column': (
        {'denavit_hartenberg': {k: v for k, v in TABLE.items() if k != 'd'}},
        'denavit_hartenberg: missing d',
    ),
    'a row too few': (
        {'denavit_hartenberg': {**TABLE, 'a': [0.0] * 3}}, 'hartenberg: a must be a list of 4 num',
    ),
    'locked joints as a list': ({'locked': ['left']}, 'locked is .* must be a mapping'),
    'an encoder that is a number': (
        {'joints': {'pan': {'encoder': 1.0}}}, 'pan: encoder is 1.0, it must be a mapping',
    ),
    'a sign of two': ({'joints': {'pan': {'encoder': {'sign': 2}}}}, 'pan: encoder: sign is 2'),
}


@pytest.mark.parametrize(('changes', 'message'), WRONG.values(), ids=WRONG)
def test_wrong_keys_of_a_yaml_are_refused_by_name(write_arm, changes, message):
    path = write_arm(**changes)
    with pytest.raises(DescriptionError, match=message) as refusal:
        load_robot(path)
    assert path in str(refusal.value)


def test_joints_that_cannot_be_locked_are_refused_by_name(write_arm):
    with pytest.raises(UsageError, match=r"no joint thumb in the URDF 'mine' to lock"):
        load_robot(write_arm(locked={'thumb': 0.0}))
    with pytest.raises(DescriptionError, match=r'joint lift .* at 0\.1, its limits are 0\.2'):
        load_robot(write_arm(['pan'], locked={'lift': 0.1}))


def test_a_locked_follower_stands_with_its_leader():
    """At multiplier times leader plus offset, within its limits; what is stated for it wins."""
    mimic = '<mimic joint="left" multiplier="-2" offset="0.1"/>'
    limit = '<limit lower="-0.3" upper="0.3" velocity="1" effort="9"/>'
    urdf = parse_urdf(robot_urdf(
        link('ground'), link('hand'), link('finger'), link('thumb'),
        joint('turn', 'ground', 'hand'),
        joint('left', 'hand', 'finger', 'prismatic', limit=limit),
        joint('right', 'hand', 'thumb', 'prismatic', limit=limit, more=mimic),
    ), 'arm')
    assert make_robot_model(urdf).locked == {'left': 0.0, 'right': 0.1}
    held = make_robot_model(urdf, locked={'left': 0.05}).locked
    assert held == {'left': 0.05, 'right': pytest.approx(0.0, abs=1e-15)}
    assert make_robot_model(urdf, locked={'left': 0.25}).locked['right'] == -0.3
    stated = make_robot_model(urdf, locked={'left': 0.05, 'right': 0.2}).locked
    assert stated == {'left': 0.05, 'right': 0.2}
