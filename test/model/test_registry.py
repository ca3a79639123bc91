# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The known robots: how strictly their files are read, and the published facts in them."""

import shutil

from builders import changed, DELETE, UR_JOINTS
import numpy as np
from oracles import dh_chain
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import dump_yaml, read_yaml
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
