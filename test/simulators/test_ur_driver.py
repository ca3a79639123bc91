# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The real ur_robot_driver on our simulated controller, and our nodes beside it: a whole day.

    pytest -rA test/simulators/test_ur_driver.py

It needs ur_robot_driver, and ports that no other controller has: the driver's client library
listens on all interfaces, so run it in a network of its own.
"""

import json
import socket

from launching import launched, why_not_installed
import numpy as np
import pytest
import robot_identification as ri
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.files import read_yaml
from ros_helpers import own_graph
from simulators.by_hand import Person
from simulators.judging import largest_deviation

pytestmark = pytest.mark.timeout(2400)


@pytest.fixture(scope='module')
def day(tmp_path_factory):
    """Launch controller, driver and nodes; yield the person beside them."""
    reason = why_not_installed('ur_robot_driver', 'ur_controllers')
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp('day')
    with own_graph(folder) as graph:
        arguments = {'ur_type': 'ur5e', 'truth': str(folder / 'truth.yaml')}
        with launched('ursim', arguments, folder, graph.environment):
            yield Person(graph, folder, 'ur5e', 'A')


def pendant(line):
    """Say a line at the pendant of the simulated controller; return what it answers."""
    with socket.create_connection(('127.0.0.1', 29990), 5.0) as connection:
        connection.sendall(f'{line}\n'.encode())
        return json.loads(connection.makefile().readline())


def test_a_day_finds_the_truth(day):
    """Dry, slow and full; bags in ampere; the model predicts the other motion."""
    bags = []
    for seed in 1, 2:
        trajectory = day.design(seed)
        bags.append(day.climb(trajectory))
        deviation = largest_deviation(bags[-1], ri.load_robot('ur5e'), load_trajectory(trajectory))
        print(f'motion {seed}: {deviation:.4f} rad from the planned path at most')
        assert deviation < 0.05
    truth = read_yaml(day.folder / 'truth.yaml')
    arm = ri.load_robot('ur5e', drive_gains=truth['drive_gain'])
    found = ri.identify(arm, bags[0])
    print(found)
    score = ri.validate(found.model, bags[1])
    print('NRMSE of the other motion', score.nrmse)
    assert np.all(np.array(score.nrmse) < 0.1)
