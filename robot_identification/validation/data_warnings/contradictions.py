# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effort that contradicts the bodies of the URDF in sign or size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.model import rigid_torque, RobotModel
from robot_identification.processing import Dataset

# A joint whose rigid torque explains less than this share of what friction, rotor and bias leave
# of its effort says nothing of the URDF's bodies.
TELLING_SHARE = 0.3
# Effort over the URDF's torque outside this range is not a matter of wrong masses.
CREDIBLE_RATIO = (0.4, 2.5)
# Part of a sum of squares that is rounding.
ROUNDING = 1.0e-12
# Of an arm with fewer joints the contradiction of one counts as that of several.
FEW_JOINTS = 3
# A few thousand samples show a wrong sign or unit.
MOST_SAMPLES = 2000
# Width of the smooth sign of a velocity [rad/s].
SLIDING_WIDTH = 0.02


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
    """Return where the effort of training data contradicts the URDF in sign or size."""
    found = []
    for dataset in datasets:
        if ratios := contradicting_ratios(robot, dataset):
            named = ', '.join(f'{name} {ratio:.2g}' for name, ratio in ratios.items())
            found.append(Contradiction(
                f'measured over expected torque of the bodies is {named}: check effort unit, '
                'drive gains, signs and mounting',
                of_several=len(ratios) > 1 or robot.n < FEW_JOINTS,
                joints=tuple(ratios),
            ))
    return tuple(found)


def contradicting_ratios(robot: RobotModel, dataset: Dataset) -> dict[str, float]:
    """Return measured over expected torque of the joints that contradict the URDF, by name."""
    motion, effort = dataset.thinned(MOST_SAMPLES)
    rigid = rigid_torque(robot, motion)
    measured = effort * dataset.torque_per_effort(robot)
    ratios = {}
    for joint, name in enumerate(robot.joint_names):
        dq = motion.dq[:, joint]
        # What a URDF does not state: friction, rotor inertia, bias.
        others = np.column_stack(
            [np.tanh(dq / SLIDING_WIDTH), dq, motion.ddq[:, joint], np.ones_like(dq)]
        )
        projection = np.linalg.qr(others)[0]
        seen, expected = (
            values - projection @ (projection.T @ values)
            for values in (measured[:, joint], rigid[:, joint])
        )
        energy, size = expected @ expected, seen @ seen
        if energy <= ROUNDING * np.sum(rigid[:, joint] ** 2) or (
            size <= ROUNDING * np.sum(measured[:, joint] ** 2)
        ):
            continue
        ratio = float(seen @ expected / energy)
        explained = ratio**2 * energy / size
        if explained > TELLING_SHARE and not CREDIBLE_RATIO[0] < ratio < CREDIBLE_RATIO[1]:
            ratios[name] = ratio
    return ratios
