# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the tests of the nodes share: a graph each, a short certified motion, a bag and a model."""

import signal
import sys

from builders import write_run
import pytest
from recordings import designed_motion, Driver, execute, write_small_arm
from robot_identification.cli.signals import ending_signals
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.model.registry import load_robot, share_directory
from robot_identification.pipeline import identify
from robot_identification.recording.simulated_run import simulate, write_simulated_bag
from robot_identification.report.reports import save_identification
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import Sensors


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Say with a failure how the nodes are, whose own words come too late otherwise."""
    outcome = yield
    report = outcome.get_result()
    helpers = sys.modules.get('ros_helpers')
    if report.failed and helpers is not None:
        report.sections += [('nodes', graph.describe()) for graph in helpers.OPEN_GRAPHS]


@pytest.fixture
def graph(tmp_path):
    from ros_helpers import own_graph  # skips where there is no ROS

    with own_graph(tmp_path) as own:
        yield own


@pytest.fixture
def own_signals():
    """Give back the signals that a node takes which runs in this process."""
    held = {number: signal.getsignal(number) for number in ending_signals()}
    yield
    for number, handler in held.items():
        signal.signal(number, handler)


@pytest.fixture(scope='session')
def ur5():
    """Return the robot that all these tests use."""
    return load_robot('ur5')


@pytest.fixture(scope='session')
def experiment_file(tmp_path_factory):
    """Return the shipped experiment with a motion of five seconds instead of ten."""
    text = (share_directory() / 'config' / 'experiments' / 'demo.yaml').read_text()
    path = tmp_path_factory.mktemp('experiment') / 'short.yaml'
    short = text.replace('base_period: 10.0', 'base_period: 5.0')
    assert short != text
    path.write_text(short)
    return path


@pytest.fixture(scope='session')
def trajectory(ur5):
    """Return the certified motion that 20 evaluations with seed 3 find for that experiment."""
    return designed_motion(ur5, 'short')


@pytest.fixture(scope='session')
def trajectory_file(trajectory, tmp_path_factory):
    path = tmp_path_factory.mktemp('trajectory') / 'trajectory.yaml'
    path.write_text(dump_trajectory(trajectory))
    return path


@pytest.fixture(scope='session')
def bag(ur5, trajectory, tmp_path_factory):
    """Return a bag of that motion as a driver would have recorded it."""
    path = tmp_path_factory.mktemp('bag') / 'bag'
    run = simulate(ur5, trajectory, draw_truth(ur5, 3), Sensors())
    write_simulated_bag(path, ur5, run, trajectory)
    return path


@pytest.fixture(scope='session')
def identification(ur5, bag):
    return identify(ur5, [bag], IdentifyOptions(friction='coulomb,viscous,offset'))


@pytest.fixture(scope='session')
def model_file(identification, tmp_path_factory):
    folder = tmp_path_factory.mktemp('model') / 'result'
    save_identification(identification, folder, 'a test', force=False)
    return folder / 'identified_model.yaml'


@pytest.fixture(scope='session')
def small_arm(tmp_path_factory):
    """Return the YAML and a bag of an arm of three joints, for what is identified often."""
    folder = tmp_path_factory.mktemp('small_arm')
    yaml = write_small_arm(folder)
    robot = load_robot(str(yaml))
    limit = robot.limits.effort / robot.drives.drive_gain
    run = Driver().record(execute(robot, draw_truth(robot, 3), 0, 6.0), limit, 0)
    return str(yaml), write_run(folder / 'bag', robot, run)


@pytest.fixture(scope='session')
def small_identification(small_arm):
    """Return what the pipeline identifies of it, with laws by name."""
    yaml, bag = small_arm
    return identify(load_robot(yaml), [bag], IdentifyOptions(friction='coulomb,viscous,offset'))
