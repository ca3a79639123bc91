# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Constraints of a joint-trajectory controller, and those of our watch.

The controller compares the measured position with its reference of the same instant, so that a
servo that lags uses up its tolerance at speed. Our watch allows for a lag of the servo first. The
parameters are those of ros2_controllers (joint_trajectory_controller: ``joints``, ``constraints``,
``state_interfaces``, ``speed_scaling``) and of the scaled controller of ur_controllers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, UnsafeMotionError
from robot_identification.files import is_number
from robot_identification.model import NamedJoints
from robot_identification.simulation import TrajectoryPoints

JOINTS = 'joints'
TAKES_PART_OF_THEM = 'allow_partial_joints_goal'
PREFIX = 'constraints'
GOAL_TIME = f'{PREFIX}.goal_time'
STOPPED_VELOCITY = f'{PREFIX}.stopped_velocity_tolerance'
DECELERATES = f'{PREFIX}.decelerate_on_cancel'
DEFAULT_STOPPED_VELOCITY = 0.01  # [rad/s]; the controller's own default
STATE_INTERFACES = 'state_interfaces'
INITIAL_SCALING = 'speed_scaling.initial_scaling_factor'
SCALING_INTERFACE = 'speed_scaling.state_interface'
# Only the scaled controller of ur_controllers has it. It holds at once where it aborts.
UR_SCALING_INTERFACE = 'speed_scaling_interface_name'
# Before or equal to the names of all of them, as services of parameters list them.
PREFIXES = (
    JOINTS, TAKES_PART_OF_THEM, PREFIX, STATE_INTERFACES, 'speed_scaling', UR_SCALING_INTERFACE
)
NOT_CHECKED = "the controller's constraints are not checked: its parameters could not be read"


@dataclass(frozen=True, eq=False)
class ControllerConstraints:
    """Conditions of a joint-trajectory controller's abort, and its stop of a cancelled goal."""

    path: FloatArray  # (n,): largest distance of a joint from its reference [rad]; 0: any
    goal: FloatArray  # (n,): largest distance from the last point [rad]; 0: any
    # How long after the end of the reference that must hold at last [s]; 0: no limit.
    goal_time: float
    # Largest speed then [rad/s]; 0: any. Used by controllers that compare velocities.
    stopped_velocity: float
    # (n,): with which a cancelled motion is slowed down [rad/s^2]; 0: it is held at once.
    deceleration: FloatArray
    held_because: str = ''  # why it is held at once
    holds_on_abort: bool = False  # whether it holds at once what it aborts by itself
    initial_scaling: float = 1.0  # share of the planned speed with which it begins
    hears_scaling: bool = True  # whether it hears a topic for it; else the hardware states it
    # Whether its state has the scaling that it follows. That of ur_controllers publishes the
    # value of the controller it is derived from, and follows its own.
    states_scaling: bool = True

    def for_speed_limits(
        self, joints: Sequence[str], velocity: FloatArray
    ) -> ControllerConstraints:
        """
        Return the constraints of a controller whose description has these velocity limits.

        `velocity` (n,) [rad/s] is not finite, or not above zero, where the description has none:
        the controller then decelerates no joint.
        """
        without = [
            joint for joint, limit in zip(joints, velocity, strict=True)
            if not (np.isfinite(limit) and limit > 0.0)
        ]
        if self.held_because or not without:
            return self
        return replace(
            self, deceleration=np.zeros_like(self.deceleration),
            held_because=f'the URDF has no velocity limit of {", ".join(without)}',
        )


def constraint_names(joints: Sequence[str]) -> list[str]:
    """Return the names of the controller's parameters for joints, as the driver names them."""
    return [
        JOINTS, TAKES_PART_OF_THEM, GOAL_TIME, STOPPED_VELOCITY, DECELERATES, STATE_INTERFACES,
        INITIAL_SCALING, SCALING_INTERFACE, UR_SCALING_INTERFACE,
    ] + [
        _joint_name(joint, what) for joint in joints
        for what in ('trajectory', 'goal', 'max_deceleration_on_cancel')
    ]


