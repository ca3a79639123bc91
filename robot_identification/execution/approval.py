# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""From a trajectory file and a person's hash to an execution that is planned and proved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation import SLOW_TOOL_SPEED, Trajectory
from robot_identification.execution.checks import (
    certified_limits, check_executable, check_nothing_unchecked, plan_approach, trajectory_knots,
)
from robot_identification.execution.commissioning import (
    check_stage, CommissioningKey, note_stage, slow_speed, stage_of,
)
from robot_identification.execution.controller_constraints import (
    compare_constraints, ControllerConstraints,
)
from robot_identification.execution.events import Plan
from robot_identification.execution.path import SentPath
from robot_identification.execution.safety import (
    carry, check_lab_margins, effort_bounds, hardest_stop, kinematics_sha256, prove_approach,
    tool_speed,
)
from robot_identification.execution.stop import Peaks, settle_first, START_TOLERANCE
from robot_identification.execution.watch import SERVO_DELAY, WatchLimits
from robot_identification.model import limits_of_urdf, NamedJoints, RobotModel
from robot_identification.simulation import TrajectoryPoints

# The way to the start begins with at least so long a time in which the controller comes to where
# the way was planned from [s]; chosen: 10 mrad are calm then, 0.04 rad/s and 0.23 rad/s^2.
SHORTEST_SETTLING = 0.5


@dataclass(frozen=True)
class ExecutionOptions:
    """Options of an execution; the runner's parameters of the same names."""

    dry_run: bool
    periods: int
    speed: float
    knot_rate: float
    approach_speed: float
    tracking_tolerance: float
    scaling_timeout: float
    effort_unit: str
    watch_effort: bool
    commissioning: bool
    slow_speed: float
    serial: str
    payload: tuple[float, ...]  # mass [kg] and centre [m], or the mass alone; empty: not stated
    # Whether the arm is the simulated one of the same process, which needs fewer checks.
    simulated: bool


@dataclass(frozen=True, eq=False)
class Approval:
    """A trajectory that passed every check and whose hash a person typed back."""

    file: Path  # the trajectory file
    trajectory: Trajectory  # its content
    # The arm of the certificate, bare and with its payload.
    robot: RobotModel
    carrying: RobotModel
    key: CommissioningKey  # what the commissioning record is about
    tool_speed: float  # largest speed of the tool at full speed [m/s]

    def stage(self, options: ExecutionOptions) -> str:
        """Return which stage of the commissioning an execution is."""
        return stage_of(
            dry_run=options.dry_run, speed=options.speed, slow=self.slow_speed(options)
        )

    def slow_speed(self, options: ExecutionOptions) -> float:
        """Return the largest share of the planned speed that counts as slow."""
        return slow_speed(self.tool_speed, options.slow_speed)

    def note(self, options: ExecutionOptions, worst_tracking_error: float) -> None:
        """Record the stage of the commissioning; the error is in rad or m."""
        if options.commissioning:
            note_stage(
                self.file, self.key, self.stage(options), speed=options.speed,
                periods=options.periods or self.trajectory.periods,
                worst_tracking_error=worst_tracking_error,
            )

    def describe_dry_run(
        self, plan: Plan, options: ExecutionOptions, way: str, joints: tuple[str, ...],
        constraints: ControllerConstraints | None,
    ) -> str:
        """
        Return what an execution would do, and what would stop it first.

        `way` states how it would be sent, such as 'action of joint_trajectory_controller';
        `joints` are named as the driver does. `constraints` are None where they could not be read
        from the controller.
        """
        if constraints is not None:
            described = limits_of_urdf(self.robot.urdf, self.robot.joint_names)
            constraints = constraints.for_speed_limits(joints, described.velocity)
        sentences = [
            f'dry run: nothing was sent; {plan.approach.times[-1]:.1f} s to the start, then '
            f'{plan.motion.times[-1]:.1f} s in {len(plan.motion.times)} knots by {way}, tool at '
            f'most {options.speed * self.tool_speed:.2f} m/s{plan.summary}',
            *compare_constraints(
                NamedJoints(joints, self.robot.position_units), plan.motion, constraints,
                tracking=options.tracking_tolerance, servo_delay=SERVO_DELAY,
            ),
        ]
        return '; '.join(sentences)


def check_hash(file: Path, trajectory: Trajectory, approved: str) -> None:
    """Raise UnsafeMotionError with both hashes if `approved` is not the trajectory's hash."""
    if approved != trajectory.sha256:
        raise UnsafeMotionError(
            f'arm.sha256 is {approved!r}, {file} has {trajectory.sha256}: look at the '
            'trajectory, then set arm.sha256 to its hash'
        )


