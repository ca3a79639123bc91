# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The motions of a whole study of one arm in its cell, as experiment files in one order.

Warm-up first, since friction falls while joints warm up (Raviola et al. 2021, section 6); then the
motion to identify from, motions to validate with that the search has not made best for the same
criterion, poses at rest from both sides, and constant-velocity segments joint by joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
import math
from typing import Any, NamedTuple

import numpy as np
from robot_identification.errors import UsageError
from robot_identification.excitation.collision import Obstacle
from robot_identification.excitation.constraints import motion_limits, MotionLimits
from robot_identification.excitation.experiment import Experiment
from robot_identification.excitation.experiment_file import read_experiment
from robot_identification.excitation.margins import (
    adapt_margins, MARGINS, SHORTEST_APPROACH, SLOW_SPEED,
)
from robot_identification.excitation.problem import TrajectoryProblem
from robot_identification.files import file_name
from robot_identification.model import RobotModel, STATED_UNITS
from robot_identification.simulation import QUINTIC_PEAK

# Where data come from: the ROS driver, tables of an arm moved by its own program, the simulation.
SOURCES = ('ros', 'csv', 'simulated')
# What a study consists of, in this order.
STEPS = ('warm_up', 'excitation', 'validation', 'static_poses', 'friction_map')

# A pose from which every joint of arms of the make has some room both ways [rad].
USUAL_HOME = {
    'shoulder_pan_joint': 0.0,
    'shoulder_lift_joint': -1.57,
    'elbow_joint': 1.3,
    'wrist_1_joint': -1.57,
    'wrist_2_joint': -1.57,
    'wrist_3_joint': 0.0,
}
# Joints that stay are given this much about their pose [rad]: a range must not be empty.
STILL = 0.002
# How far a segment goes to either side of the pose [rad].
TRAVEL = 1.5
# Walls, tables and ceilings are slabs of this edge and thickness [m].
SLAB, THICKNESS = 6.0, 0.05
# What a pose of the friction map keeps beyond the clearance [m].
ROOM = 0.01
# Speed of the runner on the way to the start, its default [rad/s]; a test compares the two.
APPROACH_SPEED = 0.3
# Long motions of slow tools, of which a larger share of the speed counts as slow (`slow_speed`).
GENTLE_STEPS, GENTLE_SPEED = ('static_poses', 'friction_map'), 0.3


@dataclass(frozen=True)
class Laboratory:
    """Arm and laboratory that a study is planned for."""

    # Roll, pitch and yaw of the root frame in the world [rad].
    mounting: tuple[float, float, float] = (0.0, 0.0, 0.0)
    obstacles: tuple[Obstacle, ...] = ()  # what stands in the cell, in the root frame
    # Position range by joint [rad]; joints that are not named keep their limits.
    window: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    effort_unit: str = 'A'  # of the recorded effort; one of STATED_UNITS
    source: str = 'ros'  # where data come from; {'ros', 'csv', 'simulated'}
    collision: bool = True  # whether motions are proved free of collision
    # Those of MARGINS, or of `adapt_laboratory` where they leave no motion.
    margins: Mapping[str, float] = field(default_factory=lambda: dict(MARGINS))
    # Limits that were chosen where the description states none, by kind and joint.
    limits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    # Whether these, or that there is no collision check, were not decided by a person:
    # certificates list them as not checked.
    generic: bool = False

    def __post_init__(self) -> None:
        if not np.all(np.isfinite(self.mounting)):
            raise UsageError(f'the mounting is {list(self.mounting)}, finite angles are needed')
        if self.effort_unit not in STATED_UNITS:
            raise UsageError(
                f'the effort unit is {self.effort_unit!r}, it is one of {", ".join(STATED_UNITS)}'
            )
        if self.source not in SOURCES:
            raise UsageError(
                f'the source of data is {self.source!r}, it is one of {", ".join(SOURCES)}'
            )
        if self.obstacles and not self.collision:
            raise UsageError(
                'without the collision check there is no use for a table, walls or boxes: leave '
                'them out, or keep the check'
            )


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """One motion of a study."""

    name: str  # of its experiment file, without suffix
    step: str  # one of STEPS
    content: Mapping[str, Any]  # of the experiment file
    experiment: Experiment  # what it says
    seed: int  # of the search
    search_seconds: float  # how long to search [s]
    approach_seconds: float  # the way to its start from anywhere in its window, at most [s]

    @property
    def motion_seconds(self) -> float:
        """Return how long all its periods take [s]."""
        return self.experiment.duration * self.experiment.periods

    @property
    def seconds(self) -> float:
        """Return how long one execution takes at most, the way to the start included [s]."""
        return self.approach_seconds + self.motion_seconds

    @property
    def slow_speed(self) -> float:
        """Share of the planned speed of its slow run, where the tool keeps its own limit."""
        return GENTLE_SPEED if self.step in GENTLE_STEPS else SLOW_SPEED

    @property
    def slow_seconds(self) -> float:
        """Return how long one period takes at that speed, the way to the start included [s]."""
        return self.approach_seconds + self.experiment.duration / self.slow_speed