def constraints_from_parameters(
    values: Mapping[str, object], joints: Sequence[str]
) -> ControllerConstraints:
    """
    Return the constraints that the parameters of a controller state.

    `values` are by name, see `constraint_names`; those that older controllers lack may be missing.
    `joints` are the n joints as the driver names them. Raises DataError if a tolerance of a joint
    is missing or a value is not a finite number.
    """
    def of_joints(what: str, default: float | None) -> FloatArray:
        return np.array([_number(values, _joint_name(joint, what), default) for joint in joints])

    deceleration = of_joints('max_deceleration_on_cancel', 0.0)
    held_because = _why_held(values, joints, deceleration)
    return ControllerConstraints(
        of_joints('trajectory', None), of_joints('goal', None), _number(values, GOAL_TIME, 0.0),
        _number(values, STOPPED_VELOCITY, DEFAULT_STOPPED_VELOCITY),
        np.zeros(len(joints)) if held_because else deceleration, held_because,
        holds_on_abort=UR_SCALING_INTERFACE in values,
        initial_scaling=_number(values, INITIAL_SCALING, 1.0),
        hears_scaling=not (values.get(SCALING_INTERFACE) or UR_SCALING_INTERFACE in values),
        states_scaling=UR_SCALING_INTERFACE not in values,
    )


def check_controller_joints(
    controller: str, values: Mapping[str, object], joints: Sequence[str]
) -> None:
    """
    Raise UnsafeMotionError if a controller would reject a goal for its joints.

    `values` are its parameters by name; nothing is checked where they do not state its joints.
    """
    moved = values.get(JOINTS)
    if not isinstance(moved, (list, tuple)):
        return
    missing = [joint for joint in joints if joint not in moved]
    others = [
        str(joint) for joint in moved
        if joint not in joints and values.get(TAKES_PART_OF_THEM) is not True
    ]
    if missing or others:
        found = [f'it lacks {", ".join(missing)}'] if missing else []
        found += [f'it has {", ".join(others)}, no joint of the arm'] if others else []
        raise UnsafeMotionError(
            f'{controller} is a controller of other joints: {", and ".join(found)}; activate one '
            'of all joints of the arm, or set tf_prefix as the driver has it'
        )


def _why_held(
    values: Mapping[str, object], joints: Sequence[str], deceleration: FloatArray
) -> str:
    """Return why the controller holds a cancelled motion at once; empty where it does not."""
    if values.get(DECELERATES) is not True:
        return f'{DECELERATES} is not set' if DECELERATES in values else f'it has no {DECELERATES}'
    # It ignores the decelerations unless every joint has one.
    without = [joint for joint, limit in zip(joints, deceleration, strict=True) if limit <= 0.0]
    if without:
        return f'max_deceleration_on_cancel of {", ".join(without)} is not above zero'
    interfaces = values.get(STATE_INTERFACES, ())
    if not isinstance(interfaces, (list, tuple)) or 'velocity' not in interfaces:
        return f'its {STATE_INTERFACES} have no velocity'
    return ''


def compare_constraints(
    joints: NamedJoints,
    knots: TrajectoryPoints,
    constraints: ControllerConstraints | None,
    *,
    tracking: float,
    servo_delay: float,
) -> list[str]:
    """
    Return sentences that say whether the controller or our watch ends a planned motion first.

    Our watch accepts a distance `tracking` from the path [rad] and a lag `servo_delay` [s];
    `constraints` is None where those of the controller are not known.
    """
    if constraints is None:
        return [NOT_CHECKED]
    speeds = _velocities(knots)
    peaks = np.max(np.abs(speeds), axis=0)
    return [
        *_compare_paths(joints, peaks, constraints, tracking, servo_delay),
        *_compare_ends(joints, knots, speeds, constraints, servo_delay),
        _describe_cancelling(peaks, constraints),
    ]


