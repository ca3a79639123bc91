# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Joint torque that is equivalent to a difference between two models of an arm.

Raviola et al. 2021 state the change between a cold and a warm arm in this way: mean and largest
along one motion, and as a share of what joints of that size can give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.excitation import FourierParametrization, load_trajectory
from robot_identification.model import IdentifiedModel, Motion
from robot_identification.studies.comparison.sliding import common_range

# The motion that models are compared along where none is given: slow, and the same every time.
PERIOD = 20.0
HARMONICS = 5
RATE = 100.0
SEED = 0
# A joint without end turns so far from its zero [rad].
FARTHEST = np.pi


@dataclass(frozen=True, eq=False)
class TorqueChange:
    """Torque of one model less that of another, along one motion."""

    joints: tuple[str, ...]  # the n joints
    samples: int  # of the motion
    # (n,): of the size of the difference [N m].
    mean: FloatArray
    largest: FloatArray
    rms: FloatArray
    limit: FloatArray  # (n,): largest joint torque [N m]; infinite where not known
    units: tuple[str, ...] = ()  # (n,): of all these, 'N m' or 'N'; empty: all joints turn

    def unit(self, joint: int) -> str:
        """Return the unit of a joint's torque."""
        return self.units[joint] if self.units else 'N m'

    @property
    def share(self) -> FloatArray:
        """Return the largest difference over the limit, shape (n,); NaN where unknown."""
        return np.where(np.isfinite(self.limit), self.largest / self.limit, np.nan)


def shared_motion(models: Sequence[IdentifiedModel]) -> Motion:
    """
    Return a motion within the position limits and speeds that all models share.

    It is always the same Fourier motion, scaled by joint: each joint reaches either the largest
    speed at which friction of all models is known, or an end of its range.
    """
    lower = np.max([model.robot.limits.lower for model in models], axis=0)
    upper = np.min([model.robot.limits.upper for model in models], axis=0)
    middle = np.where(np.isfinite(lower) & np.isfinite(upper), 0.5 * (lower + upper), 0.0)
    room = np.minimum(np.minimum(upper - middle, middle - lower), FARTHEST)
    form = FourierParametrization(harmonics=HARMONICS, base_period=PERIOD)
    coefficients = np.random.default_rng(SEED).normal(size=(len(lower), form.n_coefficients))
    bases = form.basis(np.arange(0.0, PERIOD, 1.0 / RATE))
    q, dq, ddq = (basis @ coefficients.T for basis in bases)
    centre = 0.5 * (q.max(axis=0) + q.min(axis=0))
    reach = 0.5 * np.ptp(q, axis=0)
    scale = np.minimum(common_range(models).speeds / np.abs(dq).max(axis=0), room / reach)
    return Motion(middle + (q - centre) * scale, dq * scale, ddq * scale)


def motion_of_trajectory(path: Path, joint_names: Sequence[str]) -> Motion:
    """Return a trajectory at `RATE`; raises DataError unless it is of these very joints."""
    trajectory = load_trajectory(path)
    if tuple(trajectory.joint_names) != tuple(joint_names):
        raise DataError(
            f'{path} moves {", ".join(trajectory.joint_names)}, the models have '
            f'{", ".join(joint_names)}: take a trajectory of this arm'
        )
    return trajectory.sample(trajectory.times(RATE))


def model_torque(model: IdentifiedModel, motion: Motion) -> FloatArray:
    """
    Return a model's torques at the temperatures of its identification, shape (N, n) [N m].

    Temperatures of the motion are used where it has some.
    """
    if motion.temperature is None:
        temperature = np.full(model.robot.n, np.nan) if model.temperature is None else (
            np.array(model.temperature)
        )
        for term in model.parameters.friction:
            if term.law.needs_temperature and not np.isfinite(temperature[term.joint]):
                temperature[term.joint] = term.law.constants()['reference']
        motion = motion.at_temperature(temperature)
    return model.torque(motion)


def change_of_torque(
    first: IdentifiedModel, second: IdentifiedModel, motion: Motion
) -> TorqueChange:
    """
    Return the difference of the torques of two models along a motion.

    Both models are of arms with the same n joints. Raises DataError if the motion does not have n
    joints.
    """
    if motion.q.shape[1] != first.robot.n:
        raise DataError(
            f'the motion has {motion.q.shape[1]} joints and the models have {first.robot.n}: take '
            'a trajectory of this arm'
        )
    size = np.abs(model_torque(second, motion) - model_torque(first, motion))
    return TorqueChange(
        first.robot.joint_names, len(motion), size.mean(axis=0), size.max(axis=0),
        np.sqrt(np.mean(size**2, axis=0)), np.array(first.robot.limits.effort, dtype=float),
        tuple(first.robot.unit('N m', joint) for joint in range(first.robot.n)),
    )


def share_of_limit(largest: FloatArray, limit: FloatArray) -> Mapping[float, float]:
    """
    Return the change of torque by size of joint, as a share of its largest torque.

    Raviola et al. 2021, table 7: the mean of the largest changes (n,) [N m] over the joints of one
    size, divided by the torque limit of that size. Joints with the same `limit` (n,) [N m] are of
    one size; keys are the limits, ascending. Joints whose limit is not finite are left out.
    """
    limits = np.asarray(limit, dtype=float)
    return {
        float(size): float(np.mean(np.asarray(largest)[limits == size]) / size)
        for size in np.unique(limits[np.isfinite(limits)])
    }
