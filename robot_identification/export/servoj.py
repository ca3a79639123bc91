# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write a motion as a program that a Universal Robot executes without ROS."""

from __future__ import annotations

import numpy as np
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation import check_rest_at_ends, Trajectory

JOINTS = (
    'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint', 'wrist_2_joint',
    'wrist_3_joint',
)
# A cycle of a CB3, four of an e-Series [s].
PERIOD = 0.008
# Time over which the controller smooths [s], and the gain of its position loop; chosen: the least
# that URScript allows, and a middle one of 100 to 2000.
OPTIONS = 'lookahead_time=0.03, gain=500'
MAXIMUM_SETPOINTS = 100_000  # chosen: 800 s at 125 Hz, one line of the program each
# The way to the start is not checked: it is taken slowly [rad/s^2], [rad/s].
APPROACH = 'a=0.5, v=0.25'
STOP_DECELERATION = 2.0  # of stopj at the end [rad/s^2], chosen


def servoj_program(trajectory: Trajectory) -> str:
    """
    Return a URScript program that executes a certified motion of a Universal Robot.

    It moves slowly to the start by `movej`, then sends one `servoj` setpoint in each 8 ms, and
    ends with `stopj`. Raises DescriptionError if the arm is not a Universal Robot or the motion is
    too long, UnsafeMotionError if it is not certified or does not start and end at rest.
    """
    _check_arm(trajectory)
    _check_certified(trajectory)
    if trajectory.duration / PERIOD > MAXIMUM_SETPOINTS:
        raise DescriptionError(
            f'{trajectory.duration:g} s with a setpoint every {PERIOD} s are more than '
            f'{MAXIMUM_SETPOINTS} lines: export fewer periods'
        )
    # The arm stands at the first sample; times beyond the end would start anew.
    count = round(np.ceil(trajectory.duration / PERIOD - 1e-9))
    times = np.minimum(PERIOD * np.arange(count + 1), trajectory.duration)
    start, *setpoints = trajectory.sample(times).q
    lines = [
        # Names come from a file; ascii() lets none of them end the comment.
        f'# Robot {trajectory.robot!a}, {trajectory.form.name}, {trajectory.duration:g} s',
        f'# sha256 {trajectory.sha256}',
        '# Written by robot_identification. The way to the start is not checked: keep it clear,',
        '# and keep a hand at the emergency stop.',
        'def robot_identification_motion():',
        f'  movej({_pose(start)}, {APPROACH})',
        *(f'  servoj({_pose(q)}, t={PERIOD}, {OPTIONS})' for q in setpoints),
        f'  stopj({STOP_DECELERATION})',
        'end',
    ]
    return '\n'.join(lines) + '\n'


def _pose(q: np.ndarray) -> str:
    # Adding zero makes zero of minus zero.
    return '[' + ', '.join(f'{value:.9f}' for value in np.round(q, 9) + 0.0) + ']'


def _check_arm(trajectory: Trajectory) -> None:
    names = trajectory.joint_names
    prefix = names[0].removesuffix(JOINTS[0]) if names else ''
    if names != tuple(prefix + joint for joint in JOINTS):
        raise DescriptionError(
            f'{trajectory.robot!a} has the joints {", ".join(names) or "none"}; URScript moves '
            f'Universal Robots, with the joints {", ".join(JOINTS)}: export a motion of one'
        )


def _check_certified(trajectory: Trajectory) -> None:
    if not trajectory.certificate:
        raise UnsafeMotionError(
            'the motion has no certificate: make one with `excite --evaluate FILE -o NEW_FILE`'
        )
    if trajectory.certificate.get('robot') != trajectory.robot:
        raise UnsafeMotionError(
            f'the motion is of {trajectory.robot!a} and certified for '
            f'{trajectory.certificate.get("robot")!a}: certify it for the robot that is to move'
        )
    check_rest_at_ends(trajectory)
