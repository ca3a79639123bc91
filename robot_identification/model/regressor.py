# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Regressor and observation matrix: torque as a linear function of the standard parameters.

``tau.ravel() = W @ theta_standard`` with row ``k * n + j`` for joint j at sample k. The inertial
columns are Pinocchio's; friction and reflected inertia are ours (its ``armature`` is in ``rnea``
but not in its regressor).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from robot_identification.model.friction.law import FloatArray
from robot_identification.model.friction.law import JointMotion
from robot_identification.model.parameters import StandardParameters
from robot_identification.model.robot_model import RobotModel

BLOCK_SAMPLES = 1024


@dataclass(frozen=True)
class Motion:
    """
    Consecutive samples of the whole arm.

    Attributes
    ----------
    q, dq, ddq : ndarray, shape (N, n)
        Position [rad], velocity [rad/s], acceleration [rad/s^2].
    temperature : ndarray, shape (N, n), optional
        Joint temperatures [deg C].

    """

    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    temperature: FloatArray | None = None

    def __post_init__(self) -> None:
        shapes = {self.q.shape, self.dq.shape, self.ddq.shape}
        if len(shapes) != 1 or self.q.ndim != 2:
            raise ValueError(f'q, dq and ddq must have one shape (N, n), got {sorted(shapes)}')

    def __len__(self) -> int:
        return len(self.q)

    def part(self, rows: slice) -> Motion:
        """Return some of the samples."""
        temperature = None if self.temperature is None else self.temperature[rows]
        return Motion(self.q[rows], self.dq[rows], self.ddq[rows], temperature)


def inertial_regressor(robot: RobotModel, motion: Motion) -> FloatArray:
    """
    Return the inertial columns of the observation matrix.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    motion : Motion
        N samples.

    Returns
    -------
    ndarray, shape (N n, 10 n)
        ``tau.ravel() = W @ theta`` for the rigid arm without friction [N m per parameter].

    """
    model, n = robot.pinocchio, robot.n
    data = model.createData()
    W = np.empty((len(motion), n, 10 * n))
    compute = pin.computeJointTorqueRegressor
    for k, (q, dq, ddq) in enumerate(zip(motion.q, motion.dq, motion.ddq, strict=True)):
        W[k] = compute(model, data, q, dq, ddq)
    return W.reshape(-1, 10 * n)


def observation_matrix(
    robot: RobotModel,
    parameters: StandardParameters,
    motion: Motion,
    friction_states: list[FloatArray] | None = None,
    tau_rigid: FloatArray | None = None,
) -> FloatArray:
    """
    Return the observation matrix of some samples.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    parameters : StandardParameters
        Which columns, in which order.
    motion : Motion
        N consecutive samples.
    friction_states : list of ndarray, optional
        State of every friction term before the first sample; replaced in place by the state
        after the last one, so that the next block can go on from it. By default initial states.
    tau_rigid : ndarray, shape (N, n), optional
        Rigid torque for load-dependent laws [N m]; by default zero.

    Returns
    -------
    ndarray, shape (N n, p)
        ``tau.ravel() = W @ theta_standard``.

    """
    N, n = motion.q.shape
    W = np.zeros((N, n, parameters.size))
    W[:, :, : 10 * n] = inertial_regressor(robot, motion).reshape(N, n, 10 * n)
    states = initial_friction_states(parameters) if friction_states is None else friction_states
    for index, (term, columns) in enumerate(
        zip(parameters.friction, parameters.friction_slices, strict=True)
    ):
        joint = term.joint
        seen = JointMotion(
            q=motion.q[:, joint],
            dq=motion.dq[:, joint],
            tau_rigid=np.zeros(N) if tau_rigid is None else tau_rigid[:, joint],
            temperature=(
                np.full(N, np.nan) if motion.temperature is None else motion.temperature[:, joint]
            ),
        )
        W[:, joint, columns], states[index] = term.law.columns(seen, states[index])
    if parameters.reflected_inertia:
        start = parameters.reflected_inertia_slice.start
        for joint in range(n):
            W[:, joint, start + joint] = motion.ddq[:, joint]
    return W.reshape(N * n, parameters.size)


def initial_friction_states(parameters: StandardParameters) -> list[FloatArray]:
    """Return the state of every friction term at the start of a recording."""
    return [term.law.initial_state() for term in parameters.friction]


def observation_blocks(
    robot: RobotModel, parameters: StandardParameters, motion: Motion
) -> Iterator[tuple[slice, FloatArray]]:
    """
    Yield the observation matrix in blocks, so that memory does not grow with the recording.

    Yields
    ------
    rows : slice
        Samples of the block.
    W : ndarray, shape (at most BLOCK_SAMPLES * n, p)
        Observation matrix of those samples.

    """
    states = initial_friction_states(parameters)
    for start in range(0, len(motion), BLOCK_SAMPLES):
        rows = slice(start, min(start + BLOCK_SAMPLES, len(motion)))
        yield rows, observation_matrix(robot, parameters, motion.part(rows), states)


def standard_torque(
    robot: RobotModel, parameters: StandardParameters, theta: FloatArray, motion: Motion
) -> FloatArray:
    """
    Return the torque of standard parameters along a motion.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    parameters : StandardParameters
        Meaning of `theta`.
    theta : ndarray, shape (p,)
        Standard parameters, SI units.
    motion : Motion
        N samples.

    Returns
    -------
    ndarray, shape (N, n)
        Joint torques [N m].

    """
    tau = np.empty(motion.q.shape)
    for rows, W in observation_blocks(robot, parameters, motion):
        tau[rows] = (W @ theta).reshape(-1, robot.n)
    return tau


def prior_inertial_parameters(robot: RobotModel) -> FloatArray:
    """Return the inertial parameters of the URDF, shape (10 n,), inertias about joint frames."""
    return np.concatenate([inertia.toDynamicParameters() for inertia in
                           list(robot.pinocchio.inertias)[1:]])