def approve(
    file: Path, trajectory: Trajectory, robot: RobotModel, live: RobotModel,
    options: ExecutionOptions,
) -> Approval:
    """
    Check all of a trajectory that can be checked before the arm's state is known.

    `robot` is the arm as the certificate has it, `live` the same arm as its driver describes it.
    Raises UnsafeMotionError with the reason if a check fails.
    """
    payload = _payload(options)
    carrying = carry(robot, payload[0], np.array(payload[1:] or (0.0, 0.0, 0.0)))
    check_executable(robot, trajectory)
    if not (options.serial or options.simulated):
        raise UnsafeMotionError(
            'serial is empty: set the serial number on the plate of the arm, as every arm '
            'is commissioned on its own'
        )
    key = CommissioningKey(
        trajectory.sha256, robot.name, robot.urdf_sha256, kinematics_sha256(live), options.serial,
        payload,
    )
    approval = Approval(
        file, trajectory, robot, carrying, key, tool_speed(robot, trajectory)
    )
    if not options.simulated:
        check_nothing_unchecked(robot, trajectory)
        check_lab_margins(carrying, trajectory)
        if not options.commissioning:
            raise UnsafeMotionError(
                'commissioning is false, and only a simulated robot may go without'
            )
    if options.commissioning:
        check_stage(file, key, approval.stage(options), approval.slow_speed(options))
    return approval


def _payload(options: ExecutionOptions) -> tuple[float, ...]:
    """Return mass and centre of the payload; a simulated arm need not state that it is bare."""
    payload = options.payload
    if options.simulated and not payload:
        return (0.0,)
    if len(payload) not in (1, 4) or payload[0] < 0.0:
        raise UnsafeMotionError(
            f'payload is {list(payload)}: state what the arm carries, [0.0] for nothing, or mass '
            '[kg] and x, y, z of its centre in the tool frame [m]'
        )
    return payload


def make_plan(approval: Approval, q: FloatArray, options: ExecutionOptions) -> Plan:
    """
    Return the plan of a motion and of the way to its start, which is proven.

    The arm rests at `q` (n,) [rad]. Raises UnsafeMotionError if the way to the start breaks a
    limit or is not clear.
    """
    trajectory, robot = approval.trajectory, approval.robot
    motion = trajectory_knots(
        trajectory, options.knot_rate, periods=options.periods, speed=options.speed
    )
    motion.check(robot.n)
    start = trajectory.sample(np.zeros(1)).q[0]
    approach = plan_approach(
        robot, q, start, options.approach_speed, options.knot_rate,
        tool_speed=np.inf if options.simulated else SLOW_TOOL_SPEED,
        extra=certified_limits(trajectory),
    )
    prove_approach(robot, trajectory, approach)
    full = trajectory_knots(trajectory, options.knot_rate)
    way = SentPath(q, approach.knots)
    peaks = Peaks.of([way, SentPath(start, full)])
    # The accelerations of the full speed are certified; the speeds are those of this execution.
    speeds = Peaks.of([way, SentPath(start, motion)]).speed
    approach_limits, motion_limits = (
        WatchLimits(
            options.tracking_tolerance, options.scaling_timeout, _bounds(approval, one, options)
        )
        for one in (approach.knots, motion)
    )
    peaks = replace(peaks, speed=speeds, hardest=hardest_stop(approval.carrying, full))
    return Plan(
        q, settle_first(approach.knots, q, START_TOLERANCE, peaks, SHORTEST_SETTLING),
        settle_first(motion, start, START_TOLERANCE, peaks),
        approach_limits, motion_limits, peaks, _unwatched(robot, motion_limits),
    )


def _bounds(approval: Approval, knots: TrajectoryPoints, options: ExecutionOptions) -> FloatArray:
    """Return the efforts at which a motion is stopped, (n,); infinite: not watched."""
    carrying = approval.carrying
    if not options.watch_effort:
        return np.full(carrying.n, np.inf)
    unit = options.effort_unit or carrying.effort_unit
    return effort_bounds(replace(carrying, effort_unit=unit), knots)


def _unwatched(robot: RobotModel, limits: WatchLimits) -> str:
    """Return in words whose efforts are not watched, empty where all are."""
    joints = [
        joint for joint, bound in zip(robot.joint_names, limits.effort, strict=True)
        if np.isinf(bound)
    ]
    if not joints:
        return ''
    which = 'no joint' if len(joints) == robot.n else f'all but {", ".join(joints)}'
    return f'; the effort of {which} is watched: drive gains or effort unit are not known'
