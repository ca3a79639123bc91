# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The events that the state machine of an execution takes, and the commands that it returns."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any

from robot_identification.arrays import FloatArray
from robot_identification.execution.joint_state_monitor import Measurement
from robot_identification.execution.stop import Peaks
from robot_identification.execution.watch import WatchLimits
from robot_identification.simulation import TrajectoryPoints


@dataclass(frozen=True, eq=False)
class Plan:
    """An execution, planned and proved."""

    start: FloatArray  # (n,): where the controller held the arm when it was planned [rad]
    # The way to the first point of the trajectory, and the trajectory.
    approach: TrajectoryPoints
    motion: TrajectoryPoints
    # When either is stopped.
    approach_limits: WatchLimits
    motion_limits: WatchLimits
    # Of approach and trajectory at full speed; no stop exceeds them by more than 10 %.
    peaks: Peaks
    summary: str = ''  # for the answer to the call


# --- events ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class JointStateReceived:
    """A joint state, as the model has it."""

    stamp: float  # of its header [s]
    # (n,): position [rad] and velocity [rad/s], finite; effort in the driver's unit, NaN where
    # absent.
    q: FloatArray
    dq: FloatArray
    effort: FloatArray


@dataclass(frozen=True)
class JointStateUnusable:
    """A joint state that lacks a joint or a velocity, or is not finite; `reason` states which."""

    reason: str


@dataclass(frozen=True)
class RobotStateReceived:
    """States of driver, graph and recorder; a text is empty where nothing is wrong."""

    unable: str = ''  # safety mode, robot mode or program in which the arm stops by itself
    inactive: str = ''  # the controller is not active any more
    unlisted: str = ''  # the controller manager does not answer
    contested: str = ''  # another node may command the arm, or publishes joint states
    unrecorded: str = ''  # the recorder does not record
    hurried: str = ''  # the controller is faster than planned
    scaling: float = 1.0  # speed scaling, from 0 to 1
    by_action: bool = True  # whether what was sent last was sent as a goal, which can be cancelled
    looked_at: float = math.inf  # when the look began by the local clock [s]; inf: just now


@dataclass(frozen=True)
class Tick:
    """Time has passed; 50 times a second."""


@dataclass(frozen=True)
class ArmCalled:
    """A person asks to arm."""


@dataclass(frozen=True)
class Approved:
    """The trajectory named by the hash passed every check; `approval` is handed back with it."""

    approval: Any
    executions: int
    message: str


@dataclass(frozen=True)
class ApprovalRefused:
    """The approval failed."""

    reason: str


@dataclass(frozen=True)
class ExecuteCalled:
    """A person asks to execute what is armed."""


@dataclass(frozen=True)
class PlanMade:
    """The way to the start is planned and proved."""

    plan: Plan


@dataclass(frozen=True)
class DryRunMade:
    """Everything was planned and nothing is to be sent."""

    message: str


@dataclass(frozen=True)
class PlanRefused:
    """The execution was refused."""

    reason: str


@dataclass(frozen=True)
class AbortCalled:
    """A person asks to stop, or to disarm."""


@dataclass(frozen=True)
class StopRequested:
    """The process is to end."""


@dataclass(frozen=True)
class GoalAccepted:
    """The controller follows what was sent under this number."""

    number: int


@dataclass(frozen=True)
class GoalFailed:
    """The controller rejected what was sent under this number, or gave it up."""

    number: int
    reason: str


@dataclass(frozen=True)
class StopOutdated:
    """The stop of this number was not sent, as it would have been late."""

    number: int


@dataclass(frozen=True)
class GoalsReleased:
    """The controller has confirmed that it follows nothing of ours any more."""


@dataclass(frozen=True)
class InternalError:
    """The node failed unexpectedly."""

    reason: str


@dataclass(frozen=True)
class NoteFailed:
    """Failure to write the record of an execution."""

    reason: str


Event = (
    JointStateReceived | JointStateUnusable | RobotStateReceived | Tick | ArmCalled | Approved
    | ApprovalRefused | ExecuteCalled | PlanMade | DryRunMade | PlanRefused | AbortCalled
    | StopRequested | GoalAccepted | GoalFailed | StopOutdated | GoalsReleased | InternalError
    | NoteFailed
)


# --- commands ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reply:
    """The answer to the call that was the event."""

    success: bool
    message: str


@dataclass(frozen=True)
class Approve:
    """Check what is to be armed; `Approved` or `ApprovalRefused` is expected next."""


@dataclass(frozen=True)
class MakePlan:
    """Plan an execution; `PlanMade`, `DryRunMade` or `PlanRefused` is expected next."""

    approval: Any


@dataclass(frozen=True, eq=False)
class Send:
    """
    Send a motion, which replaces what the controller follows.

    After `until` by the local clock [s] nothing is sent, and `StopOutdated` is expected next.
    """

    number: int
    knots: TrajectoryPoints
    until: float = math.inf


@dataclass(frozen=True)
class CancelGoals:
    """Cancel every goal of ours."""


@dataclass(frozen=True, eq=False)
class NoteExecution:
    """Compare what was executed with the plan, and record the commissioning stage."""

    approval: Any
    measurements: tuple[Measurement, ...]
    worst_error: float


Command = Reply | Approve | MakePlan | Send | CancelGoals | NoteExecution
