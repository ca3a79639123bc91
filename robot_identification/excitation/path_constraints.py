# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Limits of functions of the state along a motion, with their exact derivatives.

Each is a share of a limit, at most 1 (two-sided: of magnitude 1 at most), sample by sample. An
optimizer takes shares and derivatives; certification takes the shares alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.excitation.constraints import joint_index, tightened
from robot_identification.excitation.experiment import (
    Experiment, ExtraLimits, SineTimesCosine, SumOfJoints,
)
from robot_identification.model import Motion, rigid_torque, RobotModel

# A speed has a corner at rest. Its square root is taken of the square plus that of this share of
# the limit: 5e-9 of the limit too much where it counts.
REST_SHARE = 1.0e-4


@dataclass(frozen=True, eq=False)
class PathValues:
    """Shares of limits at the samples of a motion, and derivatives by their states."""

    shares: FloatArray  # with sign, shape (N, m)
    by_q: FloatArray  # [1/rad], shape (N, m, n)
    by_dq: FloatArray  # [s/rad], shape (N, m, n)
    by_ddq: FloatArray  # [s^2/rad], shape (N, m, n)


class PathConstraint(ABC):
    """Limits of m functions of position, velocity and acceleration."""

    kind: ClassVar[str]  # quantity that is limited
    # whether shares from -1 to 1 are allowed, not only those up to 1
    two_sided: ClassVar[bool] = False

    zero: FloatArray  # value where the share is 0, in the limit's unit, shape (m,)
    scale: FloatArray  # value per share, shape (m,)

    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Return what each of the m limits is of."""

    @abstractmethod
    def evaluate(self, motion: Motion) -> PathValues:
        """Return the shares along a motion with their derivatives."""

    def shares(self, motion: Motion) -> FloatArray:
        """Return the shares along a motion, shape (N, m)."""
        return self.evaluate(motion).shares

    def use(self, shares: FloatArray) -> FloatArray:
        """Return how much of the limits shares use: their magnitude where both sides count."""
        return np.abs(shares) if self.two_sided else shares


class TorqueLimit(PathConstraint):
    """Torques of the rigid bodies, up to `limit` (n,) [N m]; infinite ones are left out."""

    kind = 'torque'
    two_sided = True

    def __init__(self, robot: RobotModel, limit: FloatArray) -> None:
        self._robot = robot
        self._rows = np.flatnonzero(np.isfinite(limit))
        self.zero, self.scale = np.zeros(self._rows.size), limit[self._rows]

    def labels(self) -> tuple[str, ...]:
        return tuple(self._robot.joint_names[row] for row in self._rows)

    def shares(self, motion: Motion) -> FloatArray:
        shares: FloatArray = rigid_torque(self._robot, motion)[:, self._rows] / self.scale
        return shares

    def evaluate(self, motion: Motion) -> PathValues:
        model = self._robot.pinocchio
        data = model.createData()
        N, n = motion.q.shape
        tau, results = np.empty((N, n)), np.empty((3, N, n, n))
        for k, state in enumerate(zip(motion.q, motion.dq, motion.ddq, strict=True)):
            pin.computeRNEADerivatives(model, data, *state)
            tau[k] = data.tau
            results[:, k] = data.dtau_dq, data.dtau_dv, data.M
        # Of the mass matrix Pinocchio fills the upper triangle.
        upper = np.triu(results[2])
        results[2] = upper + np.triu(upper, 1).transpose(0, 2, 1)
        by = results[:, :, self._rows] / self.scale[:, None]
        return PathValues(tau[:, self._rows] / self.scale, *by)


class WorkspaceBox(PathConstraint):
    """
    The origin of a link stays in a box of the root frame [m], infinite where a side is open.

    Where both sides of an axis are limited the share is 0 in the middle; where one is, it is 0 a
    metre inside.
    """

    kind = 'workspace'

    def __init__(
        self, robot: RobotModel, frame: str, lower: Sequence[float], upper: Sequence[float]
    ) -> None:
        self._robot, self._frame = robot, frame
        self._id = _frame_id(robot, frame)
        self._axes, self.zero, self.scale = _sides(lower, upper)

    def labels(self) -> tuple[str, ...]:
        return tuple(
            f'{self._frame} {"xyz"[axis]} {"max" if scale > 0.0 else "min"}'
            for axis, scale in zip(self._axes, self.scale, strict=True)
        )

    def evaluate(self, motion: Motion) -> PathValues:
        model = self._robot.pinocchio
        data = model.createData()
        N, n = motion.q.shape
        places, jacobians = np.empty((N, 3)), np.empty((N, 3, n))
        for k, q in enumerate(motion.q):
            # One joint's comes as a vector.
            jacobians[k] = pin.computeFrameJacobian(
                model, data, q, self._id, pin.LOCAL_WORLD_ALIGNED
            ).reshape(6, -1)[:3]
            places[k] = data.oMf[self._id].translation
        return _of_positions(
            (places[:, self._axes] - self.zero) / self.scale,
            jacobians[:, self._axes] / self.scale[:, None],
        )


class ToolSpeed(PathConstraint):
    """Speed of the origin of a link [m/s]."""

    kind = 'tool_speed'

    def __init__(self, robot: RobotModel, frame: str, limit: float) -> None:
        self._robot, self._frame = robot, frame
        self._id = _frame_id(robot, frame)
        self.zero, self.scale = np.zeros(1), np.array([limit])

    def labels(self) -> tuple[str, ...]:
        return (self._frame,)

    def evaluate(self, motion: Motion) -> PathValues:
        model = self._robot.pinocchio
        data = model.createData()
        N, n = motion.q.shape
        velocities, slopes = np.empty((N, 3)), np.empty((2, N, 3, n))
        still = np.zeros(n)
        for k, (q, dq) in enumerate(zip(motion.q, motion.dq, strict=True)):
            pin.computeForwardKinematicsDerivatives(model, data, q, dq, still)
            # In its own frame a velocity is as long as in any other.
            velocities[k] = pin.getFrameVelocity(model, data, self._id, pin.LOCAL).linear
            both = pin.getFrameVelocityDerivatives(model, data, self._id, pin.LOCAL)
            # Of one joint they come as vectors.
            slopes[:, k] = [by.reshape(6, -1)[:3] for by in both]
        squared = np.sum(velocities**2, axis=1, keepdims=True) / self.scale**2
        shares = np.sqrt(squared + REST_SHARE**2)
        by = np.einsum('ka,skaj->skj', velocities, slopes) / (self.scale**2 * shares)
        by_q, by_dq = by[:, :, None]
        return PathValues(shares, by_q, by_dq, np.zeros_like(by_q))


class SumRule(PathConstraint):
    """
    A sum of joint positions stays in a range.

    Where both sides are limited the share is 0 in the middle; where one is, it is 0 a radian
    inside.
    """

    kind = 'rule'

    def __init__(self, robot: RobotModel, rule: SumOfJoints) -> None:
        self._rule = rule
        self._factors = np.zeros(robot.n)
        for joint, factor in rule.joints.items():
            self._factors[joint_index(robot, joint, 'a rule')] = factor
        _, self.zero, self.scale = _sides([rule.lower], [rule.upper])

    def labels(self) -> tuple[str, ...]:
        terms = ' + '.join(f'{factor:g} {joint}' for joint, factor in self._rule.joints.items())
        return tuple(
            f'{terms} + {self._rule.offset:.4g} {"max" if scale > 0.0 else "min"}'
            for scale in self.scale
        )

    def evaluate(self, motion: Motion) -> PathValues:
        sums = motion.q @ self._factors + self._rule.offset
        return _of_positions(
            (sums[:, None] - self.zero) / self.scale,
            np.tile(self._factors / self.scale[:, None], (len(motion), 1, 1)),
        )


class SineCosineRule(PathConstraint):
    """
    The sine of one joint times the magnitude of the cosine of another is limited from above.

    Its corner, where the cosine is zero, is far from the limit.
    """

    kind = 'rule'

    def __init__(self, robot: RobotModel, rule: SineTimesCosine) -> None:
        self._rule = rule
        self._joints = (
            joint_index(robot, rule.sine, 'a rule'), joint_index(robot, rule.cosine, 'a rule'),
        )
        self.zero, self.scale = np.zeros(1), np.array([rule.at_most])

    def labels(self) -> tuple[str, ...]:
        return (f'sin({self._rule.sine}) |cos({self._rule.cosine})|',)

    def evaluate(self, motion: Motion) -> PathValues:
        a, b = (motion.q[:, joint] for joint in self._joints)
        by_q = np.zeros((*motion.q.shape[:1], 1, motion.q.shape[1]))
        by_q[:, 0, self._joints[0]] += np.cos(a) * np.abs(np.cos(b)) / self.scale
        by_q[:, 0, self._joints[1]] -= (
            np.sin(a) * np.sin(b) * np.sign(np.cos(b)) / self.scale
        )
        return _of_positions((np.sin(a) * np.abs(np.cos(b)))[:, None] / self.scale, by_q)


def _of_positions(shares: FloatArray, by_q: FloatArray) -> PathValues:
    """Return shares that depend on positions alone."""
    nothing = np.zeros_like(by_q)
    return PathValues(shares, by_q, nothing, nothing)


def path_constraints(robot: RobotModel, experiment: Experiment) -> tuple[PathConstraint, ...]:
    """Return every limit of an experiment that is a function of the state, torques included."""
    limit = tightened(robot, experiment.extra_limits).effort * experiment.margins.torque
    constraints = state_constraints(robot, experiment.extra_limits)
    if not np.any(np.isfinite(limit)):
        return constraints
    return (TorqueLimit(robot.with_gravity(experiment.gravity), limit), *constraints)


def state_constraints(robot: RobotModel, extra: ExtraLimits) -> tuple[PathConstraint, ...]:
    """
    Return the constraints of workspace, tool speed and rules.

    Raises UsageError if a joint or a link is not the arm's.
    """
    constraints: list[PathConstraint] = [
        WorkspaceBox(robot, box.frame, box.lower, box.upper) for box in extra.workspace
    ]
    if extra.tool_speed is not None:
        speed = extra.tool_speed
        constraints.append(ToolSpeed(robot, speed.frame, speed.limit))
    for rule in extra.rules:
        constraints.append(
            SumRule(robot, rule) if isinstance(rule, SumOfJoints) else SineCosineRule(robot, rule)
        )
    return tuple(constraints)


def _sides(
    lower: Sequence[float], upper: Sequence[float]
) -> tuple[list[int], FloatArray, FloatArray]:
    """Return axis, value of share 0 and value per share of every side that is not open."""
    axes, zero, scale = [], [], []
    for axis, (low, high) in enumerate(zip(lower, upper, strict=True)):
        closed = np.isfinite(low) and np.isfinite(high)
        # Of a side with an open one opposite the share is 0 a metre or radian inside of it.
        depth = 0.5 * (high - low) if closed else 1.0
        for side, inwards in ((low, depth), (high, -depth)):
            if np.isfinite(side):
                axes.append(axis)
                zero.append(side + inwards)
                scale.append(-inwards)
    return axes, np.array(zero), np.array(scale)


def _frame_id(robot: RobotModel, frame: str) -> int:
    model = robot.pinocchio
    if not model.existFrame(frame, pin.FrameType.BODY):
        known = ', '.join(one.name for one in model.frames if one.type == pin.FrameType.BODY)
        raise UsageError(
            f'the experiment limits the link {frame}, which {robot.name} does not have; it has '
            f'{known}'
        )
    return int(model.getFrameId(frame, pin.FrameType.BODY))
