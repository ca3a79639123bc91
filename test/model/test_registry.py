# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The known robots: how strictly their files are read, and the published facts in them."""

import json
from pathlib import Path
import shutil

from builders import changed, DELETE, joint, link, robot_urdf, UR_JOINTS
from known_models import mujoco_torque
import numpy as np
from oracles import dh_chain
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model import (
    check_table, for_simulation, link_frames, make_robot_model, Motion, parse_urdf, rigid_torque,
)
from robot_identification.model.denavit_hartenberg import derive_table
from robot_identification.model.registry import known_robots, load_robot, share_directory
from robot_identification.model.robot_model import gravity_of_mounting, STANDARD_GRAVITY

DRIVERS = {
    'youbot': (tuple(f'arm_joint_{i}' for i in range(1, 6)), 'Nm', (50.0,)),
    'ur5_porcelli_bse': (UR_JOINTS[:3], 'A', (125.0,)),
    'ur5_porcelli_wrist': (UR_JOINTS[3:], 'A', (125.0,)),
}


@pytest.mark.parametrize('known', known_robots(), ids=lambda known: known.name)
def test_every_known_robot_is_complete(known):
    """Names, order, limits and unit as its driver has them; nothing needs a mesh."""
    robot = load_robot(known.name)
    assert robot.name == known.name
    joints, unit, rates = DRIVERS.get(known.name, (UR_JOINTS, 'A', (125.0, 500.0)))
    assert robot.joint_names == joints
    assert robot.effort_unit == unit
    assert robot.sampling_rate in rates
    np.testing.assert_array_equal(robot.gravity, STANDARD_GRAVITY)
    limits = robot.limits
    for values in (limits.velocity, limits.acceleration, limits.effort, limits.upper):
        assert np.all(np.isfinite(values) & (values > 0.0))
    assert np.all(limits.lower < limits.upper)
    assert known.description
    assert 'mesh' not in known.urdf.read_text()


