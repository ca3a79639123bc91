# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Exact gradients of numbers that depend on an observation matrix.

An optimizer of motions asks for the matrix W of some dozens of samples and for the gradient of a
number that depends on all of W, thousands of times. Here the derivatives run backwards through
the recursion over the bodies (reverse mode), over all samples together, which takes as long as a
few evaluations of W, however many coefficients the motion has. Everything that describes the arm
(joint transforms, axes, the spatial inertia of unit parameters) is taken from Pinocchio, and tests
hold the gradients against its RNEA derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.model.parameters import StandardParameters
from robot_identification.model.regressor import Motion
from robot_identification.model.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class _Body:
    """
    Constants of one moving body.

    A joint's transform is affine in sine and cosine of its angle, or in its displacement: three or
    two constant matrices. `factors` are those (k, 6, 6), for motions from the parent to the body;
    `backwards` are their transposes side by side. `axis` is the joint's unit motion in the body's
    frame, and `turned` the matrix of the product of a motion with it.
    """

    parent: int
    carriers: tuple[int, ...]
    turns: bool
    factors: FloatArray
    backwards: FloatArray
    axis: FloatArray
    turned: FloatArray


@dataclass(frozen=True, eq=False)
class _State:
    """
    A body's motion at N samples, in its own frame.

    `vectors` (6, 2 + carriers, N) are its velocity, its acceleration less gravity, and the unit
    motions of the joints that carry it; `slopes` their derivatives by the joint's own position,
    but for the last, which is constant.
    """

    vectors: FloatArray
    slopes: FloatArray


@dataclass(frozen=True, eq=False)
class Passage:
    """The motion of all bodies at some samples, from which gradients start."""

    motion: Motion
    states: list[_State]


