# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the experiment runner."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.parameter import Parameter
from robot_identification.excitation import SLOW_SPEED
from robot_identification.model import STATED_UNITS
from robot_identification.nodes.common import declare
from robot_identification.nodes.motion_interface import INTERFACES


def declare_runner(node: Node) -> None:
    """Declare the parameters of motion and safety; those of the robot are declared elsewhere."""
    _declare_motion(node)
    _declare_safety(node)


def _declare_motion(node: Node) -> None:
    declare(node, 'trajectory_file', '', 'certified trajectory to execute')
    declare(node, 'arm.sha256', '',
            'its sha256, typed by the operator; for a real arm anew for each arming', longest=64)
    declare(node, 'arm.executions', 1, 'number of executions of one arming',
            minimum=1, maximum=1000)
    declare(node, 'dry_run', True, 'check and plan everything, send nothing')
    declare(node, 'periods', 0, 'repetitions of the motion; 0: those of the file',
            minimum=0, maximum=1000)
    declare(node, 'speed', 1.0, 'share of the planned speed', minimum=0.02, maximum=1.0)
    declare(node, 'knot_rate', 50.0, 'knots per second of the motion at full speed [Hz]',
            minimum=20.0, maximum=500.0)
    declare(node, 'approach_speed', 0.3, 'peak joint speed on the way to the start [rad/s]',
            minimum=0.05, maximum=1.0)
    declare(node, 'controller', '',
            'name of the joint-trajectory controller; empty: the only active one',
            read_only=True)
    declare(node, 'interface', 'auto', 'action, topic, or auto: the action where offered',
            choices=INTERFACES, read_only=True)


def _declare_safety(node: Node) -> None:
    declare(node, 'tracking_tolerance', 0.1, 'largest tracking error [rad]',
            minimum=0.005, maximum=0.5)
    declare(node, 'scaling_timeout', 30.0,
            'longest time with the speed slider at zero [s]', minimum=0.5, maximum=600.0)
    declare(node, 'effort_unit', '', "unit of the driver's effort; empty: the robot's",
            choices=('', *STATED_UNITS))
    declare(node, 'watch_effort', True,
            'stop where efforts far exceed those of the description')
    declare(node, 'watch_safety', True,
            "need a UR driver's safety mode, robot mode and program state; false only for "
            'an arm whose driver has none', read_only=True)
    declare(node, 'require_recorder', True, 'move only while the recorder is recording')
    declare(node, 'recorder', 'bag_recorder', "name of the recorder's node", read_only=True)
    declare(node, 'commissioning', True,
            'a dry run, then a slow run, then full speed; only the simulated robot may go '
            'without')
    declare(node, 'slow_speed', SLOW_SPEED,
            'share of the planned speed that counts as the slow run; the tool keeps 0.25 m/s '
            'besides', minimum=0.02, maximum=0.5)
    declare(node, 'serial', '',
            'serial number of the arm, which is commissioned on its own; must be stated for a '
            'real arm')
    declare(node, 'payload', Parameter.Type.DOUBLE_ARRAY,
            'mass [kg] and centre in the tool frame [m] of the payload, [0.0] for none; must '
            'be stated for a real arm',
            minimum=-1.0, maximum=100.0, longest=4)