def _compare_paths(
    joints: NamedJoints,
    peaks: FloatArray,
    constraints: ControllerConstraints,
    tracking: float,
    servo_delay: float,
) -> list[str]:
    """Compare the lags that end the motion at the peak speeds (n,) [rad/s]."""
    sentences = []
    for index, (joint, peak, tolerance) in enumerate(
        zip(joints.names, peaks, constraints.path, strict=True)
    ):
        if peak == 0.0 or tolerance <= 0.0:
            continue
        position, speed = joints.unit('rad', index), joints.unit('rad/s', index)
        controller, watch = tolerance / peak, servo_delay + tracking / peak
        sentences.append(
            f'{joint}: at its peak speed of {peak:.3g} {speed} the controller aborts '
            f'{tolerance:g} {position} or {controller:.3f} s behind its reference, the watch '
            f'stops {watch:.3f} s behind ({servo_delay:g} s and {tracking:g} {position}): the '
            f'{"controller" if controller < watch else "watch"} acts first'
        )
    free = [
        joint for joint, tolerance in zip(joints.names, constraints.path, strict=True)
        if tolerance <= 0.0
    ]
    if free:
        sentences.append(
            f'the controller has no path tolerance for {", ".join(free)}: only the watch acts'
        )
    return sentences


def _compare_ends(
    joints: NamedJoints,
    knots: TrajectoryPoints,
    speeds: FloatArray,
    constraints: ControllerConstraints,
    servo_delay: float,
) -> list[str]:
    """Warn of an end that the controller aborts though the watch accepts the lag of the arm."""
    late = servo_delay - constraints.goal_time
    if constraints.goal_time <= 0.0 or late <= 0.0:
        return []
    # Where an arm with the lag accepted is when the controller's patience ends.
    instant = knots.times[-1] - late
    sentences = []
    for index, joint in enumerate(joints.names):
        distance = abs(float(np.interp(instant, knots.times, knots.q[:, index]))
                       - float(knots.q[-1, index]))
        speed = abs(float(np.interp(instant, knots.times, speeds[:, index])))
        goal, stopped = float(constraints.goal[index]), constraints.stopped_velocity
        breaks = []
        if 0.0 < goal < distance:
            unit = joints.unit('rad', index)
            breaks.append(f'{distance:.3g} {unit} from its end (goal tolerance {goal:g} {unit})')
        if 0.0 < stopped < speed:
            unit = joints.unit('rad/s', index)
            breaks.append(
                f'moving at {speed:.3g} {unit} (stopped_velocity_tolerance {stopped:g} {unit})'
            )
        if breaks:
            sentences.append(
                f'{joint}: with the lag of {servo_delay:g} s that the watch accepts it is still '
                f'{" and ".join(breaks)} when goal_time, {constraints.goal_time:g} s, is over: '
                'the controller would abort; raise constraints.goal_time'
            )
    return sentences


def _describe_cancelling(peaks: FloatArray, constraints: ControllerConstraints) -> str:
    """Return what becomes of a goal that is cancelled, and of one that the controller aborts."""
    if constraints.held_because:
        return (
            f'a goal that is cancelled or aborted is held at once, as hard as the drives can, '
            f'because {constraints.held_because}: in the file of the controller, before it is '
            f'loaded, set {DECELERATES} and max_deceleration_on_cancel of every joint, with '
            'velocity limits in the URDF'
        )
    slowest = float(np.max(peaks / constraints.deceleration))
    aborted = 'held at once' if constraints.holds_on_abort else 'slowed down likewise'
    return (
        f'a goal that is cancelled is slowed down to rest within {slowest:.2g} s, one that the '
        f'controller aborts by itself is {aborted}'
    )


def _velocities(knots: TrajectoryPoints) -> FloatArray:
    """Return velocities at the knots (K, n) [rad/s], from positions where none are planned."""
    if knots.dq is not None:
        return knots.dq
    if knots.times.size == 1:
        return np.zeros_like(knots.q)
    velocities: FloatArray = np.gradient(knots.q, knots.times, axis=0)
    return velocities


def _joint_name(joint: str, what: str) -> str:
    return f'{PREFIX}.{joint}.{what}'


def _number(values: Mapping[str, object], name: str, default: float | None) -> float:
    value = values.get(name, default)
    if value is None:
        raise DataError(
            f'the controller has no parameter {name}: is it a joint_trajectory_controller, and '
            'does tf_prefix name its joints?'
        )
    if not is_number(value) or not math.isfinite(value):
        raise DataError(f'the parameter {name} of the controller is {value!r:.60}, no number')
    return float(value)
