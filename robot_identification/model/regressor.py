# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Regressor and observation matrix: torque as a linear function of the standard parameters.

``tau.ravel() = W @ theta_standard`` with row ``k * n + j`` for joint j at sample k. The inertial
columns are Pinocchio's; friction and reflected inertia are ours (its ``armature`` is in ``rnea``
but not in its regressor).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
import pinocchio as pin
from robot_identification.arrays import as_floats, BoolArray, FloatArray
from robot_identification.errors import check_argument, DataError, UsageError
from robot_identification.model.friction.law import FrictionLaw, JointMotion
from robot_identification.model.parameters import FrictionTerm, StandardParameters
from robot_identification.model.robot_model import RobotModel
from robot_identification.texts import short_repr

# Chosen: 6 joints of 84 parameters are 4 MB a block.
BLOCK_SAMPLES = 1024
# Blocks after which what was read of files is let go: 4 MB of six joints.
RELEASED_BLOCKS = 16


@dataclass(frozen=True)
class Motion:
    """Consecutive samples of the whole arm."""

    #: (N, n): position [rad], velocity [rad/s] and acceleration [rad/s^2] of the links.
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    temperature: FloatArray | None = None  #: (N, n): of the joints [deg C]
    #: The other side of elastic joints, which friction and rotor inertia act on: angles of the
    #: rotors divided by the gear ratio; where it is not given, the rotors turn as the links do.
    rotor: Motion | None = field(default=None, kw_only=True)
    #: Rows at which friction begins anew because what was before them is not known: the first one
    #: of a recording, and the first one after each gap.
    starts: tuple[int, ...] = field(default=(0,), kw_only=True)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in ('q', 'dq', 'ddq'):
            object.__setattr__(self, name, as_floats(name, getattr(self, name)))
        shapes = {
            signal.shape for side in (self, self.rotor) if side is not None
            for signal in (side.q, side.dq, side.ddq)
        }
        if len(shapes) != 1 or self.q.ndim != 2:
            raise UsageError(
                'q, dq and ddq must have one shape (N, n), N samples of n joints, got '
                f'{", ".join(map(str, sorted(shapes)))}'
            )

    def __len__(self) -> int:
        return len(self.q)

    def at_temperature(self, temperature: FloatArray | None) -> Motion:
        """Return the motion with joint temperatures (n,) [deg C]; None leaves it as it is."""
        if temperature is None:
            return self
        return replace(self, temperature=np.tile(temperature, (len(self), 1)))

    def part(self, rows: slice) -> Motion:
        """Return some of the samples."""
        first, last, _ = rows.indices(len(self))
        inside = slice(bisect_left(self.starts, first), bisect_left(self.starts, last))
        starts = tuple(start - first for start in self.starts[inside])
        return replace(self.rows(rows), starts=starts)

    def rows(self, chosen: slice | NDArray[np.int64] | BoolArray) -> Motion:
        """Return samples that need not follow each other, for what has no memory."""
        temperature = None if self.temperature is None else self.temperature[chosen]
        rotor = None if self.rotor is None else self.rotor.rows(chosen)
        return Motion(*_take(chosen, self.q, self.dq, self.ddq), temperature, rotor=rotor)

    def with_stiff_joints(self) -> Motion:
        """Return it with the links' motion for that of the rotors."""
        return replace(self, rotor=Motion(self.q, self.dq, self.ddq))

    @property
    def drive_side(self) -> Motion:
        """Return what friction and rotor inertia act on: the rotors where they are given."""
        return self if self.rotor is None else self.rotor


def _check_joints(robot: RobotModel, motion: Motion) -> None:
    check_argument('motion', motion, Motion)
    if motion.q.shape[1] != robot.n:
        raise UsageError(
            f'the motion has the shape {motion.q.shape}, needed is (N, {robot.n}): a column for '
            f'each joint of {robot.name}'
        )


