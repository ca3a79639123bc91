# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Trajectory: the motion a robot is to make, as a file with its certificate inside.

Format: docs/formats/trajectory.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation.parametrizations import PARAMETRIZATIONS
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, Parametrization,
)
from robot_identification.files import (
    AnyPath, canonical_sha256, check_keys, check_schema_version, dump_yaml, read_yaml, to_plain,
    write_atomically,
)
from robot_identification.model import Motion, NamedJoints, RobotModel
from robot_identification.removed import describe_unknown
from robot_identification.texts import short_repr

SCHEMA_VERSION = 1  # of the file
MAXIMUM_PERIODS = 1000  # chosen: 2.8 h of the usual 10 s
# Of speeds at the ends [rad/s], and of what a repetition may start off the end of the last.
END_TOLERANCE = 1.0e-6


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A periodic motion of an arm, at rest where it starts and ends."""

    robot: str  # name of the robot
    joint_names: tuple[str, ...]  # the n joints, kinematic order
    form: Parametrization  # family of the motion
    coefficients: FloatArray  # (n, c): coefficients of the form [rad]
    periods: int  # how often the motion is repeated
    certificate: Mapping[str, Any]  # what was checked and found, empty before that

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if self.periods > 1 and not self.form.closed:
            self._check_repeatable()

    def _check_repeatable(self) -> None:
        """Check that one repetition starts as the last one ended."""
        ends = self.form.sample(self.coefficients, np.array([0.0, self.form.duration]))
        for kind, values in zip(('position', 'velocity', 'acceleration'), ends, strict=True):
            start, end = values
            joint = int(np.argmax(np.abs(end - start)))
            if not abs(end[joint] - start[joint]) <= END_TOLERANCE:
                raise DescriptionError(
                    f'periods is {self.periods}, and the {kind} of {self.joint_names[joint]} is '
                    f'{start[joint]:.6g} at the start and {end[joint]:.6g} at the end: a motion '
                    'that does not end as it starts is not repeated, periods must be 1'
                )

    @property
    def duration(self) -> float:
        """Length of the whole motion [s]."""
        return self.form.duration * self.periods

    @property
    def sha256(self) -> str:
        """Hash over the canonical content, certificate included."""
        return canonical_sha256(_content(self))

    def with_certificate(self, certificate: Mapping[str, Any]) -> Trajectory:
        """Return the trajectory with a certificate."""
        return replace(self, certificate=certificate)

    def sample(self, t: FloatArray | float) -> Motion:
        """
        Return position, velocity and acceleration at times from the start.

        `t` are times (N,) [s], or a rate [Hz] of even times over the whole motion (`times`).
        """
        times = np.asarray(t, dtype=float) if np.ndim(t) else self.times(float(t))
        return Motion(*self.form.sample(self.coefficients, times))

    def times(self, rate: float) -> FloatArray:
        """Return even times from first to last instant, at least `rate` per second [Hz]."""
        return np.linspace(0.0, self.duration, round(np.ceil(self.duration * rate)) + 1)

    def save(self, path: AnyPath) -> None:
        """Write the trajectory file, which `load_trajectory` reads; a file there is replaced."""
        write_atomically(Path(path), dump_trajectory(self))


def check_rest_at_ends(trajectory: Trajectory, position_units: Sequence[str] = ()) -> None:
    """
    Raise UnsafeMotionError if a motion does not start and end at rest.

    The message names the joint and its speed; `position_units` are those of the joints, by
    default of joints that turn. Motions of a closed form always pass.
    """
    joints = NamedJoints(trajectory.joint_names, tuple(position_units))
    ends = np.array([0.0, trajectory.form.duration])
    _, dq, _ = trajectory.form.sample(trajectory.coefficients, ends)
    for place, speeds in zip(('start', 'end'), dq, strict=True):
        joint = int(np.argmax(np.abs(speeds)))
        if not abs(speeds[joint]) <= END_TOLERANCE:
            raise UnsafeMotionError(
                f'{joints.names[joint]} moves at {speeds[joint]:.4g} '
                f'{joints.unit("rad/s", joint)} at the {place} of the motion, '
                'and the arm is to be at rest there: let the motion begin and end with a rest'
            )


def _content(trajectory: Trajectory) -> dict[str, Any]:
    return {
        'schema_version': SCHEMA_VERSION,
        'robot': trajectory.robot,
        'joints': list(trajectory.joint_names),
        'form': trajectory.form.name,
        'options': trajectory.form.options(),
        'coefficients': to_plain(trajectory.coefficients),
        'periods': trajectory.periods,
        'certificate': to_plain(trajectory.certificate),
    }


def dump_trajectory(trajectory: Trajectory) -> str:
    """Return the text of the trajectory file; its sha256 is the last line."""
    return dump_yaml({**_content(trajectory), 'sha256': trajectory.sha256})


def load_trajectory(path: AnyPath, *, check_hash: bool = True) -> Trajectory:
    """
    Read a trajectory file.

    `check_hash` refuses a file that was changed after it was certified; only a new certification
    may do without. Raises UsageError if there is no such file, DescriptionError if it is not a
    trajectory file of this version, UnsafeMotionError if its numbers are not finite or its content
    does not match its hash.
    """
    content, source = read_yaml(Path(path)), str(path)
    check_schema_version(content, source, SCHEMA_VERSION)
    keys = {
        'schema_version', 'robot', 'joints', 'form', 'options', 'coefficients', 'periods',
        'certificate', 'sha256',
    }
    check_keys(content, source, keys, set())
    if str(content['form']) not in PARAMETRIZATIONS:
        raise DescriptionError(
            f'{source}: {describe_unknown("form", content["form"], PARAMETRIZATIONS)}'
        )
    try:
        form = PARAMETRIZATIONS[content['form']](**content['options'])
        coefficients = np.array(content['coefficients'], dtype=float)
        if not np.all(np.isfinite(coefficients)):
            raise UnsafeMotionError(f'{source}: coefficients are not all finite')
        joints = tuple(str(joint) for joint in content['joints'])
        periods = content['periods']
        check_count(f'{source}: periods', periods, 1, MAXIMUM_PERIODS)
        if coefficients.shape != (len(joints), form.n_coefficients):
            raise DescriptionError(
                f'{source}: coefficients have shape {coefficients.shape}, the form needs '
                f'{(len(joints), form.n_coefficients)}'
            )
        trajectory = Trajectory(
            str(content['robot']), joints, form, coefficients, periods, content['certificate']
        )
        unchanged = trajectory.sha256 == content['sha256']
    except (TypeError, ValueError) as error:
        raise DescriptionError(f'{source} is damaged or was edited: {error}') from error
    if check_hash and not unchanged:
        raise UnsafeMotionError(
            f'{source}: the content does not match its sha256: it was changed after it was '
            'certified; certify it again with `excite --evaluate FILE -o NEW_FILE`'
        )
    return trajectory


def trajectory_csv(trajectory: Trajectory, rate: float) -> str:
    """
    Return t, q_1.., dq_1.., ddq_1.. as CSV with one header line.

    At `rate` samples per second [Hz], first and last instant included.
    """
    t = trajectory.times(rate)
    motion = trajectory.sample(t)
    numbers = range(1, len(trajectory.joint_names) + 1)
    header = ['t', *(f'{symbol}_{i}' for symbol in ('q', 'dq', 'ddq') for i in numbers)]
    rows = np.column_stack([t, motion.q, motion.dq, motion.ddq])
    lines = [','.join(header)] + [','.join(f'{value:.12g}' for value in row) for row in rows]
    return '\n'.join(lines) + '\n'


def tool_frame(robot: RobotModel) -> str:
    """Return the last link of the arm: the last one in the URDF that the last joint moves."""
    return str(robot.pinocchio.frames[_frame_id(robot)].name)


def tool_path(robot: RobotModel, q: FloatArray) -> FloatArray:
    """
    Return the positions (N, 3) of the last link's origin in the root frame [m].

    At the joint positions `q` (N, n) [rad or m].
    """
    model, frame = robot.pinocchio, _frame_id(robot)
    data = model.createData()
    path = np.empty((len(q), 3))
    for k, pose in enumerate(q):
        pin.forwardKinematics(model, data, pose)
        path[k] = pin.updateFramePlacement(model, data, frame).translation
    return path


def _frame_id(robot: RobotModel) -> int:
    frames = robot.pinocchio.frames
    last = robot.pinocchio.njoints - 1
    return max(
        k for k, frame in enumerate(frames)
        if frame.type == pin.FrameType.BODY and frame.parentJoint == last
    )
