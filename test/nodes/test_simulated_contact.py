# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A contact that is set over DDS: the drives hold against it, and it ends by itself."""

import numpy as np
import pinocchio as pin
import pytest
from rcl_interfaces.srv import GetParameters
from robot_identification.simulation.ground_truth import draw_truth
from ros_helpers import own_graph, seconds, wait_until
from sensor_msgs.msg import JointState

START = [0.1, -1.4, 1.3, -1.5, -1.2, 0.4]
NODE = '/simulated_robot'
SEED = 3
POINT = np.array([0.0, 0.0, 0.1])
FORCE = np.array([30.0, -40.0, 60.0])
# The servo needs some 0.1 s to hold against it, and as long to come back [s].
SETTLED = 0.3
DURATION = 0.8


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    """Return the graph of a simulated robot at rest, and its noise-free joint states."""
    with own_graph(tmp_path_factory.mktemp('contact')) as graph:
        graph.start('simulated_robot', {
            'real_time_factor': 2.0, 'publish_truth': True, 'initial_positions': START,
            'discovery_time': 0.0, 'truth_seed': SEED,
        })
        states = graph.hear(JointState, f'{NODE}/noise_free_joint_states')
        wait_until(lambda: states, 'joint states')
        yield graph, states


def now(states):
    """Return the stamp of a joint state that comes after all that has been said so far [s]."""
    count = len(states)
    wait_until(lambda: len(states) > count + 1, 'the time')
    return seconds(states[-1].header.stamp)


def rows(states, ur5, start, end):
    """Wait until the end of a span of simulated time; return stamps, positions and efforts."""
    wait_until(lambda: seconds(states[-1].header.stamp) > end, 'time to pass')
    found = [m for m in list(states) if start <= seconds(m.header.stamp) <= end]
    order = [found[0].name.index(joint) for joint in ur5.joint_names]
    q, effort = (
        np.array([getattr(m, name) for m in found])[:, order] for name in ('position', 'effort')
    )
    return np.array([seconds(m.header.stamp) for m in found]), q, effort


def force_parameter(graph):
    request = GetParameters.Request(names=['inject.contact_force'])
    answer = graph.answer(graph.request(GetParameters, f'{NODE}/get_parameters', request))
    return list(answer.values[0].double_array_value)


def test_a_contact_is_in_the_effort_and_ends_by_itself(robot, ur5):
    """The mean effort falls by J^T F over the gain while the wrist is pushed, then comes back."""
    graph, states = robot
    truth = draw_truth(ur5, SEED)
    start = now(states)
    _, _, free = rows(states, ur5, start, start + 0.2)
    assert not graph.configure(NODE, {
        'inject.contact_link': 'wrist_3_link', 'inject.contact_point': POINT.tolist(),
        'inject.contact_duration': DURATION, 'inject.contact_force': FORCE.tolist(),
    })
    start = seconds(states[-1].header.stamp) - 0.5
    stamps, q, effort = rows(states, ur5, start, start + 2.5)
    pushed = free.mean(axis=0) - effort
    acting = np.flatnonzero(np.abs(pushed).max(axis=1) > 0.1)
    began, ended = stamps[acting[0]], stamps[acting[-1]]
    assert DURATION - 0.05 < ended - began < DURATION + SETTLED
    held = (stamps > began + SETTLED) & (stamps < began + DURATION - 0.05)
    data = ur5.pinocchio.createData()
    pin.computeJointJacobians(ur5.pinocchio, data, q[held][-1])
    placement = data.oMi[ur5.n]
    J = pin.getJointJacobian(
        ur5.pinocchio, data, ur5.n, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    )
    torque = (J[:3] + pin.skew(placement.rotation @ POINT).T @ J[3:]).T @ FORCE
    assert np.abs(torque).max() > 20.0
    # The servo gives way by milliradians, which changes gravity and J by less than a per cent.
    np.testing.assert_allclose(
        pushed[held].mean(axis=0) * truth.drive_gain, torque, atol=0.02 * np.abs(torque).max()
    )
    later = stamps > ended + SETTLED
    np.testing.assert_allclose(effort[later].mean(axis=0), free.mean(axis=0), atol=0.1)
    assert force_parameter(graph) == [0.0, 0.0, 0.0], 'and says so'


def test_what_is_no_contact_is_refused(robot, ur5):
    """With the reason; nothing touches the arm then."""
    graph, states = robot
    refused = graph.configure(NODE, {
        'inject.contact_force': [900.0, 0.0, 0.0],
        'inject.contact_point': [0.0, 0.0],
        'inject.contact_link': 'hand',
        'inject.contact_duration': 0.0,
    })
    assert len(refused) == 4
    assert 'allowed are -500 to 500' in refused[0]
    assert '3 numbers are needed, got 2' in refused[1]
    assert "must be 'shoulder_link' or " in refused[2]
    start = now(states)
    _, _, effort = rows(states, ur5, start, start + 0.2)
    assert np.ptp(effort, axis=0).max() < 0.1
