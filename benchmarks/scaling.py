# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Growth of the cost with samples and joints: from samples to estimate by WLS."""

from __future__ import annotations

from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import make_robot_model, RobotModel
from robot_identification.model.urdf import parse_urdf

from .figaroh import estimate_ours, random_set
from .figures import alternate, Figure, ratio
from .regressor import raw_calls

REPEATS = 7
SAMPLES = (1_000, 10_000, 100_000)
JOINTS = (3, 6, 12)
# Of each arm in the comparison of joints.
JOINT_SAMPLES = 2_000


def measure(repeats: int) -> list[Figure]:
    """Return times per sample and per raw call, as ratios."""
    return [*_with_samples(repeats), *_with_joints(repeats)]


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
    times = alternate([lambda data=data: estimate_ours(data) for data in sets], repeats)
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
                lambda data=data: estimate_ours(data),
                lambda data=data: raw_calls(data.robot, data.motion),
            ),
            repeats,
        )
        figures.append(Figure(
            f'identification of {JOINT_SAMPLES} samples, {joints} joints / raw calls', '',
            ratio(ours, raw),
        ))
    return figures
