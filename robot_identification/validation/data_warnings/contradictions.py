# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effort that contradicts the URDF: its bodies in sign or size, or its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import (
    inertial_regressor, Motion, prior_inertial_parameters, rigid_torque, RobotModel,
)
from robot_identification.processing import Dataset, effort_per_torque, without_friction

# A joint whose rigid torque explains less than this share of what friction, rotor and bias leave
# of its effort says nothing of the URDF's bodies.
TELLING_SHARE = 0.3
# Effort over the URDF's torque outside this range is not a matter of wrong masses.
CREDIBLE_RATIO = (0.4, 2.5)
# Of an arm with fewer joints the contradiction of one counts as that of several.
FEW_JOINTS = 3
# A tool weighs at most so much of the links that move [1]: the rated payload of few arms is more.
HEAVIEST_TOOL = 0.5
# Efforts over the limit that a description states, at most [1]; chosen: motors can do twice their
# lasting torque for a moment.
LARGEST_OVERLOAD = 3.0
# Share of the samples that may be spikes [1]: so many of the largest efforts are not looked at.
# Measured on the public recordings: the largest of the others is 0.96 to 0.99 of the largest on
# the UR10, 0.48 to 0.99 on the Panda, which is little beside `LARGEST_OVERLOAD`; spikes of ten
# times the RMS in 1 % of the samples leave it below the largest without them, in 2 % they make it
# 1.7 to 6 times that.
SPIKES = 0.01
# Efforts that scatter by less are constant [N m].
SMALLEST_TORQUE = 1.0e-9
# A few thousand samples show a wrong sign or unit.
MOST_SAMPLES = 2000


@dataclass(frozen=True)
class Contradiction:
    """
    Effort that contradicts the URDF in sign or size.

    Several joints do where a unit or a mounting is wrong. One joint whose bodies are light has
    another ratio where its centre of mass is a centimetre off: the tests of this package, which
    know how far a URDF may be wrong, judge that.
    """

    text: str  # the joints, what was found and what to check
    of_several: bool
    joints: tuple[str, ...]  # their names


def find_contradictions(
    robot: RobotModel, datasets: Sequence[Dataset]
) -> tuple[Contradiction, ...]:
    """Return where the effort of training data contradicts the URDF in sign, size or limits."""
    found = []
    for dataset in datasets:
        if overloads := exceeded_limits(robot, dataset):
            named = ', '.join(f'{name} {ratio:.2g}' for name, ratio in overloads.items())
            found.append(Contradiction(
                f'largest effort over the limit of the joint is {named}: check effort unit and '
                'drive gains, or correct the limits',
                of_several=True,
                joints=tuple(overloads),
            ))
        if ratios := contradicting_ratios(robot, dataset):
            named = ', '.join(f'{name} {ratio:.2g}' for name, ratio in ratios.items())
            found.append(Contradiction(
                f'measured over expected torque of the bodies is {named}: check effort unit, '
                'drive gains, signs and mounting',
                of_several=len(ratios) > 1 or robot.n < FEW_JOINTS,
                joints=tuple(ratios),
            ))
    return tuple(found)


def exceeded_limits(robot: RobotModel, dataset: Dataset) -> dict[str, float]:
    """
    Return the largest effort over its limit of the joints that clearly exceed it, by name.

    It is empty unless most joints of the arm exceed theirs. A limit below the torque that the
    URDF's own bodies need, such as a placeholder, is left out.
    """
    motion, effort = dataset.thinned(MOST_SAMPLES)
    if not len(motion):
        return {}
    measured = np.abs(effort * dataset.torque_per_effort(robot))
    limit = robot.limits.effort
    credible = np.isfinite(limit) & (limit > np.abs(rigid_torque(robot, motion)).max(axis=0))
    overload = np.quantile(measured, 1.0 - SPIKES, axis=0) / np.where(credible, limit, np.inf)
    beyond = np.flatnonzero(overload > LARGEST_OVERLOAD)
    if 2 * len(beyond) <= robot.n:
        return {}
    return {robot.joint_names[joint]: float(overload[joint]) for joint in beyond}


def contradicting_ratios(robot: RobotModel, dataset: Dataset) -> dict[str, float]:
    """
    Return measured over expected torque of the joints that contradict the URDF, by name.

    None do where a tool on the last link explains all of them.
    """
    motion, effort = dataset.thinned(MOST_SAMPLES)
    rigid = rigid_torque(robot, motion)
    measured = effort * dataset.torque_per_effort(robot)
    ratios = _ratios(robot, measured, rigid, motion)
    if ratios:
        tool = _tool_torque(robot, measured - rigid, motion)
        if tool is not None and not _ratios(robot, measured, rigid + tool, motion):
            return {}
    return ratios


def _ratios(
    robot: RobotModel, measured: FloatArray, expected: FloatArray, motion: Motion
) -> dict[str, float]:
    ratios, correlations = effort_per_torque(measured, expected, motion)
    return {
        name: float(ratio)
        for name, ratio, correlation in zip(robot.joint_names, ratios, correlations, strict=True)
        if correlation**2 > TELLING_SHARE and not CREDIBLE_RATIO[0] < ratio < CREDIBLE_RATIO[1]
    }


def _tool_torque(robot: RobotModel, torque: FloatArray, motion: Motion) -> FloatArray | None:
    """Return the torque (N, n) of the tool that explains most of one; None of no credible tool."""
    columns = inertial_regressor(robot, motion).reshape(*torque.shape, -1)[:, :, -10:]
    rows = np.concatenate([
        without_friction(
            motion, joint,
            np.column_stack([columns[:, joint], torque[:, joint]])
            / max(float(np.std(torque[:, joint])), SMALLEST_TORQUE),
            np.ones(len(motion)),
        )[0]
        for joint in range(robot.n)
    ])
    # Directions that the motion does not show stay at zero.
    tool = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=1e-6)[0]
    heaviest = HEAVIEST_TOOL * float(prior_inertial_parameters(robot)[::10].sum())
    return columns @ tool if 0.0 < tool[0] < heaviest else None
