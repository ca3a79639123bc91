# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The real ur_robot_driver on our simulated controller, and our nodes: a whole day.

    pytest -rA test/simulators/test_ur_driver.py

It needs ur_robot_driver, and ports that no other controller has: the driver's client library
listens on all interfaces, so run it in a network of its own.
"""

import json
import socket
import time

from known_models import pinocchio_torque, true_pinocchio
from launching import launched, why_not_installed
import numpy as np
import pytest
import robot_identification as ri
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.files import read_yaml
from robot_identification.simulation import GroundTruth
from ros_helpers import own_graph, wait_until
from simulators.by_hand import Person
from simulators.judging import largest_deviation

pytestmark = pytest.mark.timeout(2400)


@pytest.fixture(scope='module')
def day(tmp_path_factory):
    """Launch controller, driver and nodes; yield the person at the arm."""
    reason = why_not_installed('ur_robot_driver', 'ur_controllers')
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp('day')
    with own_graph(folder) as graph:
        arguments = {'ur_type': 'ur5e', 'truth': str(folder / 'truth.yaml')}
        with launched('ursim', arguments, folder, graph.environment):
            yield Person(graph, folder, 'ur5e', 'A', period=6.0)


def pendant(line):
    """Say a line at the pendant of the simulated controller; return what it answers."""
    with socket.create_connection(('127.0.0.1', 29990), 5.0) as connection:
        connection.sendall(f'{line}\n'.encode())
        return json.loads(connection.makefile().readline())


@pytest.fixture(scope='module')
def motion(day):
    """Return a motion that has climbed to full speed, and its bag."""
    trajectory = day.design(1)
    return trajectory, day.climb(trajectory)


def known_truth(folder, arm):
    """Return Pinocchio's model of the hidden bodies, and the hidden friction laws."""
    record = read_yaml(folder / 'truth.yaml')
    truth = GroundTruth(**{
        key: np.array(record[key]) for key in (
            'mass_factor', 'centre_shift', 'drive_gain', 'coulomb', 'viscous', 'reflected_inertia',
        )
    })
    return true_pinocchio(arm, truth), truth


def test_a_day_finds_the_truth(day, motion):
    """Bags in ampere; the model knows the unseen motion's true torque, and its parameters."""
    trajectory, bag = motion
    other = day.design(2)
    unseen = day.climb(other)
    described = ri.load_robot('ur5e')
    for each, recorded in (trajectory, bag), (other, unseen):
        deviation = largest_deviation(recorded, described, load_trajectory(each))
        print(f'{recorded.name}: {deviation:.4f} rad from the planned path at most')
        assert deviation < 0.05
    arm = ri.load_robot('ur5e', drive_gains=read_yaml(day.folder / 'truth.yaml')['drive_gain'])
    found = ri.identify(arm, bag)
    print(found)
    score = ri.validate(found.model, unseen)
    print('NRMSE of the other motion', score.nrmse)
    # In a quiet run 0.05; cycles that the manager misses are accelerations that were not planned.
    assert np.all(np.array(score.nrmse) < 0.2)
    bodies, truth = known_truth(day.folder, arm)
    plan = load_trajectory(other)
    states = plan.sample(plan.times(100.0))
    true = pinocchio_torque(bodies, states) + truth.friction(states.dq)
    error = found.model.torque(states.q, states.dq, states.ddq) - true
    share = np.sqrt(np.mean(error**2, axis=0) / np.var(true, axis=0))
    print('error of the torque against the truth over its spread', share)
    # Noise of 0.4 % of the limit, and friction laws that are not those of the truth.
    assert np.all(share < 0.1)
    parameters = found.model.reduction.parameters
    theta = np.zeros(parameters.size)
    theta[: 10 * arm.n] = np.concatenate([
        body.toDynamicParameters() for body in bodies.inertias.tolist()[1:]
    ])
    for joint, inertia in enumerate(truth.reflected_inertia, start=1):
        if f'Ia{joint}' in parameters.names:
            theta[parameters.names.index(f'Ia{joint}')] = inertia
    z = (found.model.theta_base - found.model.reduction.K @ theta) / found.model.standard_errors
    inertial = [name[0] in 'mI' for name in found.model.parameter_names]
    share = np.mean(np.abs(z[inertial]) < 1.96)
    print(f'{share:.2f} of {sum(inertial)} intervals of 95 % hold the truth')
    # Commands of a driver on a machine that is no real-time one jitter, which is in no interval.
    assert share > 0.7


@pytest.mark.parametrize(('line', 'end'), [
    ('slider 0.3', 'DONE'), ('pause', 'DONE'), ('loss 0.05', 'DONE'), ('delay 0.02', 'DONE'),
    ('protective stop', 'FAULT'), ('emergency stop', 'FAULT'), ('stop', 'FAULT'),
    ('power off', 'FAULT'), ('rtde cut 3', 'FAULT'),
])
def test_a_fault_of_the_robot(day, motion, line, end):
    """The arm is no faster than planned, and rests where the runner says that it does."""
    trajectory, _ = motion
    plan = load_trajectory(trajectory)
    times = plan.times(200.0)
    speeds = np.abs(plan.sample(times).dq).max(axis=1)
    day.begin(trajectory)
    day.wait_for('EXECUTING')
    time.sleep(float(times[speeds.argmax()]))  # The arm is at its fastest then.
    pendant('reset peaks')
    begin = pendant(line)['time']
    if line == 'pause':
        time.sleep(2.0)  # What a person takes to look.
        pendant('play')
    ended, found = day.wait_for(), pendant('state')
    day.end_recording()
    assert ended == end, (day.state(), found)
    print(
        f'| {line} | {day.state()["state"]}: {day.state()["reason"]} | {speeds.max():.2f} | '
        f'{found["peak_speed"]:.2f} | {found["peak_acceleration"]:.1f} | '
        f'{found["moved_at"] - begin:.2f} |'
    )
    assert found['peak_speed'] < 1.1 * speeds.max()
    if end == 'FAULT':
        wait_until(lambda: pendant('state')['time'] - pendant('state')['moved_at'] > 0.3, 'rest')
    is_off = found['safety_mode'] == 'ROBOT_EMERGENCY_STOP'
    for word in ('no faults', 'slider 1.0', *(['restart safety'] if is_off else []), 'unlock',
                 'brake release'):
        pendant(word)
    wait_until(lambda: pendant('state')['robot_mode'] == 'RUNNING', 'the brakes to be released')
    if pendant('state')['program'] in ('STOPPED', 'PAUSED'):
        day.call('io_and_status_controller/resend_robot_program')
        wait_until(lambda: pendant('state')['program'] == 'PLAYING', 'the program to run')