def test_gains_given_replace_those_known(ur5, robots):
    gains = np.array([1.0, 2.0, 3.0, 4.0, 5.0, -6.0])
    changed = ur5.with_drive_gains(gains)
    np.testing.assert_allclose(changed.drives.drive_gain, gains, rtol=1e-15)
    np.testing.assert_array_equal(changed.drives.gear_ratio, ur5.drives.gear_ratio)
    assert not np.allclose(ur5.drives.drive_gain, gains), 'the arm itself is as it was'
    arm = robots['mixed'].with_drive_gains([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(arm.drives.drive_gain, [1.0, 2.0, 3.0])
    for wrong in (gains[:5], np.zeros(6), np.full(6, np.nan)):
        with pytest.raises(UsageError, match='drive gains'):
            ur5.with_drive_gains(wrong)


def test_mountings_are_those_of_the_literature():
    """Raviola et al. 2021, eq. 3: roll pi is the ceiling, roll pi / 2 a wall (numbers.md B11)."""
    expected = {
        (0.0, 0.0, 0.0): [0.0, 0.0, -9.81],
        (np.pi, 0.0, 0.0): [0.0, 0.0, 9.81],
        (np.pi / 2, 0.0, 0.0): [0.0, -9.81, 0.0],
        (0.0, np.pi / 2, 0.0): [9.81, 0.0, 0.0],
        (0.0, 0.0, 0.7): [0.0, 0.0, -9.81],
    }
    for mounting, gravity in expected.items():
        np.testing.assert_allclose(gravity_of_mounting(*mounting), gravity, atol=1e-12)


def test_a_urdf_alone_is_an_arm_little_is_known_of():
    arm = load_robot(urdf=share_directory() / 'urdf' / 'ur5.urdf')
    assert (arm.name, arm.effort_unit, arm.n) == ('ur5', None, 6)
    assert np.all(np.isnan(arm.drives.drive_gain))
    assert np.all(np.isinf(arm.limits.acceleration))
    assert np.isnan(arm.sampling_rate)


def test_unknown_arms_are_refused_by_name():
    found = r"unknown robot 'ur55': did you mean ur5\? known are ur10, ur10e, ur12e, "
    with pytest.raises(UsageError, match=found):
        load_robot('ur55')
    with pytest.raises(UsageError, match=r"robot 'UR5': did you mean ur5\? known are ur10, "):
        load_robot('UR5')
    with pytest.raises(UsageError, match=r"robot 'xyz': known are ur10, "):
        load_robot('xyz')
    with pytest.raises(UsageError, match='name an arm'):
        load_robot()
    with pytest.raises(UsageError, match=r'no such file: nowhere\.yaml'):
        load_robot('nowhere.yaml')


@pytest.fixture
def robot_file(tmp_path):
    shipped = share_directory() / 'config' / 'robots' / 'ur5.yaml'
    shutil.copy(share_directory() / 'urdf' / 'ur5.urdf', tmp_path / 'ur5.urdf')
    path = tmp_path / 'arm.yaml'

    def write(*changes):
        path.write_text(dump_yaml(changed(read_yaml(shipped), *changes)))
        return str(path)

    return write


ELBOW = ('joints', 'elbow_joint')


def test_a_robot_yaml_of_ones_own(robot_file, ur5):
    """A path is as good as a name, and hardware limits win over the URDF's."""
    own = load_robot(robot_file(('name', 'mine'), (*ELBOW, 'velocity', 1.25)))
    assert own.name == 'mine'
    assert own.limits.velocity[2] == 1.25
    np.testing.assert_array_equal(own.limits.lower, ur5.limits.lower)


def test_what_the_yaml_leaves_out_is_the_urdfs(robot_file):
    own = load_robot(robot_file((*ELBOW, {}), ('effort_unit', DELETE), ('sampling_rate', DELETE)))
    assert own.limits.upper[2] == np.pi
    assert own.limits.effort[2] == 150.0
    assert np.isinf(own.limits.acceleration[2])
    assert np.isnan(own.drives.drive_gain[2])
    assert own.effort_unit is None
    assert np.isnan(own.sampling_rate)


# --- shipped arms ------------------------------------------------------------------------


# Standard Denavit-Hartenberg lengths [m] of the vendor's support article, d then a.
DH = {
    'ur5': ([0.089159, 0, 0, 0.10915, 0.09465, 0.0823], [0, -0.425, -0.39225, 0, 0, 0]),
    'ur3e': ([0.15185, 0, 0, 0.13105, 0.08535, 0.0921], [0, -0.24355, -0.2132, 0, 0, 0]),
    'ur20': ([0.2363, 0, 0, 0.201, 0.1593, 0.1543], [0, -0.862, -0.7287, 0, 0, 0]),
}
ALPHA = np.radians([90, 0, 0, 90, -90, 0])
# Masses of the moving links [kg]: the vendors' article, description and specification.
MASSES = {
    'ur3': [2.0, 3.42, 1.26, 0.8, 0.8, 0.35],
    'ur20': [16.343, 29.632, 7.879, 3.054, 3.126, 0.926],
    'youbot': [1.39, 1.318, 0.821, 0.769, 0.687],
}


@pytest.mark.parametrize('name', DH)
def test_kinematics_are_the_vendors_table(name, rng):
    """From the controller's base frame to tool0; 1e-12 is rounding of a metre."""
    model = load_robot(name).pinocchio
    data, (d, a) = model.createData(), DH[name]
    chain = dh_chain(a, ALPHA, d, np.zeros(6), 'standard')
    for q in rng.uniform(-3.0, 3.0, (10, 6)):
        pin.framesForwardKinematics(model, data, q)
        base, tool = (data.oMf[model.getFrameId(frame)] for frame in ('base', 'tool0'))
        np.testing.assert_allclose(
            (base.inverse() * tool).homogeneous, chain.frames(q)[-1], atol=1e-12
        )


@pytest.mark.parametrize('name', MASSES)
def test_masses_are_the_published_ones(name):
    """The file's numbers reach the model digit by digit; fixed frames add nothing."""
    model = load_robot(name).pinocchio
    np.testing.assert_array_equal([body.mass for body in model.inertias[1:]], MASSES[name])


@pytest.mark.parametrize(('name', 'constants'), [
    ('ur3', [0.1249, 0.1249, 0.0934, 0.0453, 0.0453, 0.0453]),
    ('ur5', [0.1350, 0.1361, 0.1355, 0.0957, 0.0865, 0.0893]),
    ('ur20', [np.nan] * 6),
])
def test_drive_gains_are_gear_times_torque_constant(name, constants):
    """Raviola et al. 2021, table 1, over a gear of 101; the e-Series' are not published."""
    drives = load_robot(name).drives
    np.testing.assert_allclose(drives.drive_gain, 101.0 * np.array(constants), rtol=1e-12)
    if name == 'ur5':
        np.testing.assert_allclose(drives.reflected_inertia, [np.nan] * 3 + [0.211] * 3, atol=5e-4)


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


WRONG = {
    'a lower end above the upper end of the URDF': (
        ((*ELBOW, 'position', [9.0, None]),), 'elbow_joint: position runs from 9.0 to 3.14'
    ),
    'unknown key': ((('colour', 'blue'),), 'unknown key colour'),
    'no version': ((('schema_version', DELETE),), 'add the line `schema_version: 1`'),
    'a newer version': ((('schema_version', 2),), 'schema_version is 2'),
    'unknown unit': ((('effort_unit', 'V'),), "effort_unit is 'V'"),
    'a limit of nan': (((*ELBOW, 'effort', float('nan')),), 'effort is nan'),
    'a negative limit': (((*ELBOW, 'acceleration', -5.0),), 'acceleration is -5.0'),
    'a position that is no range': (((*ELBOW, 'position', [1.0]),), 'position must be'),
    'a negative rate': ((('sampling_rate', -125.0),), 'sampling_rate'),
    'a gear of zero': (((*ELBOW, 'gear_ratio', 0.0),), 'elbow_joint.*gear_ratio'),
    'no such joint': (((*ELBOW, DELETE), ('joints', 'elbow', {})), 'no joint elbow'),
    'no such URDF': ((('urdf', 'nowhere.urdf'),), 'no such file'),
}


@pytest.mark.parametrize(('changes', 'message'), WRONG.values(), ids=WRONG)
def test_a_wrong_robot_yaml_is_refused_by_name(robot_file, changes, message):
    with pytest.raises((DescriptionError, UsageError), match=message):
        load_robot(robot_file(*changes))


def test_joints_that_cannot_be_locked_are_refused_by_name(write_arm):
    with pytest.raises(UsageError, match=r"no joint thumb in the URDF 'mine' to lock"):
        load_robot(write_arm(locked={'thumb': 0.0}))
    with pytest.raises(DescriptionError, match=r'joint lift .* at 0\.1, its limits are 0\.2'):
        load_robot(write_arm(['pan'], locked={'lift': 0.1}))


def test_gravity_that_is_none_is_refused(ur5):
    """In millimetres, in degrees, or no three finite numbers."""
    with pytest.raises(UsageError, match=r'9810 m/s\^2, at most 100 are credible'):
        ur5.with_gravity([0.0, 0.0, -9810.0])
    with pytest.raises(UsageError, match='three finite angles'):
        gravity_of_mounting(np.nan, 0.0, 0.0)
    with pytest.raises(UsageError, match=r'90 0 0 has an angle of 90 rad.* write 90deg'):
        gravity_of_mounting(90.0, 0.0, 0.0)
    for gravity in ([0.0, 0.0], [np.nan, 0.0, 0.0], [0.0, np.inf, 0.0]):
        for given in (ur5.with_gravity, lambda gravity: load_robot('ur5', gravity=gravity)):
            with pytest.raises(UsageError, match='three finite numbers'):
                given(gravity)
