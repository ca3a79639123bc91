# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Checks and commands of an execution, without ROS.

Nothing below a joint-trajectory controller checks limits, so everything is checked here again,
from the file that was approved and the robot's own limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError, UnsafeMotionError, UsageError
from robot_identification.excitation import (
    broken_limits, certificate_times, CollisionModel, describe_certificate_gaps,
    describe_unchecked, extra_limits_from_content, ExtraLimits, find_overlaps, find_unchecked,
    hardware_limits, measure_limit_use, obstacles_from_content, overlapping_links,
    path_limit_uses, refine_limit_uses, SHORTEST_APPROACH, state_constraints, tool_path,
    Trajectory,
)
from robot_identification.model import Motion, RobotModel
from robot_identification.simulation import quintic, QUINTIC_PEAK, TrajectoryPoints

# Motions that end faster than this do not end at rest [rad/s]; chosen: above what rounding leaves
# of sums of harmonics.
REST_SPEED = 1.0e-6
# Samples of a way, for the speed of the tool; chosen: a way is smooth, and its speed is known to a
# thousandth then.
SPEED_SAMPLES = 301


def check_executable(robot: RobotModel, trajectory: Trajectory) -> None:
    """Raise UnsafeMotionError unless a motion is certified for this robot and keeps its limits."""
    certificate = trajectory.certificate
    if not certificate:
        raise UnsafeMotionError(
            'the trajectory has no certificate: make one with `excite --evaluate FILE -o NEW_FILE`'
        )
    reasons = []
    if certificate.get('robot') != robot.name or trajectory.joint_names != robot.joint_names:
        reasons.append(
            f'it is certified for {certificate.get("robot")!r} with the joints '
            f'{", ".join(trajectory.joint_names)}, the robot is {robot.name!r} with '
            f'{", ".join(robot.joint_names)}'
        )
    elif certificate.get('urdf_sha256') != robot.urdf_sha256:
        reasons.append('it is certified for another URDF of this robot')
    elif not _same_gravity(certificate.get('gravity'), robot):
        reasons.append('it is certified for another mounting')
    else:
        reasons += _broken(robot, trajectory) or _collisions(robot, trajectory)
    if reasons:
        raise UnsafeMotionError('the trajectory is refused: ' + '; '.join(reasons))