def slab(name: str, side: str, distance: float) -> Obstacle:
    """
    Return a table, wall or ceiling as a box in the root frame.

    `side` is 'below', 'above', 'front', 'back', 'left' or 'right', seen from the root frame: x
    forward, y left, z up. `distance` is that of the near face from the origin along that direction
    [m]; below zero for a table above the origin. Raises UsageError if there is no such side, or
    the distance exceeds SLAB [m] in size.
    """
    sides = {
        'front': (0, 1.0), 'back': (0, -1.0), 'left': (1, 1.0), 'right': (1, -1.0),
        'above': (2, 1.0), 'below': (2, -1.0),
    }
    if side not in sides:
        raise UsageError(f'{name}: {side!r} is no side, known are {", ".join(sides)}')
    if not abs(distance) <= SLAB:
        raise UsageError(
            f'{name}: {distance:g} m away, at most {SLAB:g} m make a difference: give it in m'
        )
    axis, sign = sides[side]
    size, place = [SLAB] * 3, [0.0] * 3
    size[axis], place[axis] = THICKNESS, sign * (distance + 0.5 * THICKNESS)
    return Obstacle(
        name, (size[0], size[1], size[2]), (place[0], place[1], place[2]), (0.0, 0.0, 0.0)
    )


def adapt_laboratory(
    robot: RobotModel, laboratory: Laboratory
) -> tuple[Laboratory, tuple[str, ...]]:
    """
    Return a laboratory with margins that leave an arm a motion, and remarks on unusual ones.

    The robot is the arm with its tool. Raises UsageError as `plan_study` does.
    """
    margins, remarks = adapt_margins(robot, _content(laboratory, {'form': 'fourier'}, {}))
    return replace(laboratory, margins=margins), remarks


def home_pose(robot: RobotModel, laboratory: Laboratory) -> dict[str, float]:
    """
    Return a pose [rad] clear of everything, from which the motions of single joints start.

    It is the usual pose where that is clear, else the middle of a motion that is.
    """
    content = _content(laboratory, {'form': 'fourier'}, {'optimizer': 'random'})
    experiment = read_experiment(content, 'the answers')
    problem = TrajectoryProblem(robot, experiment)
    lower, upper = problem.limits.lower, problem.limits.upper
    usual = [
        USUAL_HOME.get(joint, middle)
        for joint, middle in zip(robot.joint_names, 0.5 * (lower + upper), strict=True)
    ]
    edge = np.minimum(0.1 * (upper - lower), 0.1)
    pose = np.clip(usual, lower + edge, upper - edge)
    # An arm that can stand nowhere is refused even where its usual pose is clear.
    drawn = problem.coefficients(problem.draw(np.random.default_rng(0)))[:, 0]
    if problem.obstructed is not None:
        nearest = problem.obstructed.closest(pose[None], np.zeros(1))
        if nearest.distance < experiment.clearance + ROOM:
            pose = drawn
    return {
        joint: round(float(value), 4)
        for joint, value in zip(robot.joint_names, pose, strict=True)
    }


def plan_study(robot: RobotModel, laboratory: Laboratory) -> tuple[PlannedMotion, ...]:
    """
    Return the motions of a study in the order in which they are made.

    The robot is the arm with its tool. Raises UnsafeMotionError if the arm can stand nowhere in
    its window, UsageError if the window names a joint that the arm does not have.
    """
    home = home_pose(robot, laboratory)
    motions = [_motion(robot, laboratory, one) for one in _WHOLE_ARM]
    first = len(motions) + 1
    for number, joint in enumerate(robot.joint_names):
        motions.append(_friction_segments(robot, laboratory, home, joint, first + number))
    return tuple(motions)


class _Wanted(NamedTuple):
    """A motion before its experiment: form, and further keys of the file with a description."""

    name: str
    step: str
    seed: int
    search_seconds: float
    trajectory: dict[str, Any]
    more: dict[str, Any]


