# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effort that contradicts the bodies of the URDF in sign or size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_identification.model import rigid_torque, RobotModel
from robot_identification.processing import Dataset, effort_per_torque

# A joint whose rigid torque explains less than this share of what friction, rotor and bias leave
# of its effort says nothing of the URDF's bodies.
TELLING_SHARE = 0.3
# Effort over the URDF's torque outside this range is not a matter of wrong masses.
CREDIBLE_RATIO = (0.4, 2.5)
# Of an arm with fewer joints the contradiction of one counts as that of several.
FEW_JOINTS = 3
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
    ratios, correlations = effort_per_torque(measured, rigid, motion)
    return {
        name: float(ratio)
        for name, ratio, correlation in zip(robot.joint_names, ratios, correlations, strict=True)
        if correlation**2 > TELLING_SHARE and not CREDIBLE_RATIO[0] < ratio < CREDIBLE_RATIO[1]
    }
