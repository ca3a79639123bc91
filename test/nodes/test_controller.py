# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A controller's constraints are read over its parameter services, and never waited for."""

from types import SimpleNamespace
from typing import ClassVar

import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes import controller
from robot_identification.nodes.controller import ControllerState
from ros_helpers import wait_until

JOINTS = ['left_lift', 'left_elbow']
# Of ur_controllers.yaml.
CONSTRAINTS = {
    'constraints.goal_time': 0.0,
    'constraints.stopped_velocity_tolerance': 0.2,
    **{f'constraints.{joint}.trajectory': 0.2 for joint in JOINTS},
    **{f'constraints.{joint}.goal': 0.1 for joint in JOINTS},
}


@pytest.fixture
def controller_of(graph):
    """Return a function that makes a node with parameters, as a controller is one."""
    nodes = []

    def make(name, parameters):
        node = Node(name, context=graph.node.context)
        for key, value in parameters.items():
            node.declare_parameter(key, value)
        graph.node.executor.add_node(node)
        nodes.append(node)
        return node

    yield make
    for node in nodes:
        graph.run(graph.node.executor.remove_node, node)
        graph.run(node.destroy_node)


@pytest.fixture
def reader(graph):
    own = ControllerState(graph.node, JOINTS)
    yield own
    own.refresh('')


def wait_for(reader, controller, condition, what):
    """Go on refreshing, as a node's timer does, until something holds."""

    def holds():
        reader.refresh(controller)
        return condition()

    wait_until(holds, what)


def test_constraints_are_read_and_read_again(controller_of, reader, monkeypatch):
    """Also where newer parameters are missing, as one unknown name spoils an answer of rclcpp."""
    monkeypatch.setattr('robot_identification.nodes.controller.READ_EVERY', 0.2)
    monkeypatch.setattr('robot_identification.nodes.controller.ANSWER_TIMEOUT', 0.2)
    controller = controller_of('jtc', {**CONSTRAINTS, 'joints': JOINTS})
    wait_for(reader, 'jtc', lambda: reader.constraints is not None, 'the constraints')
    assert reader.constraints.path.tolist() == [0.2, 0.2]
    assert reader.constraints.goal.tolist() == [0.1, 0.1]
    assert reader.constraints.stopped_velocity == 0.2
    assert not reader.constraints.deceleration.any()
    controller.set_parameters([Parameter('constraints.goal_time', value=0.5)])
    wait_for(reader, 'jtc', lambda: reader.constraints.goal_time == 0.5, 'the new value')
    # Another controller's are not those of the one before.
    reader.refresh('nobody')
    assert reader.constraints is None
    newer = {
        'state_interfaces': ['position', 'velocity'],
        'speed_scaling.initial_scaling_factor': 0.5,
        'speed_scaling_interface_name': 'speed_scaling/speed_scaling_factor',
        'constraints.decelerate_on_cancel': True,
        **{f'constraints.{joint}.max_deceleration_on_cancel': 10.0 for joint in JOINTS},
    }
    controller_of('newer', {**CONSTRAINTS, **newer})
    wait_for(reader, 'newer', lambda: reader.constraints is not None, 'the constraints')
    found = reader.constraints
    assert found.deceleration.tolist() == [10.0, 10.0] and not found.held_because
    assert (found.initial_scaling, found.hears_scaling, found.holds_on_abort) == (
        0.5, False, True
    )


def test_a_controller_without_them_is_told(controller_of, reader):
    """A passthrough controller has none, and joints may have other names."""
    controller_of('passthrough', {'joints': JOINTS})
    wait_for(reader, 'passthrough', lambda: reader.problem, 'the problem')
    assert 'no parameter constraints.left_lift.trajectory' in reader.problem
    assert reader.constraints is None
    controller_of('unset', {**CONSTRAINTS, 'constraints.left_lift.goal': 'text'})
    wait_for(reader, 'unset', lambda: 'no number' in reader.problem, 'the problem')