# Seeds differ, so that no two motions are the same; a validation motion is made by another
# criterion, form or chance.
_WHOLE_ARM = (
    _Wanted(
        '01_warm_up', 'warm_up', 11, 20.0,
        {'form': 'fourier', 'harmonics': 5, 'base_period': 10.0},
        {
            'description': 'brisk motion of all joints, repeated until they are warm',
            'periods': 30,
            'margins': {'velocity': 0.6, 'acceleration': 0.5},
        },
    ),
    _Wanted(
        '02_excitation', 'excitation', 0, 60.0,
        {'form': 'fourier', 'harmonics': 5, 'base_period': 10.0},
        {
            'description': 'the motion to identify from, with rests and slow reversals',
            'segments': [
                {'name': 'stops', 'poses': 3, 'dwell': 0.5, 'move_time': 1.0},
                {'name': 'slow_reversals', 'reversals': 4, 'move_time': 0.8},
                'fourier',
            ],
            'periods': 3,
        },
    ),
    _Wanted(
        '03_validation_criterion', 'validation', 1, 60.0,
        {'form': 'fourier', 'harmonics': 4, 'base_period': 12.0},
        {
            'description': 'validation: best by another criterion', 'periods': 2,
            'criterion': 'condition_number',
        },
    ),
    _Wanted(
        '04_validation_random', 'validation', 2, 20.0,
        {'form': 'fourier', 'harmonics': 5, 'base_period': 14.0},
        {
            'description': 'validation: a series with random coefficients, optimized for nothing',
            'periods': 2, 'optimizer': 'random',
        },
    ),
    _Wanted(
        '05_validation_points', 'validation', 3, 60.0,
        {'form': 'via_points', 'points': 8, 'duration': 20.0},
        {'description': 'validation: another form, a smooth way through eight points'},
    ),
    _Wanted(
        '06_static_poses', 'static_poses', 4, 20.0,
        # The rest is 2 s of no motion for `drive-gains`; an arm needs some time to come to it.
        {'form': 'static_poses', 'poses': 10, 'dwell': 3.0, 'move_time': 3.0,
         'both_directions': True, 'monotone': True},
        {
            'description': 'poses at rest, there and back: joints come to each from both sides',
            'friction': 'none', 'rotor_inertia': False,
            # Any poses load the joints; a search would move them out of their order.
            'optimizer': 'random',
        },
    ),
)


def _motion(robot: RobotModel, laboratory: Laboratory, wanted: _Wanted) -> PlannedMotion:
    content = _content(laboratory, wanted.trajectory, wanted.more)
    experiment = read_experiment(content, wanted.name)
    return PlannedMotion(
        wanted.name, wanted.step, content, experiment, wanted.seed, wanted.search_seconds,
        _approach_seconds(motion_limits(robot, experiment)),
    )


def _approach_seconds(limits: MotionLimits) -> float:
    """Return how long the way to a start takes at most, from the other end of the widest range."""
    farthest = float(np.max(limits.upper - limits.lower))
    return max(SHORTEST_APPROACH, QUINTIC_PEAK * farthest / APPROACH_SPEED)


def _friction_segments(
    robot: RobotModel, laboratory: Laboratory, home: Mapping[str, float], joint: str, number: int
) -> PlannedMotion:
    """
    Return segments of one joint, each at a constant velocity of its own, the others at rest.

    The form is `trapezoidal`: all segments take the same time and end at random points, so that
    their lengths, and with them their speeds, range from nearly none to the fastest.
    """
    index = robot.joint_names.index(joint)
    whole = motion_limits(robot, read_experiment(
        _content(laboratory, {'form': 'fourier'}, {}), joint
    ))
    lower = max(home[joint] - TRAVEL, float(whole.lower[index]))
    upper = min(home[joint] + TRAVEL, float(whole.upper[index]))
    window = {
        name: (
            (math.ceil(lower * 1e4) / 1e4, math.floor(upper * 1e4) / 1e4) if name == joint
            else (round(position - STILL, 4), round(position + STILL, 4))
        )
        for name, position in home.items()
    }
    planned = _motion(robot, laboratory, _Wanted(
        f'{number:02d}_friction_{file_name(joint)}', 'friction_map', 10 + number, 20.0,
        {'form': 'trapezoidal', 'points': 24, 'dwell': 0.4, 'move_time': 2.0, 'blend': 0.25},
        {
            'description': f'friction map: 25 constant-velocity segments of {joint}',
            'window': {name: list(ends) for name, ends in window.items()},
            'center': dict(home),
            'optimizer': 'random',
        },
    ))
    # The other joints come from where the motion before ended: anywhere.
    return replace(planned, approach_seconds=_approach_seconds(whole))


def _content(
    laboratory: Laboratory, trajectory: Mapping[str, Any], more: Mapping[str, Any]
) -> dict[str, Any]:
    """Return an experiment file's content in the order people read it."""
    content: dict[str, Any] = {
        'schema_version': 1,
        'description': '',
        'trajectory': dict(trajectory),
        'periods': 1,
        'mounting': [float(angle) for angle in laboratory.mounting],
        'margins': dict(laboratory.margins),
        'window': {joint: list(ends) for joint, ends in laboratory.window.items()},
    }
    content |= {**more, 'margins': content['margins'] | more.get('margins', {})}
    if laboratory.generic:
        content |= {
            'generic': True,
            'limits': {kind: dict(values) for kind, values in laboratory.limits.items()},
        }
    if not laboratory.collision:
        content['collision'] = 'off'
        return content
    content['obstacles'] = {
        obstacle.name: {
            'size': list(obstacle.size), 'xyz': list(obstacle.xyz),
            **({'rpy': list(obstacle.rpy)} if any(obstacle.rpy) else {}),
        }
        for obstacle in laboratory.obstacles
    }
    return content