class RegressorGradient:
    """
    Gradients through the observation matrix of one arm and set of parameters.

    Gravity is that of `robot`; `parameters` are the columns. Raises UsageError if a friction law
    depends on more than the velocity.
    """

    def __init__(self, robot: RobotModel, parameters: StandardParameters) -> None:
        self._gravity, self._parameters = robot.gravity, parameters
        for term in parameters.friction:
            term.law.velocity_derivative(np.zeros(1))
        self._bodies = _bodies(robot)
        self._units = _unit_inertias()
        # Blocks of W that are not zero: joint, body, and where the joint stands in its carriers.
        self._pairs = np.array([
            (joint, i, place) for i, body in enumerate(self._bodies)
            for place, joint in enumerate(body.carriers)
        ])

    def pass_forward(self, motion: Motion) -> Passage:
        """Return the motion of all bodies at N samples."""
        still = np.zeros((6, 2, len(motion)))
        still[:3, 1] = -self._gravity[:, None]
        states: list[_State] = []
        for i, body in enumerate(self._bodies):
            above = states[body.parent].vectors if body.parent >= 0 else still
            q, dq, ddq = motion.q[:, i], motion.dq[:, i], motion.ddq[:, i]
            parts = (body.factors.reshape(-1, 6) @ above.reshape(6, -1)).reshape(
                len(body.factors), *above.shape
            )
            vectors = np.empty((6, above.shape[1] + 1, len(motion)))
            if body.turns:
                sine, cosine = np.sin(q), np.cos(q)
                vectors[:, :-1] = parts[0] + sine * parts[1] + cosine * parts[2]
                slopes = cosine * parts[1] - sine * parts[2]
            else:
                vectors[:, :-1], slopes = parts[0] + q * parts[1], parts[1]
            axis = body.axis[:, None]
            vectors[:, -1] = axis
            vectors[:, 0] += axis * dq
            vectors[:, 1] += axis * ddq + (body.turned @ vectors[:, 0]) * dq
            states.append(_State(vectors, slopes))
        return Passage(motion, states)

    def gradient(
        self, passage: Passage, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """
        Return the gradient of ``sum(weights * W)`` by position, velocity and acceleration.

        Each is (N, n), per rad, rad/s and rad/s^2, for a passage of N samples. `weights` (N n, p)
        is the derivative of some number by every entry of the observation matrix W.
        """
        motion, parameters = passage.motion, self._parameters
        A = weights.reshape(*motion.q.shape, -1)
        by_q, by_dq, by_ddq = self._pass_backward(passage, self._by_states(passage, A))
        for term, columns in parameters.friction_columns:
            joint = term.joint
            slopes = term.law.velocity_derivative(motion.dq[:, joint])
            by_dq[:, joint] += np.einsum('Nk,Nk->N', A[:, joint, columns], slopes)
        if parameters.reflected_inertia:
            by_ddq += np.einsum('Njj->Nj', A[:, :, parameters.reflected_inertia_slice])
        return by_q, by_dq, by_ddq

    def _by_states(self, passage: Passage, A: FloatArray) -> list[FloatArray]:
        """
        Return the gradient by the motion of each body, as if bodies moved by themselves.

        With E the spatial inertia that a joint's row of weights makes of the unit parameters of a
        body, that row times its block of W is ``u' (E a + v x* E v)``, where u is the joint's
        unit motion, v the body's velocity and a its acceleration less gravity.
        """
        N, n = passage.motion.q.shape
        joints, bodies, places = self._pairs.T
        inertial = A[:, :, :10 * n].reshape(N, n, n, 10)[:, joints, bodies]
        inertias = (self._units @ inertial.T.reshape(10, -1)).reshape(6, 6, -1, N)
        states = [state.vectors for state in passage.states]
        v, a = (
            np.stack([state[:, part] for state in states], axis=1)[:, bodies] for part in (0, 1)
        )
        u = np.stack([
            states[body][:, 2 + place] for body, place in zip(bodies, places, strict=True)
        ], axis=1)
        # (6, 4, pairs, N): all vectors that the inertias act on.
        vectors = np.stack([a, v, u, _cross_motion(v, u)], axis=1)
        forces = np.einsum('abPN,bcPN->acPN', inertias, vectors)
        by_u = forces[:, 0] + _cross_force(v, forces[:, 1])
        by_a = forces[:, 2]
        by_v = -forces[:, 3] - _cross_force(u, forces[:, 1])
        by = [np.zeros_like(state) for state in states]
        for pair, (body, place) in enumerate(zip(bodies, places, strict=True)):
            by[body][:, 0] += by_v[:, pair]
            by[body][:, 1] += by_a[:, pair]
            by[body][:, 2 + place] = by_u[:, pair]
        return by

    def _pass_backward(
        self, passage: Passage, by_states: list[FloatArray]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Hand gradients on from each body to its joint and to its parent."""
        motion = passage.motion
        by_q, by_dq, by_ddq = (np.zeros_like(motion.q) for _ in range(3))
        for i in range(len(self._bodies) - 1, -1, -1):
            body, state, by = self._bodies[i], passage.states[i], by_states[i]
            dq = motion.dq[:, i]
            by_ddq[:, i] = body.axis @ by[:, 1]
            by_dq[:, i] = np.einsum('aN,aN->N', by[:, 1], body.turned @ state.vectors[:, 0])
            by[:, 0] += (body.turned.T @ by[:, 1]) * dq
            by_dq[:, i] += body.axis @ by[:, 0]
            moved = by[:, :-1]
            by_q[:, i] = np.einsum('acN,acN->N', moved, state.slopes)
            if body.parent >= 0:
                q = motion.q[:, i]
                scales = (1.0, np.sin(q), np.cos(q)) if body.turns else (1.0, q)
                stack = np.concatenate([scale * moved for scale in scales])
                above = body.backwards @ stack.reshape(len(stack), -1)
                by_states[body.parent] += above.reshape(moved.shape)
        return by_q, by_dq, by_ddq


def _bodies(robot: RobotModel) -> list[_Body]:
    model = robot.pinocchio
    data = model.createData()

    def transforms(q: float) -> list[FloatArray]:
        pin.forwardKinematics(model, data, np.full(model.nq, q))
        return [placement.toActionMatrixInverse() for placement in list(data.liMi)[1:]]

    at_right, at_half, at_one, at_zero = (
        transforms(q) for q in (0.5 * np.pi, np.pi, 1.0, 0.0)
    )
    # One joint's comes as a vector.
    axes = pin.computeJointJacobians(model, data, np.zeros(model.nq)).reshape(6, -1)
    bodies: list[_Body] = []
    for i in range(robot.n):
        parent = model.parents[i + 1] - 1
        axis = data.oMi[i + 1].actInv(pin.Motion(axes[:, i])).vector
        turns = bool(np.linalg.norm(axis[3:]) > 0.5)
        if turns:
            mean = 0.5 * (at_zero[i] + at_half[i])
            factors = np.array([mean, at_right[i] - mean, at_zero[i] - mean])
        else:
            factors = np.array([at_zero[i], at_one[i] - at_zero[i]])
        bodies.append(_Body(
            parent=parent,
            carriers=((*bodies[parent].carriers, i) if parent >= 0 else (i,)),
            turns=turns,
            factors=factors,
            backwards=factors.transpose(2, 0, 1).reshape(6, -1),
            axis=axis,
            turned=-np.array(pin.Motion(axis).action),
        ))
    return bodies


def _unit_inertias() -> FloatArray:
    """Return the spatial inertias of unit parameters as columns, (36, 10)."""
    still = pin.Motion.Zero()
    columns = [pin.bodyRegressor(still, pin.Motion(unit)) for unit in np.eye(6)]
    return np.stack(columns, axis=1).reshape(36, 10)


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the vector product along the first axis."""
    return a[[1, 2, 0]] * b[[2, 0, 1]] - a[[2, 0, 1]] * b[[1, 2, 0]]


def _cross_motion(v: FloatArray, m: FloatArray) -> FloatArray:
    """Return the spatial product of two motions along the first axis."""
    return np.concatenate([_cross(v[3:], m[:3]) + _cross(v[:3], m[3:]), _cross(v[3:], m[3:])])


def _cross_force(v: FloatArray, f: FloatArray) -> FloatArray:
    """Return the spatial product of a motion and a force along the first axis."""
    return np.concatenate([_cross(v[3:], f[:3]), _cross(v[3:], f[3:]) + _cross(v[:3], f[:3])])
