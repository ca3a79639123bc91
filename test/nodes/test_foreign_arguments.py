# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Launch files of others are given what they declare, and a refusal names what to do."""

import pytest
from robot_identification.model import load_robot
from robot_identification.nodes.foreign_arguments import (
    check_ursim_version, choose_effort, DeclaredArguments, names_beyond,
    write_prefixed_controllers,
)
import yaml

# What the drivers of some distributions declare of what is given to them; empty: any value.
CONTROLLERS = ('joint_trajectory_controller', 'forward_velocity_controller')
HUMBLE = {'use_fake_hardware': (), 'initial_joint_controller': (
    'scaled_joint_trajectory_controller', *CONTROLLERS,
)}
JAZZY = {'use_mock_hardware': (), 'initial_joint_controller': (
    'scaled_joint_trajectory_controller', *CONTROLLERS,
)}
LYRICAL = {'use_mock_hardware': (), 'initial_joint_controller': CONTROLLERS}
NEWEST = {**LYRICAL, 'use_currents_as_efforts': ()}


def driver(choices):
    return DeclaredArguments('ur_robot_driver', 'ur_control.launch.py', choices)


def test_mock_hardware_has_the_name_of_the_distribution():
    """Launch takes a name that nothing declares without a word, and the real driver starts."""
    wanted = {'use_mock_hardware': 'true'}
    assert driver(HUMBLE).fitted(wanted) == {'use_fake_hardware': 'true'}
    for choices in (JAZZY, LYRICAL):
        assert driver(choices).fitted(wanted) == wanted
    unknown = driver({'simulate': ()})
    with pytest.raises(RuntimeError, match=(
        r'^use_mock_hardware:=true: ur_control\.launch\.py of ur_robot_driver declares no '
        r'argument use_mock_hardware or use_fake_hardware: start that driver yourself'
    )):
        unknown.fitted(wanted)


def test_a_choice_is_one_of_the_distribution():
    """The scaled controller is no choice any more in Lyrical; nothing is chosen in its place."""
    wanted = {'initial_joint_controller': 'scaled_joint_trajectory_controller'}
    assert driver(JAZZY).fitted(wanted) == wanted
    with pytest.raises(RuntimeError, match='takes joint_trajectory_controller, forward_velocity'):
        driver(LYRICAL).fitted(wanted)
    with pytest.raises(RuntimeError, match='declares no argument gripper: leave gripper out'):
        driver(LYRICAL).fitted({'gripper': 'none'})


@pytest.mark.parametrize('unit, choice, words', [
    ('A', 'true', 'motor current [A]'), ('Nm', 'false', 'joint torque [N m]'),
])
def test_the_unit_of_the_effort_is_pinned(unit, choice, words):
    """Where the driver has the choice: its default changes with the release."""
    chosen, note = choose_effort(driver(NEWEST), 'ur5e', unit)
    assert chosen == {'use_currents_as_efforts': choice}
    assert words in note and f'use_currents_as_efforts:={choice}' in note
    assert choose_effort(driver(NEWEST), 'ur5e', unit, choice) == (chosen, note)
    other = {'true': 'false', 'false': 'true'}[choice]
    with pytest.raises(RuntimeError, match=f'use_currents_as_efforts:={other} contradicts'):
        choose_effort(driver(NEWEST), 'ur5e', unit, other)


@pytest.mark.parametrize('robot, version, reason', [
    ('ur5e', '3.15.8', r'ur_type:=ur5e: PolyScope 3 is of CB3; give a version 5\.x\.y, or latest'),
    ('ur10', '5.22.1', r'PolyScope 5 is of e-Series and newer; give a version 3\.x\.y'),
    ('ur15', '10.8.0', 'only PolyScope 3 and 5 have the dashboard server'),
])
def test_another_version_is_refused(robot, version, reason):
    """start_ursim.sh would refuse it, too, when the driver already waits; or there is no sign."""
    with pytest.raises(RuntimeError, match=f'^ursim_version:={version}.*{reason}'):
        check_ursim_version(robot, version)


def simulation_controllers(joints):
    """Return controllers as a simulation configures them."""
    return {
        'controller_manager': {'ros__parameters': {
            'update_rate': 500, 'trajectories': {'type': 'a/JointTrajectoryController'},
        }},
        'trajectories': {'ros__parameters': {
            'joints': joints, 'command_interfaces': ['position'],
            'constraints': {'goal_time': 0.0, **{
                name: {'trajectory': 0.2, 'goal': 0.1} for name in joints
            }},
        }},
    }


def test_controllers_get_the_prefix_in_every_place(tmp_path):
    """Joints in lists and as keys of their limits; nothing else changes."""
    joints = list(load_robot('ur5e').joint_names)
    source = tmp_path / 'ur_controllers.yaml'
    source.write_text(yaml.safe_dump(simulation_controllers(joints)))
    path = write_prefixed_controllers(source, 'left_', tmp_path / 'log')
    assert path == tmp_path / 'log' / 'left_ur_controllers.yaml'
    prefixed = simulation_controllers([f'left_{name}' for name in joints])
    assert yaml.safe_load(path.read_text()) == prefixed


# As of ur_robot.launch.py, with what only files of others declare.
KNOWN = ('dry_run', 'experiment', 'headless_mode', 'model_file', 'robot_ip', 'ur_type')


@pytest.mark.parametrize('name, meant', [
    ('robotip', 'robot_ip'), ('headles_mode', 'headless_mode'), ('dryrun', 'dry_run'),
    ('expriment', 'experiment'), ('ur_typ', 'ur_type'),
])
def test_a_misspelt_name_is_refused(name, meant):
    """Launch takes it without a word, and leaves the argument at its default."""
    with pytest.raises(RuntimeError, match=f'^{name}:=.* of ur_robot.*: did you mean {meant}[?]'):
        names_beyond(['ur_type', name], KNOWN, 'ur_robot.launch.py')
