# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Constant-velocity segments, both ways over the same way: the motion behind a friction map.

One joint moves, the others rest. Each speed has a segment forwards and one back over the same
positions, one right after the other, so that gravity and the temperature of the grease are the
same in both. Speeds are spread evenly by their logarithm: friction bends most at slow ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.excitation import (
    certify, Experiment, knot_coefficients, LONGEST_PERIOD, MAXIMUM_PERIODS, motion_limits,
    MotionLimits, SampledParametrization, Trajectory, USUAL_HOME,
)
from robot_identification.model import RobotModel
from robot_identification.options import check_options, option
from robot_identification.simulation import QUINTIC_PEAK

# Largest acceleration of a quintic from rest to a constant velocity, over speed by time: 3/2.
RISE_PEAK = 1.5
# Largest acceleration of a quintic from rest to rest, over way by squared time: 10/sqrt(3).
QUINTIC_PUSH = 10.0 / np.sqrt(3.0)
# Fastest speed of a joint whose velocity is not limited [rad/s]; chosen.
UNKNOWN_VELOCITY = 1.0
# Largest share of what the limits allow; chosen: rounding and the settling drive stay below them.
SPEED_SHARE = 0.95
# Way from one segment to the next that takes no time [rad]: rounding.
NO_WAY = 1.0e-9


@dataclass(frozen=True)
class SegmentPlan:
    """Plan of the segments of a joint."""

    slowest: float = option(float, 'slowest speed [rad/s]', default=0.02, metavar='RAD/S')
    fastest: float | None = option(
        float, 'fastest speed [rad/s]', otherwise='what limits and range allow', metavar='RAD/S',
    )
    count: int = option(
        int, 'number of speeds', default=12, minimum=2, maximum=100, metavar='N'
    )
    travel: float = option(
        float, 'largest displacement of a segment to either side [rad]',
        default=1.0, metavar='RAD',
    )
    repeats: int = option(
        int, 'number of repetitions', default=1, minimum=1, maximum=MAXIMUM_PERIODS, metavar='N'
    )
    # Time that a segment lasts at constant velocity, at most and at least [s]: slow ones are
    # short, and the second limits the speed.
    longest: float = 6.0
    shortest: float = 0.6
    rise: float = 0.25  # time in which the speed rises, and falls, at least [s]
    acceleration: float = 5.0  # largest acceleration [rad/s^2], also where the limits allow more
    rest: float = 0.3  # rest after each segment [s]

    def __post_init__(self) -> None:
        check_options(self)
        for name in ('slowest', 'travel', 'longest', 'shortest', 'rise', 'acceleration', 'rest'):
            value = getattr(self, name)
            if not 0.0 < value < LONGEST_PERIOD:
                raise UsageError(
                    f'{name} of a friction map is {value:g}, it must be above 0 and below '
                    f'{LONGEST_PERIOD:g}'
                )
        if self.shortest > self.longest:
            raise UsageError(
                f'segments of a friction map last from {self.shortest:g} s to {self.longest:g} s: '
                'the first must not be more than the second'
            )
        if self.fastest is not None and not self.slowest < self.fastest < np.inf:
            raise UsageError(
                f'speeds of a friction map go from {self.slowest:g} to {self.fastest:g} rad/s '
                '(m/s): '
                'the first must be below the second'
            )


def middle_pose(robot: RobotModel, experiment: Experiment, limits: MotionLimits) -> FloatArray:
    """
    Return the pose (n,) [rad] about which segments are made.

    It is the experiment's centre; of a joint that it does not name the usual pose of the make,
    else the middle of the range.
    """
    middle = 0.5 * (limits.lower + limits.upper)
    wanted = [
        experiment.center.get(joint, USUAL_HOME.get(joint, float(at)))
        for joint, at in zip(robot.joint_names, middle, strict=True)
    ]
    pose: FloatArray = np.clip(np.array(wanted, dtype=float), limits.lower, limits.upper)
    return pose


def segment_speeds(
    plan: SegmentPlan, span: float, velocity: float, acceleration: float, unit: str = 'rad'
) -> FloatArray:
    """
    Return the ascending speeds [rad/s] of a joint that may move by `span` [rad].

    The limit of the velocity [rad/s] may be infinite, unlike that of the acceleration [rad/s^2].
    All of them are in m where that is the `unit` of the joint's position.
    Raise UsageError if the slowest speed is too fast for the joint.
    """
    fastest = SPEED_SHARE * (velocity if np.isfinite(velocity) else UNKNOWN_VELOCITY)
    # The way at constant velocity, and half a speed by time for each of rise and fall.
    fastest = min(fastest, span / (plan.shortest + plan.rise))
    # A rise that the acceleration makes longer takes way, too: v shortest + 1.5 v^2 / a = span.
    root = float(np.sqrt(plan.shortest**2 + 4.0 * RISE_PEAK * span / acceleration))
    fastest = min(fastest, (root - plan.shortest) * acceleration / (2.0 * RISE_PEAK))
    if plan.fastest is not None:
        fastest = min(fastest, plan.fastest)
    if not plan.slowest < fastest:
        raise UsageError(
            f'a friction map from {plan.slowest:g} {unit}/s on has no room: within {span:.3g} '
            f'{unit} and the limits the joint gets to {fastest:.3g} {unit}/s; widen the window, '
            'raise the margins, or start slower'
        )
    return np.geomspace(plan.slowest, fastest, plan.count)


