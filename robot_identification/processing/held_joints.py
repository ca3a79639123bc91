# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Joints that a model holds fixed, and where they were in a recording."""

from __future__ import annotations

import numpy as np
from robot_identification.model import find_coupled, reach_of_joints, RobotModel
from robot_identification.recording import Recording

# Way of a joint that counts [rad or m]; chosen: some three degrees, and more than a finger.
NOTABLE = 0.05


def watched_joints(robot: RobotModel) -> tuple[str, ...]:
    """Return the held joints that move the arm or are moved by it, if their readings are known."""
    encoders = robot.encoders
    if not (np.all(encoders.sign == 1.0) and np.all(encoders.zero == 0.0)):
        return ()
    reach = reach_of_joints(robot.urdf.text, robot.joint_names)
    near = reach.carried_joints | reach.supporting_joints
    coupled = find_coupled(robot.urdf)
    return tuple(name for name in robot.locked if name in near and name not in coupled)


def held_joint_remarks(robot: RobotModel, recording: Recording) -> list[str]:
    """Return which held joints moved in a recording, or stood elsewhere between arm joints."""
    if not recording.held:
        return []
    reach = reach_of_joints(robot.urdf.text, robot.joint_names)
    within = reach.carried_joints & reach.supporting_joints
    slides = {joint.name for joint in robot.urdf.joints if joint.kind == 'prismatic'}
    remarks = []
    for name, (lowest, highest) in recording.held.items():
        held, unit = robot.locked[name], 'm' if name in slides else 'rad'
        if highest - lowest > NOTABLE:
            found = f'moved by {highest - lowest:.3g} {unit}'
            remedy = 'include it in --joints, or record with it at rest'
        elif name in within and max(abs(lowest - held), abs(highest - held)) > NOTABLE:
            found = f'stood at {0.5 * (lowest + highest):.3g} {unit}'
            remedy = 'state that as `locked` in a robot YAML, or include it in --joints'
        else:
            continue
        remarks.append(
            f'{recording.source}: {name} is held at {held:.3g} {unit} in the model and {found}: '
            f'{remedy}'
        )
    return remarks