def _take(
    chosen: slice | NDArray[np.int64] | BoolArray, *signals: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return some rows of signals as plain arrays: rows of a file are slow to go through."""
    q, dq, ddq = (np.asarray(signal[chosen]) for signal in signals)
    return q, dq, ddq


def inertial_regressor(
    robot: RobotModel, motion: Motion, out: FloatArray | None = None, data: pin.Data | None = None
) -> FloatArray:
    """
    Return the inertial columns W (N n, 10 n) of the observation matrix [N m per parameter].

    ``tau.ravel() = W @ theta`` for the rigid arm without friction. They are written into the first
    columns of `out`, shape (N, n, p) with p >= 10 n, where that is given, and are then a view of
    it if it is contiguous. `data` is working memory, for callers with a sample at a time.
    """
    _check_joints(robot, motion)
    model, n = robot.pinocchio, robot.n
    data = model.createData() if data is None else data
    blocks = np.empty((len(motion), n, 10 * n)) if out is None else out[:, :, : 10 * n]
    compute = pin.computeJointTorqueRegressor
    rows = zip(*_take(slice(None), motion.q, motion.dq, motion.ddq), strict=True)
    for k, (q, dq, ddq) in enumerate(rows):
        blocks[k] = compute(model, data, q, dq, ddq)
    return blocks.reshape(-1, 10 * n)


def static_regressor(robot: RobotModel, q: FloatArray) -> FloatArray:
    """Return the inertial columns (N n, 10 n) of arms at rest in poses (N, n) [rad or m]."""
    poses = as_floats('q', q)
    rest = np.zeros_like(poses)
    return inertial_regressor(robot, Motion(poses, rest, rest))


def energy_regressor(robot: RobotModel, motion: Motion) -> tuple[FloatArray, FloatArray]:
    """
    Return kinetic and potential energy as linear functions of the inertial parameters.

    Along a motion the work of the joint torques is the change of their sum, so that parameters
    can be estimated without accelerations. Energies are ``kinetic @ theta`` and ``potential @
    theta`` [J] with matrices (N, 10 n); the second is zero at the root frame's origin.
    """
    _check_joints(robot, motion)
    model = robot.pinocchio
    data = model.createData()
    kinetic, potential = np.empty((2, len(motion), 10 * robot.n))
    for k, (q, dq) in enumerate(zip(motion.q, motion.dq, strict=True)):
        kinetic[k] = pin.computeKineticEnergyRegressor(model, data, q, dq)
        potential[k] = pin.computePotentialEnergyRegressor(model, data, q)
    return kinetic, potential


def observation_matrix(
    robot: RobotModel,
    parameters: StandardParameters,
    motion: Motion,
    friction_states: list[FloatArray] | None = None,
    tau_rigid: FloatArray | None = None,
) -> FloatArray:
    """
    Return the observation matrix W (N n, p) of N consecutive samples.

    ``tau.ravel() = W @ theta_standard``; `parameters` says which columns, in which order.
    `friction_states` has the state of every friction term before the first sample, by default the
    initial one, and is replaced in place by that after the last one, so that the next block can go
    on from it. `tau_rigid` (N, n), by default the URDF's, is for load-dependent laws [N m]. Raises
    DataError if a law needs temperatures and there are none.
    """
    _check_joints(robot, motion)
    N, n = motion.q.shape
    W = np.zeros((N, n, parameters.size))
    inertial_regressor(robot, motion, W)
    if tau_rigid is None and any(t.law.needs_rigid_torque for t in parameters.friction):
        tau_rigid = rigid_torque(robot, motion)
    states = initial_friction_states(parameters) if friction_states is None else friction_states
    for index, (term, columns) in enumerate(parameters.friction_columns):
        seen = friction_motion(robot, term, motion, tau_rigid)
        W[:, term.joint, columns], states[index] = run_friction(
            term.law, seen, states[index], motion.starts
        )
    if parameters.reflected_inertia:
        rotors = W[:, :, parameters.reflected_inertia_slice]
        rotors[:, range(n), range(n)] = motion.drive_side.ddq
    return W.reshape(N * n, parameters.size)


def friction_motion(
    robot: RobotModel, term: FrictionTerm, motion: Motion, tau_rigid: FloatArray | None
) -> JointMotion:
    """
    Return a motion as the friction law of one joint sees it.

    The rigid torque (N, n) is zero by default [N m]. Raises DataError if the law needs
    temperatures and there are none.
    """
    joint, temperature = term.joint, motion.temperature
    if term.law.needs_temperature and (
        temperature is None or not np.all(np.isfinite(temperature[:, joint]))
    ):
        raise DataError(
            f'friction law {term.law.name} of {robot.joint_names[joint]} needs joint temperatures '
            'and the recording has none: record them, or choose laws without temperature'
        )
    return joint_motion(motion, joint, tau_rigid)


def joint_motion(motion: Motion, joint: int, tau_rigid: FloatArray | None = None) -> JointMotion:
    """Return a motion as one joint's drive sees it; the rigid torque (N, n) is zero by default."""
    N = len(motion)
    return JointMotion(
        q=motion.drive_side.q[:, joint],
        dq=motion.drive_side.dq[:, joint],
        tau_rigid=np.zeros(N) if tau_rigid is None else tau_rigid[:, joint],
        temperature=(
            np.full(N, np.nan) if motion.temperature is None else motion.temperature[:, joint]
        ),
    )


def run_friction(
    law: FrictionLaw, motion: JointMotion, state: FloatArray, starts: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """
    Return the columns (N, k) of a friction law along a recording, and the state (s,) after it.

    `state` is that before the first sample; it begins anew at the rows of `starts`.
    """
    # Most laws have no memory, and most recordings no gap.
    if not state.size or not starts:
        return law.columns(motion, state)
    N = motion.dq.size
    blocks = []
    for first, last in pairwise([0, *(start for start in starts if start > 0), N]):
        if first in starts:
            state = law.initial_state()
        columns, state = law.columns(motion.part(slice(first, last)), state)
        blocks.append(columns)
    return np.concatenate(blocks), state


def rigid_torque(robot: RobotModel, motion: Motion) -> FloatArray:
    """Return the torques of the URDF's rigid bodies along a motion [N m], shape (N, n)."""
    _check_joints(robot, motion)
    model = robot.pinocchio
    data = model.createData()
    tau = np.empty(motion.q.shape)
    rows = zip(*_take(slice(None), motion.q, motion.dq, motion.ddq), strict=True)
    for k, (q, dq, ddq) in enumerate(rows):
        tau[k] = pin.rnea(model, data, q, dq, ddq)
    return tau


def initial_friction_states(parameters: StandardParameters) -> list[FloatArray]:
    """Return the state of every friction term at the start of a recording."""
    return [term.law.initial_state() for term in parameters.friction]


def block_slices(size: int) -> Iterator[slice]:
    """Yield consecutive slices of at most BLOCK_SAMPLES."""
    for start in range(0, size, BLOCK_SAMPLES):
        yield slice(start, min(start + BLOCK_SAMPLES, size))


def standard_torque(
    robot: RobotModel, parameters: StandardParameters, theta: FloatArray, motion: Motion
) -> FloatArray:
    """
    Return the torque (N, n) [N m] of standard parameters (p,) along a motion.

    The motion begins with a recording. Friction that depends on the load takes that of `theta`: of
    the bodies and rotors, or of the bodies alone where the rotors' own motion is given, because
    the gears then transmit just that.
    """
    _check_joints(robot, motion)
    tau = np.empty(motion.q.shape)
    states = initial_friction_states(parameters)
    for rows in block_slices(len(motion)):
        tau[rows] = continue_torque(robot, parameters, theta, motion.part(rows), states)
    return tau


def continue_torque(
    robot: RobotModel,
    parameters: StandardParameters,
    theta: FloatArray,
    motion: Motion,
    friction_states: list[FloatArray],
) -> FloatArray:
    """
    Return the torque (N, n) [N m] of some samples of a recording, after those before them.

    As `standard_torque`; `friction_states` has the state of every friction term before the first
    sample, and is replaced in place by that after the last one.
    """
    tau, transmitted = rigid_and_transmitted_torque(robot, parameters, theta, motion)
    return tau + continue_friction(
        robot, parameters, theta, motion, transmitted, friction_states
    )


def rigid_and_transmitted_torque(
    robot: RobotModel, parameters: StandardParameters, theta: FloatArray, motion: Motion
) -> tuple[FloatArray, FloatArray]:
    """
    Return the torque of bodies and rotors, and what of it the gears transmit, (N, n) each [N m].

    Friction that depends on the load sees the second: the same, or that of the bodies alone where
    the rotors' own motion is given.
    """
    bodies = np.empty((len(motion), robot.n))
    for rows in block_slices(len(motion)):
        W = inertial_regressor(robot, motion.part(rows))
        bodies[rows] = (W @ theta[: 10 * robot.n]).reshape(-1, robot.n)
    rigid = bodies
    if parameters.reflected_inertia:
        rigid = bodies + motion.drive_side.ddq * theta[parameters.reflected_inertia_slice]
    return rigid, rigid if motion.rotor is None else bodies


def continue_friction(
    robot: RobotModel,
    parameters: StandardParameters,
    theta: FloatArray,
    motion: Motion,
    tau_rigid: FloatArray,
    friction_states: list[FloatArray],
) -> FloatArray:
    """
    Return the friction torque (N, n) [N m] of some samples, offsets in it, as `continue_torque`.

    `tau_rigid` (N, n) is what the gears transmit, for laws that depend on it [N m].
    """
    friction = np.zeros(motion.q.shape)
    for index, (term, columns) in enumerate(parameters.friction_columns):
        seen = friction_motion(robot, term, motion, tau_rigid)
        found, friction_states[index] = run_friction(
            term.law, seen, friction_states[index], motion.starts
        )
        friction[:, term.joint] += found @ theta[columns]
    return friction


def prior_inertial_parameters(robot: RobotModel) -> FloatArray:
    """Return the inertial parameters of the URDF, shape (10 n,), inertias about joint frames."""
    bodies = list(robot.pinocchio.inertias)[1:]
    return np.concatenate([body.toDynamicParameters() for body in bodies])
