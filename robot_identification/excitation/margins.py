# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Margins that a motion keeps, the poses that they leave an arm to rest in, and usual windows.

No motion passes a pose that cannot be held at rest by going slower, so that is known before a
search. Arms with short strokes, weak or heavy joints get margins of their own. An arm that has no
experiment file gets the generic experiment, with window, margins and period from its limits: rests
and slow reversals, and a Fourier series as in the other experiments, about the middle of every
joint's range. Nothing is known of its cell, so nothing in it is avoided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any, NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.collision import links_without_shapes
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

# Ranges in which arms of the make have room on a table [rad].
USUAL_WINDOW = {
    'shoulder_pan_joint': (-2.5, 2.5),
    'shoulder_lift_joint': (-2.8, -0.3),
    'elbow_joint': (-2.5, 2.5),
    'wrist_1_joint': (-3.1, 3.1),
    'wrist_2_joint': (-3.1, 3.1),
    'wrist_3_joint': (-3.1, 3.1),
}
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


def usual_window(robot: RobotModel) -> dict[str, tuple[float, float]]:
    """
    Return a range [rad or m] for every joint.

    It is the usual one of the make, else that of the limits, half a turn at most to either side of
    zero, or of the pose nearest to zero that leaves as much.
    """
    return {
        joint: USUAL_WINDOW.get(joint, _half_turns(float(lower), float(upper)))
        for joint, lower, upper in zip(
            robot.joint_names, robot.limits.lower, robot.limits.upper, strict=True
        )
    }


def _half_turns(lower: float, upper: float) -> tuple[float, float]:
    """Return the part of a range within half a turn of the pose next to zero [rad or m]."""
    middle = min(max(0.0, lower + math.pi), upper - math.pi)
    return (
        (lower, upper) if upper - lower <= 2.0 * math.pi
        else (round(max(lower, middle - math.pi), 6), round(min(upper, middle + math.pi), 6))
    )


class GenericExperiment(NamedTuple):
    """An experiment, its content as in a file, and remarks on what was chosen."""

    experiment: Experiment
    content: dict[str, Any]
    notes: tuple[str, ...]


def make_generic_experiment(robot: RobotModel) -> GenericExperiment:
    """
    Return an experiment for an arm of which only its description is known.

    Joints stay in their usual window. Where the description states no limit of velocity or
    acceleration one is chosen, which the certificate lists as not checked. A clearance between
    links is proved where all of them have collision shapes.
    """
    window, open_ = usual_window(robot), find_open_choices(robot)
    limits, notes = open_.limits, list(open_.notes)
    period = _period(robot, window, limits)
    content: dict[str, Any] = {
        'schema_version': 1,
        'description': f'generic motion of {robot.name} from the limits of its description',
        'trajectory': {'form': 'fourier', 'harmonics': 5, 'base_period': period},
        'segments': [
            # A few rests do, and poses are as far off as joints get in that time.
            {'name': 'stops', 'poses': 3, 'dwell': 0.5, 'move_time': 0.1 * period},
            {'name': 'slow_reversals', 'reversals': 4, 'move_time': 0.8},
            # Last, so that what `auto` holds out of a recording is motion.
            'fourier',
        ],
        'gravity': [float(value) for value in robot.gravity],
        'margins': dict(MARGINS),
        'limits': limits,
        'window': {joint: list(ends) for joint, ends in window.items()},
        'criterion': 'log_determinant',
        'samples': 100,
        'collision': 'off' if open_.bare_links else 'on',
        'generic': True,
    }
    content['margins'], remarks = adapt_margins(robot, content)
    experiment = read_experiment(content, 'the generic experiment')
    return GenericExperiment(experiment, content, (*notes, *remarks))


class OpenChoices(NamedTuple):
    """Limits and shapes that a description does not state, and limits to take instead."""

    # Limits where none is stated, by kind and joint: [rad/s], [rad/s^2] or [m/s], [m/s^2].
    limits: dict[str, dict[str, float]]
    bare_links: tuple[str, ...]  # links without collision shapes
    notes: tuple[str, ...]  # a remark on each


def find_open_choices(robot: RobotModel) -> OpenChoices:
    """Return what a description leaves open: limits of velocity and acceleration, and shapes."""
    kinds = {joint.name: joint.kind for joint in robot.urdf.joints}
    # Slow for any arm.
    usual = {'revolute': (1.0, 4.0), 'continuous': (1.0, 4.0), 'prismatic': (0.1, 0.5)}
    limits: dict[str, dict[str, float]] = {}
    notes = []
    for index, (kind, stated, units) in enumerate((
        ('velocity', robot.limits.velocity, 'rad/s (m/s)'),
        ('acceleration', robot.limits.acceleration, 'rad/s^2 (m/s^2)'),
    )):
        found = {
            joint: usual[kinds[joint]][index]
            for joint, limit in zip(robot.joint_names, stated, strict=True)
            if not np.isfinite(limit)
        }
        if found:
            limits[kind] = found
            values = ', '.join(f'{value:g}' for value in dict.fromkeys(found.values()))
            where = '' if len(found) == robot.n else f' of {", ".join(found)}'
            notes.append(f'no {kind} limit{where} is stated: the motion keeps {values} {units}')
    bare = links_without_shapes(robot)
    if bare:
        notes.append(
            f'collisions are not checked: {robot.name} has no collision shapes (boxes, cylinders, '
            f'spheres; meshes are not read) at {", ".join(bare)}'
        )
    return OpenChoices(limits, bare, tuple(notes))


def _period(
    robot: RobotModel, window: Mapping[str, tuple[float, float]],
    limits: Mapping[str, Mapping[str, float]],
) -> float:
    """
    Return a period [s] in which the base harmonic of every joint sweeps its window.

    A sweep of 1 rad (or m) to either side is enough: the torque of gravity changes well over some
    60 degrees. The period is that of the shipped experiments at least, and a minute at most.
    """
    chosen = limits.get('velocity', {})
    slowest = max(
        2.0 * math.pi * min(1.0, 0.5 * (window[joint][1] - window[joint][0]))
        / (MARGINS['velocity'] * chosen.get(joint, float(stated)))
        for joint, stated in zip(robot.joint_names, robot.limits.velocity, strict=True)
    )
    return float(min(max(math.ceil(slowest), 10.0), 60.0))
