# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Margins that a motion keeps, the poses that they leave an arm to rest in, and unusual ones.

No motion passes a pose that cannot be held at rest by going slower, so that is known before a
search. Arms with short strokes, weak or heavy joints get margins of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.constraints import motion_limits, MotionLimits
from robot_identification.excitation.experiment import Experiment
from robot_identification.excitation.experiment_file import read_experiment
from robot_identification.model import Motion, rigid_torque, RobotModel
import scipy

POSITION_MARGIN = 0.1  # distance kept from the position limits [rad or m]
VELOCITY_SHARE = 0.8  # of the hardware's limit
TORQUE_SHARE = 0.8  # of the hardware's limit, with the masses that may be wrong
MASS_UNCERTAINTY = 0.3  # share by which masses of the description may be wrong
# What the runner asks of a motion on a real arm, so that it is not designed in vain.
MARGINS = {
    'position': POSITION_MARGIN,
    'velocity': VELOCITY_SHARE,
    'acceleration': 0.6,
    'torque': math.floor(100.0 * TORQUE_SHARE / (1.0 + MASS_UNCERTAINTY)) / 100.0,
}
# First run: largest speed of the tool [m/s], that of manual operation in ISO 10218-1, and share of
# the planned speed.
SLOW_TOOL_SPEED = 0.25
SLOW_SPEED = 0.1
SHORTEST_APPROACH = 1.0  # duration of the way to the start [s]; chosen: calm even for short ways

# Random poses of the range; chosen: shares are known to 1 %.
POSES = 2000
# With fewer poses held than this a search among them is worth a warning.
FEW_HELD = 0.5


@dataclass(frozen=True)
class Holding:
    """
    Torque that an arm needs to hold the poses of its range.

    `joint` needs most of its limit: of all poses, or, where none can be held, in the pose that
    needs least.
    """

    held: float  # share of random poses within all limits, 0 only if a descent found none either
    joint: str
    torque: float  # magnitude that the joint needs there [N m]
    largest: float  # the same, in any pose [N m]
    limit: float  # with the margin taken off [N m]
    margin: float  # share of the robot's limit that this is
    unit: str  # of the torques: N m, of a joint that slides N

    def describe(self) -> str:
        """Return in words what cannot be held, and what to change; empty if every pose can be."""
        if self.held == 1.0:
            return ''
        share = '' if self.margin == 1.0 else f' ({self.margin:.0%} of its limit)'
        limit = f'where {self.limit:.4g} {self.unit}{share} are allowed'
        if self.held == 0.0:
            found = (
                f'no pose in its range can be held against gravity: {self.joint} needs '
                f'{self.torque:.4g} {self.unit} in the best pose found and up to '
                f'{self.largest:.4g} {self.unit} in others, {limit}'
            )
        else:
            found = (
                f'{self.joint} needs up to {self.largest:.4g} {self.unit} against gravity, '
                f'{limit}: '
                f'{100.0 * self.held:.2g} % of the poses in its range can be held'
            )
        return (
            f'{found}; a slower motion needs as much: correct the effort limit (`effort` in the '
            'robot YAML) or the masses, raise `margins.torque`, or narrow the window'
        )


def find_holding(robot: RobotModel, limits: MotionLimits, margin: float = 1.0) -> Holding:
    """
    Return how an arm holds the poses of its range, with its own gravity.

    `limits` have their margins taken off; `margin`, the share of the robot's torques that is left,
    is only for the description.
    """
    poses = np.random.default_rng(0).uniform(limits.lower, limits.upper, (POSES, robot.n))
    torques = _gravity_torques(robot, poses)
    shares = torques / limits.torque
    needed = shares.max(axis=1)
    held = float(np.mean(needed <= 1.0))
    place = np.unravel_index(np.argmax(shares), shares.shape)
    torque, joint = torques[place[0]], int(place[1])
    if held == 0.0:
        # From some of those that need least.
        least = _least_torques(robot, limits, poses[np.argsort(needed)[:5]])
        if np.all(least <= limits.torque):
            # A pose that a descent found is rarer than one of the random ones.
            held = 1.0 / POSES
        else:
            torque, joint = least, int(np.argmax(least / limits.torque))
    return Holding(
        held, robot.joint_names[joint], float(torque[joint]), float(torques[:, joint].max()),
        float(limits.torque[joint]), margin, robot.unit('N m', joint),
    )


def find_experiment_holding(robot: RobotModel, experiment: Experiment) -> Holding:
    """
    Return how an arm holds the poses of an experiment's window in its mounting.

    Raises UsageError if the experiment names a joint that the arm does not have.
    """
    return find_holding(
        robot.with_gravity(experiment.gravity), motion_limits(robot, experiment),
        experiment.margins.torque,
    )


def _gravity_torques(robot: RobotModel, poses: FloatArray) -> FloatArray:
    """Return the size of the torques that hold poses (N, n) at rest, (N, n) [N m]."""
    rest = np.zeros_like(poses)
    return np.abs(rigid_torque(robot, Motion(poses, rest, rest)))


def _least_torques(robot: RobotModel, limits: MotionLimits, starts: FloatArray) -> FloatArray:
    """Return the torques of the pose that needs least of the limits, of descents from `starts`."""
    bounds = list(zip(limits.lower, limits.upper, strict=True))

    def excess(q: FloatArray) -> float:
        shares = _gravity_torques(robot, q[None])[0] / limits.torque
        return float(np.sum(np.maximum(shares - 1.0, 0.0) ** 2))

    ends = [
        scipy.optimize.minimize(excess, start, bounds=bounds, method='L-BFGS-B').x
        for start in starts
    ]
    torques = _gravity_torques(robot, np.array(ends))
    least: FloatArray = torques[np.argmin((torques / limits.torque).max(axis=1))]
    return least


def adapt_margins(
    robot: RobotModel, content: Mapping[str, Any]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """
    Return the margins of an experiment, and remarks on those that are not the usual ones.

    The usual margin is kept wherever it leaves half of a range, since the runner of a real arm
    asks for it, and the usual share of the torque limits wherever it leaves a pose to rest in.
    `content` is that of the experiment.
    """
    margins, remarks = dict(MARGINS), []
    spans = robot.limits.upper - robot.limits.lower
    narrowest = int(spans.argmin())
    if 4.0 * margins['position'] > spans[narrowest]:
        # Four fifths of the range are left.
        margins['position'] = float(f'{0.1 * spans[narrowest]:.3g}')
        remarks.append(
            f'{margins["position"]:g} rad (m) are kept from the position limits instead of '
            f'{MARGINS["position"]:g}: {robot.joint_names[narrowest]} has a range of '
            f'{spans[narrowest]:.4g} {robot.position_units[narrowest]}'
        )
    for share in (MARGINS['torque'], TORQUE_SHARE, 0.95):
        margins['torque'] = share
        experiment = read_experiment({**content, 'margins': margins}, 'the experiment')
        if find_experiment_holding(robot, experiment).held > 0.0:
            break
    if margins['torque'] != MARGINS['torque']:
        remarks.append(
            f'{margins["torque"]:.0%} of the torque limits are allowed instead of '
            f'{MARGINS["torque"]:.0%}: with less no pose could be held against gravity'
        )
    return margins, tuple(remarks)