def _collisions(robot: RobotModel, trajectory: Trajectory) -> list[str]:
    """Prove the clearance of the certificate again; `off` was a person's decision."""
    entry = trajectory.certificate.get('collision')
    if entry == 'off':
        return []
    if not isinstance(entry, dict):
        return ['its certificate proves no clearance: make one with `excite --evaluate`']
    form = trajectory.form
    times = certificate_times(form)
    try:
        obstacles = obstacles_from_content(entry['obstacles'], 'the certificate')
        CollisionModel(robot, obstacles, overlapping_links(entry)).prove(
            lambda t: trajectory.sample(t).q, form.duration, trajectory.sample(times).dq,
            float(entry['clearance']),
        )
    except (UnsafeMotionError, DescriptionError) as error:
        return [str(error)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return [f'the collision entry of its certificate is damaged ({error!r})']
    return []


def _same_gravity(certified: Any, robot: RobotModel) -> bool:
    return (
        isinstance(certified, list)
        and len(certified) == 3
        and all(isinstance(value, (int, float)) for value in certified)
        and np.allclose(certified, robot.gravity, atol=1e-6)
    )


def certified_limits(trajectory: Trajectory) -> ExtraLimits:
    """
    Return what a trajectory's cell limits beyond the hardware, as its certificate says.

    Raises DescriptionError if the entry of the certificate is damaged.
    """
    try:
        return extra_limits_from_content(
            trajectory.certificate.get('further_limits', {}), 'the certificate'
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise DescriptionError(
            f'the entry further_limits of its certificate is damaged ({error!r})'
        ) from error


def check_nothing_unchecked(robot: RobotModel, trajectory: Trajectory) -> None:
    """
    Refuse, for a real arm, a motion of which something could not be checked.

    What cannot be checked is found again from the robot and the certified experiment, as files of
    earlier versions do not say it. A motion whose own certificate says so is refused as well, even
    if the robot at hand has the limits: it was designed without them. The UnsafeMotionError names
    every quantity, its joints, the reason and what to state.
    """
    certificate, joints = trajectory.certificate, robot.joint_names
    experiment = certificate.get('experiment')
    window = experiment.get('window') if isinstance(experiment, dict) else None
    try:
        found = find_unchecked(
            robot, certified_limits(trajectory), window if isinstance(window, dict) else ()
        )
        found += find_overlaps(robot, certificate.get('collision', 'off'))
        certified = describe_certificate_gaps(certificate, joints)
    except (DescriptionError, UsageError, TypeError, ValueError, AttributeError) as error:
        raise UnsafeMotionError(f'the trajectory is refused: {error}') from error
    gaps = dict.fromkeys([*(describe_unchecked(one, joints) for one in found), *certified])
    if gaps:
        raise UnsafeMotionError(
            'a real arm does not execute a motion that was not checked in full: '
            + '; '.join(gaps) + '. Then certify the motion again with `excite --evaluate FILE -o '
            'NEW_FILE`; a simulated arm executes it as it is'
        )


def _broken(robot: RobotModel, trajectory: Trajectory) -> list[str]:
    times = certificate_times(trajectory.form)
    motion = trajectory.sample(times)
    if not all(np.all(np.isfinite(values)) for values in (motion.q, motion.dq, motion.ddq)):
        return ['it is not finite']
    try:
        extra = certified_limits(trajectory)
        limits, constraints = hardware_limits(robot, extra), state_constraints(robot, extra)
    except (DescriptionError, UsageError) as error:
        return [str(error)]
    reasons = broken_limits(refine_limit_uses(robot, limits, trajectory, times, constraints))
    ends = np.abs(motion.dq[[0, -1]]).max(axis=0)
    fastest = int(np.argmax(ends))
    if ends[fastest] > REST_SPEED:
        reasons.append(
            f'it does not start and end at rest ({robot.joint_names[fastest]} has a speed of '
            f'{ends[fastest]:.2g} {robot.unit("rad/s", fastest)})'
        )
    return reasons


@dataclass(frozen=True, eq=False)
class Approach:
    """A slow move to where a trajectory starts."""

    start: FloatArray  # (n,): where the arm stands [rad]
    knots: TrajectoryPoints  # what is sent
    duration: float  # of the move [s]

    def sample(self, times: FloatArray) -> Motion:
        """Return the motion at `times` (N,) [s]."""
        return _straight_way(self.start, self.knots.q[-1], self.duration, times)


def plan_approach(
    robot: RobotModel, q: FloatArray, target: FloatArray, speed: float, knot_rate: float, *,
    tool_speed: float = np.inf, extra: ExtraLimits | None = None,
) -> Approach:
    """
    Plan a straight way in joint space, a quintic from rest at `q` to rest at `target` [rad].

    The joint that moves farthest peaks at `speed` [rad/s]; the way takes longer where the origin
    of the last link would exceed `tool_speed` [m/s]. It is sampled at `knot_rate` [Hz]. Raises
    UnsafeMotionError if the robot stands outside its limits or the way breaks them, UsageError if
    `extra` names what the robot does not have.
    """
    distance = float(np.max(np.abs(target - q)))
    duration = max(SHORTEST_APPROACH, QUINTIC_PEAK * distance / speed)

    def way(times: FloatArray) -> Motion:
        return _straight_way(q, target, duration, times)

    # Slower, the same way has speeds that are less by the same factor.
    duration *= max(1.0, _tool_speed(robot, way, duration) / tool_speed)
    times = np.linspace(0.0, duration, max(round(duration * knot_rate), 2) + 1)
    motion = way(times)
    uses = measure_limit_use(robot, hardware_limits(robot, extra), times, motion)
    for constraint in state_constraints(robot, extra or ExtraLimits()):
        uses += path_limit_uses(constraint, times, motion, way)
    broken = broken_limits(uses)
    if broken:
        raise UnsafeMotionError('the way to the start is refused: ' + '; '.join(broken))
    knots = TrajectoryPoints(times[1:], motion.q[1:], motion.dq[1:], motion.ddq[1:])
    return Approach(q, knots, duration)


def _straight_way(
    start: FloatArray, end: FloatArray, duration: float, times: FloatArray
) -> Motion:
    rest = np.zeros_like(start)
    states = [
        quintic((start, rest, rest), (end, rest, rest), duration, float(t)) for t in times
    ]
    return Motion(*(np.array([state[i] for state in states]) for i in range(3)))


def _tool_speed(
    robot: RobotModel, way: Callable[[FloatArray], Motion], duration: float
) -> float:
    """Return the largest speed of the last link's origin on a way [m/s]."""
    times = np.linspace(0.0, duration, SPEED_SAMPLES)
    steps = np.linalg.norm(np.diff(tool_path(robot, way(times).q), axis=0), axis=1)
    return float(np.max(steps) / times[1])


def trajectory_knots(
    trajectory: Trajectory, knot_rate: float, *, periods: int = 0, speed: float = 1.0
) -> TrajectoryPoints:
    """
    Return the knots of a trajectory from the second on: the robot stands at the first.

    `knot_rate` is in points per second at full speed [Hz]; a slower motion has the same points. It
    is repeated `periods` times, 0: as often as the file states. `speed` is the share of the
    planned speed, above 0: the path takes 1 / `speed` as long, velocities are multiplied by
    `speed` and accelerations by its square. Raises DescriptionError if a motion is to be repeated
    that does not end as it starts.
    """
    if periods:
        trajectory = replace(trajectory, periods=periods)
    times = trajectory.times(knot_rate)
    motion = trajectory.sample(times)
    rest = np.zeros_like(motion.dq[-1])
    # Rest to rounding at the end, as controllers ask for exactly zero.
    motion.dq[-1], motion.ddq[-1] = rest, rest
    return TrajectoryPoints(
        times[1:] / speed, motion.q[1:], speed * motion.dq[1:], speed**2 * motion.ddq[1:]
    )
