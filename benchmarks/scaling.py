# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Growth of the cost with samples, joints and bags: from samples to estimate by WLS."""

from __future__ import annotations

from pathlib import Path
import tempfile

import numpy as np
from robot_identification.model.base_parameters import random_motion
from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import make_robot_model, RobotModel
from robot_identification.model.urdf import parse_urdf

from .figaroh import estimate_ours, SimulatedSet
from .figures import alternate, Figure, ratio
from .many_bags import take_time, write_bags
from .regressor import raw_calls
from .whole import GAINS

REPEATS = 7
SAMPLES = (1_000, 10_000, 100_000)
JOINTS = (3, 6, 12)
# Of each arm in the comparison of joints.
JOINT_SAMPLES = 2_000
BAGS = (1, 3, 12)


def measure(repeats: int) -> list[Figure]:
    """Return times per sample, per raw call and per bag, as ratios."""
    return [*_with_samples(repeats), *_with_joints(repeats), *_with_bags(min(repeats, 3))]


def random_set(robot: RobotModel, samples: int) -> SimulatedSet:
    """Return samples of an arm with torques that mean nothing: only time is of interest."""
    rng = np.random.default_rng(0)
    motion = random_motion(robot, samples, rng)
    torque = rng.standard_normal((samples, robot.n))
    return SimulatedSet(robot, motion, torque, motion, torque)


def chain_urdf(joints: int) -> str:
    """Return the URDF of revolute joints whose axes turn by a right angle from link to link."""
    links = ['<link name="ground"/>']
    for index in range(joints):
        parent = f'link{index - 1}' if index else 'ground'
        axis = ('0 0 1', '0 1 0')[index % 2]
        links.append(
            f'<link name="link{index}"><inertial><origin xyz="0.02 0.01 0.1"/>'
            '<mass value="2"/><inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
            f'</inertial></link><joint name="joint{index}" type="revolute">'
            f'<parent link="{parent}"/><child link="link{index}"/><origin xyz="0.05 0 0.2"/>'
            f'<axis xyz="{axis}"/><limit lower="-3" upper="3" effort="100" velocity="3"/></joint>'
        )
    return f'<robot name="chain{joints}">{"".join(links)}</robot>'


def chain(joints: int) -> RobotModel:
    """Return the arm of such joints."""
    return make_robot_model(parse_urdf(chain_urdf(joints), 'chain'))


def _with_samples(repeats: int) -> list[Figure]:
    robot = load_robot('ur5')
    sets = [random_set(robot, samples) for samples in SAMPLES]
    times = alternate([lambda data=data: estimate_ours(data, 'wls') for data in sets], repeats)
    fewest = [seconds / SAMPLES[0] for seconds in times[0]]
    return [
        Figure(f'time per sample, {samples} / {SAMPLES[0]} samples', '', ratio(
            [seconds / samples for seconds in found], fewest
        ))
        for samples, found in zip(SAMPLES[1:], times[1:], strict=True)
    ]


def _with_joints(repeats: int) -> list[Figure]:
    figures = []
    for joints in JOINTS:
        data = random_set(chain(joints), JOINT_SAMPLES)
        ours, raw = alternate(
            (
                lambda data=data: estimate_ours(data, 'wls'),
                lambda data=data: raw_calls(data.robot, data.motion),
            ),
            repeats,
        )
        figures.append(Figure(
            f'identification of {JOINT_SAMPLES} samples, {joints} joints / raw calls', '',
            ratio(ours, raw),
        ))
    return figures


def _with_bags(repeats: int) -> list[Figure]:
    robot = load_robot('ur5e').with_drive_gains(list(GAINS))
    with tempfile.TemporaryDirectory() as name:
        bags = write_bags(Path(name), robot)
        times = [
            [take_time(robot, bags[:count], 0) / count for _ in range(repeats)]
            for count in BAGS
        ]
    return [
        Figure(f'time per bag, {count} / {BAGS[0]} bags', '', ratio(found, times[0]))
        for count, found in zip(BAGS[1:], times[1:], strict=True)
    ]