def segment_trajectory(
    robot: RobotModel, experiment: Experiment, joint: str, plan: SegmentPlan | None = None
) -> Trajectory:
    """
    Return the segments of one joint, without certificate.

    Limits, window and centre of the experiment are kept to; its form is not used. Raise
    UsageError if the arm has no such joint, or there is no room for the segments.
    """
    plan = SegmentPlan() if plan is None else plan
    if joint not in robot.joint_names:
        raise UsageError(
            f'{robot.name} has no joint {joint}: it has {", ".join(robot.joint_names)}'
        )
    number = robot.joint_names.index(joint)
    limits = motion_limits(robot, experiment)
    pose = middle_pose(robot, experiment, limits)
    # At a pose that is near an end of the range segments are about the nearest middle with room.
    half = min(plan.travel, 0.5 * float(limits.upper[number] - limits.lower[number]))
    pose[number] = np.clip(
        pose[number], limits.lower[number] + half, limits.upper[number] - half
    )
    acceleration = min(float(limits.acceleration[number]), plan.acceleration)
    speeds = segment_speeds(
        plan, 2.0 * half, float(limits.velocity[number]), acceleration,
        robot.position_units[number],
    )
    times, states = _knots(plan, speeds, 2.0 * half, acceleration)
    if times[-1] > LONGEST_PERIOD:
        raise UsageError(
            f'{len(speeds)} speeds of {joint} take {times[-1]:.0f} s, at most '
            f'{LONGEST_PERIOD:.0f} s are allowed: take fewer speeds, or shorter segments'
        )
    q, dq, ddq = (np.zeros((len(times), robot.n)) for _ in range(3))
    q += pose
    q[:, number] += states[:, 0]
    dq[:, number] = states[:, 1]
    return Trajectory(
        robot.name, robot.joint_names, SampledParametrization(times),
        knot_coefficients(q, dq, ddq), plan.repeats, {},
    )


def certified_segments(
    robot: RobotModel, experiment: Experiment, joint: str, plan: SegmentPlan | None = None
) -> Trajectory:
    """Return the segments of one joint with their certificate; see `segment_trajectory`."""
    trajectory = segment_trajectory(robot, experiment, joint, plan)
    return certify(
        robot, replace(experiment, form=trajectory.form, periods=trajectory.periods),
        trajectory, {'friction_map': joint},
    )


def _mixed(speeds: FloatArray) -> list[float]:
    """Return every other speed up, the others down: temperature is no function of speed."""
    ascending: list[float] = speeds.tolist()
    return ascending[::2] + ascending[1::2][::-1]


def _knots(
    plan: SegmentPlan, speeds: FloatArray, span: float, acceleration: float
) -> tuple[list[float], FloatArray]:
    """Return times [s], and position and velocity (m, 2) about the middle of the segments."""
    times, states = [0.0], [(0.0, 0.0)]

    def go(duration: float, position: float, speed: float = 0.0) -> None:
        times.append(round(times[-1] + duration, 9))
        states.append((position, speed))

    def move(position: float) -> None:
        """Go to rest elsewhere, no faster and with no more acceleration than in segments."""
        way = abs(position - states[-1][0])
        if way > NO_WAY:
            brisk = np.sqrt(QUINTIC_PUSH * way / acceleration)
            go(max(QUINTIC_PEAK * way / speeds[-1], brisk, plan.rise), position)

    go(plan.rest, 0.0)
    for speed in _mixed(speeds):
        rise = max(plan.rise, RISE_PEAK * speed / acceleration)
        cruise = 0.5 * min(span - speed * rise, speed * plan.longest)
        end = cruise + 0.5 * speed * rise
        move(-end)
        for direction in (1.0, -1.0):
            go(plan.rest, -direction * end)
            go(rise, -direction * cruise, direction * speed)
            go(2.0 * cruise / speed, direction * cruise, direction * speed)
            go(rise, direction * end)
    go(plan.rest, states[-1][0])
    move(0.0)
    return times, np.array(states)