class Unanswered:
    """A node whose clients find no service."""

    def create_client(self, kind, service):
        return SimpleNamespace(service_is_ready=lambda: False)

    def destroy_client(self, client):
        """Do nothing."""


class States:
    """A subscription to a controller's states, which come when a test puts them here."""

    arrived: ClassVar[list] = []

    def __init__(self, *_):
        self.arrived.clear()

    def take(self, most):
        taken = [(one, {}) for one in self.arrived[-most:]]
        self.arrived.clear()
        return taken

    def destroy(self):
        """Do nothing."""


@pytest.mark.parametrize(('publishers', 'names', 'found'), [
    (1, ('left_lift', 'left_turn'), [0.1, 0.2]), (2, ('left_lift', 'left_turn'), None),
    (1, ('left_turn', 'left_lift'), [0.2, 0.1]), (1, ('left_lift', 'gripper'), None),
    (1, ('left_lift',), None),
])
def test_where_a_controller_holds_the_arm_is_found_by_names(
    publishers, names, found, monkeypatch
):
    """Not where a bag that is replayed may be what states it."""
    for name, value in {
        'DirectSubscription': States, 'SpeedScalingFactor': None,
        'JointTrajectoryControllerState': object(), 'deserialize_message': lambda data, kind: data,
    }.items():
        monkeypatch.setattr(controller, name, value)
    monkeypatch.setattr(
        controller, 'publishers', lambda node, topic: ['/jtc', '/player'][:publishers]
    )
    stating = ControllerState(Unanswered(), ('left_lift', 'left_turn'))
    stating.refresh('jtc')
    States.arrived.append(SimpleNamespace(
        joint_names=names, reference=SimpleNamespace(positions=[0.1, 0.2]),
    ))
    stated = stating.commanded()
    assert stated is found if found is None else stated.tolist() == found


def test_the_scaling_that_a_controller_states_is_not_slept_for(monkeypatch):
    """What came since is looked at; a silent controller states nothing, `discover` is short."""
    clock = [100.0]
    kind = SimpleNamespace(get_fields_and_field_types=lambda: {'speed_scaling_factor': 'double'})
    for name, value in {
        'time': SimpleNamespace(monotonic=lambda: clock[0]), 'DirectSubscription': States,
        'JointTrajectoryControllerState': kind, 'SpeedScalingFactor': None,
        'deserialize_message': lambda data, kind: SimpleNamespace(speed_scaling_factor=data),
    }.items():
        monkeypatch.setattr(controller, name, value)
    stating = ControllerState(Unanswered(), JOINTS)
    stating.refresh('jtc')
    stating.constraints = SimpleNamespace(states_scaling=True, hears_scaling=False)
    waiting = stating.discover()
    # For its parameters, which it does not answer.
    waiting.send(None)
    clock[0] += 1.0
    stating.check_scaling(1.0)
    States.arrived += [1.0, 0.5]
    stating.refresh('jtc')
    clock[0] += 1.1
    stating.refresh('jtc')
    with pytest.raises(StopIteration):
        waiting.send(None)
    with pytest.raises(UnsafeMotionError, match='50% of the planned speed, and 100% are received'):
        stating.check_scaling(1.0)
    stating.check_scaling(0.5)
    clock[0] += 2.0
    stating.check_scaling(1.0)
    # A state from before a command that is heard of does not count against it.
    stating.constraints = SimpleNamespace(states_scaling=True, hears_scaling=True)
    States.arrived.append(1.0)
    stating._on_input(SimpleNamespace(factor=0.5))
    stating.check_scaling(1.0)
    assert stating.scaling(1.0) == 0.5
    # Of another controller nothing is known yet, and that is not waited for long.
    stating.refresh('other')
    waiting = stating.discover()
    waiting.send(None)
    clock[0] += 2.1
    stating.refresh('other')
    with pytest.raises(StopIteration):
        waiting.send(None)
