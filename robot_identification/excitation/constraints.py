# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Limits of a motion, checked on a dense grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.errors import UsageError
from robot_identification.excitation.experiment_file import Experiment
from robot_identification.model.regressor import Motion
from robot_identification.model.regressor import rigid_torque
from robot_identification.model.robot_model import RobotModel

FloatArray = NDArray[np.float64]

# Where neither hardware nor experiment limits a position, one turn each way.
FREE_POSITION = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """
    What a motion must stay within, margins taken off.

    Attributes
    ----------
    lower, upper : ndarray, shape (n,)
        Position [rad].
    velocity, acceleration, torque : ndarray, shape (n,)
        Magnitudes [rad/s], [rad/s^2], [N m]; infinite where unknown.

    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    torque: FloatArray


@dataclass(frozen=True)
class LimitUse:
    """
    The share of one limit that a motion uses, and where it is largest.

    Attributes
    ----------
    kind, joint : str
        'position', 'velocity', 'acceleration' or 'torque', and the joint.
    share : float
        Above 1 the limit is broken.
    value, limit : float
        The largest value and its limit, SI units.
    time : float
        When [s].

    """

    kind: str
    joint: str
    share: float
    value: float
    limit: float
    time: float


def motion_limits(robot: RobotModel, experiment: Experiment) -> MotionLimits:
    """
    Return the limits of the hardware with the experiment's margins.

    Raises
    ------
    UsageError
        If the experiment names a joint the robot does not have, or nothing is left of a range.

    """
    unknown = sorted(set(experiment.window) - set(robot.joint_names))
    if unknown:
        raise UsageError(
            f'the experiment limits {", ".join(unknown)}; {robot.name} has the joints '
            f'{", ".join(robot.joint_names)}'
        )
    limits, margins = robot.limits, experiment.margins
    lower = np.where(np.isfinite(limits.lower), limits.lower + margins.position, -FREE_POSITION)
    upper = np.where(np.isfinite(limits.upper), limits.upper - margins.position, FREE_POSITION)
    for joint, (low, high) in experiment.window.items():
        index = robot.joint_names.index(joint)
        lower[index], upper[index] = max(lower[index], low), min(upper[index], high)
    empty = np.flatnonzero(lower >= upper)
    if empty.size:
        joint = robot.joint_names[empty[0]]
        raise UsageError(
            f'no position is left for {joint} between {lower[empty[0]]:.3f} and '
            f'{upper[empty[0]]:.3f} rad: widen its window or the margin'
        )
    return MotionLimits(
        lower=lower,
        upper=upper,
        velocity=limits.velocity * margins.velocity,
        acceleration=limits.acceleration * margins.acceleration,
        torque=limits.effort * margins.torque,
    )


def measure_limit_use(
    robot: RobotModel, limits: MotionLimits, times: FloatArray, motion: Motion
) -> list[LimitUse]:
    """
    Return how much of every limit a motion uses, the worst instant of each joint.

    Parameters
    ----------
    robot : RobotModel
        The arm, with the prior that torques are predicted from.
    limits : MotionLimits
        Margins taken off.
    times : ndarray, shape (N,)
        Instants of the samples [s].
    motion : Motion
        N samples, dense.

    """
    centre = 0.5 * (limits.lower + limits.upper)
    pairs = {
        'position': (motion.q - centre, 0.5 * (limits.upper - limits.lower)),
        'velocity': (motion.dq, limits.velocity),
        'acceleration': (motion.ddq, limits.acceleration),
        # The URDF's bodies alone: the margin has to cover friction and rotors.
        'torque': (rigid_torque(robot, motion), limits.torque),
    }
    uses = []
    for kind, (values, bounds) in pairs.items():
        worst = np.argmax(np.abs(values), axis=0)
        for joint, (k, bound) in enumerate(zip(worst, bounds, strict=True)):
            value = float(values[k, joint])
            low_high = (limits.lower[joint], limits.upper[joint])
            uses.append(LimitUse(
                kind=kind,
                joint=robot.joint_names[joint],
                share=abs(value) / float(bound),
                value=float(motion.q[k, joint]) if kind == 'position' else value,
                limit=float(low_high[value > 0.0]) if kind == 'position' else float(bound),
                time=float(times[k]),
            ))
    return uses


def broken_limits(uses: list[LimitUse], tolerance: float = 1e-9) -> list[str]:
    """Return the limits that are broken, in words."""
    units = {'position': 'rad', 'velocity': 'rad/s', 'acceleration': 'rad/s^2', 'torque': 'N m'}
    return [
        f'{use.kind} of {use.joint} reaches {use.value:.4g} {units[use.kind]} at '
        f'{use.time:.3f} s, the limit is {use.limit:.4g}'
        for use in uses
        if not use.share <= 1.0 + tolerance
    ]
