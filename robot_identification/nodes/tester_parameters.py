# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the friction tester: joint, mode, motion, arm and result."""

from __future__ import annotations

from rclpy.node import Node
from robot_identification.nodes.common import declare
from robot_identification.options import options_of
from robot_identification.studies.break_away import (
    BreakAwaySettings, CORRECTIONS, DEFAULT_CORRECTION,
)

PRE_TEST, BREAK_AWAY = 'pre_test', 'break_away'
MODES = (PRE_TEST, BREAK_AWAY)
GRAVITY_FREE, GRAVITY_SUBTRACTED = 'gravity_free', 'gravity_subtracted'
POSES = (GRAVITY_FREE, GRAVITY_SUBTRACTED)


def declare_tester(node: Node) -> None:
    """Declare the parameters of the test; those of robot, topics and roots are elsewhere."""
    declare(node, 'mode', BREAK_AWAY,
            'pre_test: by hand, step by step, to find torque_cap; break_away: the test',
            choices=MODES)
    declare(node, 'joint', '', 'the joint or wheel to test, as the driver names it')
    declare(node, 'pose', GRAVITY_FREE,
            'gravity_free: gravity has no moment on the joint as it stands; gravity_subtracted: '
            "its moment is subtracted by the robot's description", choices=POSES)
    declare(node, 'dry_run', True, 'check everything, send nothing')
    declare(node, 'arm.confirmation', '',
            'confirmation that is typed for each arming; the answer of ~/arm has it', longest=200)
    declare(node, 'torque_cap', 0.0,
            'largest torque of a ramp, without gravity [N m]; 0.0: the pre-test sets it',
            minimum=0.0, maximum=1000.0)
    declare(node, 'torque_limit', 0.0,
            "largest torque of all [N m]; 0.0: 80 % of the joint's limit in the robot YAML",
            minimum=0.0, maximum=1000.0)
    declare(node, 'pre_test.step', 0.1,
            'increase of the torque of the pre-test by a call of ~/step [N m]',
            minimum=0.001, maximum=20.0)
    declare(node, 'inertia', 0.0,
            "inertia of link and rotor on the joint's side [kg m^2]; 0.0: from the robot's "
            'description',
            minimum=0.0, maximum=1000.0)
    declare(node, 'continuous', False, 'the position wraps around at a turn')
    for one in options_of(BreakAwaySettings):
        declare(
            node, one.key, getattr(BreakAwaySettings, one.name), one.text, minimum=one.minimum,
            maximum=one.maximum,
        )
    declare(node, 'state_timeout', 0.2,
            'longest silence of the joint states before the torque is zeroed [s], wall time',
            minimum=0.02, maximum=2.0)
    declare(node, 'correction', DEFAULT_CORRECTION,
            'reported torque: at the onset of motion, at the threshold less inertia, or with '
            'none at the threshold, which is always reported',
            choices=CORRECTIONS)
    declare(node, 'output', '', 'folder of the results, one for all joints of an arm')
    declare(node, 'overwrite', False, 'replace the results of this joint')


def settings_of(
    node: Node, torque_cap: float, torque_limit: float, inertia: float, *, slides: bool
) -> BreakAwaySettings:
    """Return the settings that the parameters make; raise UsageError if they conflict."""
    names = (*(one.name for one in options_of(BreakAwaySettings)), 'continuous')
    values = {name: node.get_parameter(name).value for name in names}
    return BreakAwaySettings(
        torque_cap=torque_cap, torque_limit=torque_limit, inertia=inertia,
        longest_gap=node.get_parameter('state_timeout').value, slides=slides, **values,
    )
