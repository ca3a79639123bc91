# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A robot with an effort interface: one joint of the simulation, and another one that is held."""

import math
import time

from robot_identification.nodes.graph import EFFORT_COMMANDS
from robot_identification.simulation.effort_joint import EffortJoint
from ros_helpers import joint_state
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

STATES, COMMANDS = '/bench/joint_states', '/bench/torques'
# Of a node that commands it.
REMAP = f'joint_states:={STATES}', f'{EFFORT_COMMANDS}:={COMMANDS}'
JOINT, HELD = 'wheel_3', 'wheel_4'
STEP = 0.004
# Without a command its time goes on by itself after this [s].
PATIENCE = 0.02


class EffortRobot:
    """Moves by one step with each command, so that no time passes while one is on its way."""

    def __init__(self, graph, constants, names=(JOINT, HELD)):
        self.joint = EffortJoint(constants)
        self.commands = []
        self.silent, self.drift, self.position_lost = False, 0.0, False
        # Whether its joint states leave out the other one.
        self.alone = False
        self._names = list(names)
        self._time, self._torque = 100.0, 0.0
        self._published_at = -math.inf
        self.node = graph.add_node('effort_robot')
        self._states = self.node.create_publisher(JointState, STATES, 10)
        self.node.create_subscription(Float64MultiArray, COMMANDS, self._on_command, 10)
        self.node.create_timer(0.5 * PATIENCE, self._on_timer)

    def _on_command(self, message):
        self.commands.append(list(message.data))
        self._torque = message.data[0]
        self._step()

    def _on_timer(self):
        if time.monotonic() > self._published_at + PATIENCE:
            self._step()

    def _step(self):
        if self.silent:
            return
        self.joint.advance(self._torque, STEP)
        self._time += STEP
        self._published_at = time.monotonic()
        q, dq = self.joint.measure()
        position = math.nan if self.position_lost else q
        others = [] if self.alone else [self.drift * self._time] + [0.0] * (len(self._names) - 2)
        names = self._names[:1 + len(others)]
        self._states.publish(joint_state(
            round(self._time * 1e9), names, [position, *others], [dq, *[0.0] * len(others)],
            [self._torque, *[0.0] * len(others)],
        ))
