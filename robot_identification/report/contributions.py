# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Contributions to the effort of each joint: gravity, inertia, velocity, friction, the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray
from robot_identification.model import IdentifiedModel, Motion, standard_torque, StandardParameters
from robot_identification.report.explanation import Scored

# Class of the style sheet, and name, of every part; rotors are part of inertia.
PARTS = (
    ('gravity', 'gravity'),
    ('inertia', 'inertia, rotors included'),
    ('velocity', 'Coriolis and centrifugal'),
    ('friction', 'friction'),
    ('unexplained', 'unexplained'),
)
# Samples that are looked at, of all recordings together; chosen: the RMS of a motion is known to
# two digits.
MOST_SAMPLES = 2000


@dataclass(frozen=True)
class JointContributions:
    """RMS of the parts of a joint's effort, in the order of `PARTS`."""

    joint: str
    rms: tuple[float, ...]  # in the unit of the recording

    @property
    def shares(self) -> tuple[float, ...]:
        """Return the parts over their sum; all zero where there is no effort."""
        return tuple(value / (sum(self.rms) or 1.0) for value in self.rms)


def joint_contributions(
    model: IdentifiedModel, bags: Sequence[Scored]
) -> tuple[JointContributions, ...]:
    """Return what the effort of every joint is made of, over all recordings."""
    squares, count = np.zeros((len(PARTS), model.robot.n)), 0
    for bag in bags:
        rows = np.flatnonzero(bag.rows)
        rows = rows[:: 1 + len(rows) * len(bags) // MOST_SAMPLES]
        parts = effort_parts(model, bag, rows)
        left = bag.dataset.effort[rows] - parts.sum(axis=0)
        squares += np.sum(np.concatenate([parts, left[None]]) ** 2, axis=1)
        count += len(rows)
        bag.dataset.release()
    rms = np.sqrt(squares / max(count, 1))
    return tuple(
        JointContributions(name, tuple(map(float, own)))
        for name, own in zip(model.robot.joint_names, rms.T, strict=True)
    )


def effort_parts(model: IdentifiedModel, bag: Scored, rows: NDArray[np.int64]) -> FloatArray:
    """
    Return the parts of a predicted effort at some samples (m,), shape (4, m, n).

    In the bag's unit, in the order of `PARTS`, which the unexplained closes; their sum is the
    prediction. Friction is what bodies and rotors leave of it: offsets and corrections are in it.
    """
    n, theta, parameters = model.robot.n, model.theta_lifted, model.parameters
    motion = bag.dataset.motion.rows(rows)
    bodies, still = StandardParameters(n, (), False), np.zeros_like(motion.q)
    gravity, held, moved = (
        standard_torque(model.robot, bodies, theta[: 10 * n], Motion(motion.q, dq, ddq))
        for dq, ddq in ((still, still), (motion.dq, still), (motion.dq, motion.ddq))
    )
    inertia = moved - held
    if parameters.reflected_inertia:
        inertia = inertia + motion.drive_side.ddq * theta[parameters.reflected_inertia_slice]
    parts = np.array([gravity, inertia, held - gravity]) * model.effort_per_torque
    friction = bag.predicted[rows] - parts.sum(axis=0)
    return np.concatenate([parts, friction[None]])
