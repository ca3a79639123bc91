# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Dynamics, bodies and friction of an identified model, over plain arrays.

``torque = M(q) ddq + c(q, dq) + g(q) + friction``; rotors are in the mass matrix. Friction is that
of steady sliding at each sample by itself, and at rest what both directions have in common; what a
recording shows before sliding is in `predict`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arrays import as_floats, FloatArray, joint_vectors
from robot_identification.errors import DataError, UsageError
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.consistency import prior_deviation
from robot_identification.model.friction.basis import STOP
from robot_identification.model.friction.law import FrictionLaw, steady_columns
from robot_identification.model.parameters import (
    from_tensor, point_tensor, StandardParameters, to_tensor,
)
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import RobotModel

# Of the largest torque; chosen: rounding of a sum of a hundred products.
ROUNDING = 1e-13
# Friction per load that is short of locking a joint against any torque.
LARGEST_SHARE = 0.99
# Half-width of a band of 95 % in standard deviations.
BAND = 1.96


class WithBaseParameters(Protocol):
    """Base parameters of an arm, and what they mean."""

    @property
    def robot(self) -> RobotModel:
        """Return the arm."""

    @property
    def reduction(self) -> BaseReduction:
        """Return the meaning of the base parameters."""

    @property
    def theta_base(self) -> FloatArray:
        """Return the base parameters in SI units, shape (b,)."""

    @property
    def covariance(self) -> FloatArray:
        """Return the covariance of the base parameters, shape (b, b)."""

    @property
    def theta_lifted(self) -> FloatArray:
        """Return standard parameters with the same torques, shape (p,)."""

    @property
    def parameters(self) -> StandardParameters:
        """Return the names of the standard parameters."""

    @property
    def uses_rotors(self) -> bool:
        """Return whether friction was found under the torque of the bodies alone."""


def equivalent_bodies(
    model: WithBaseParameters, same: float = 1e-8
) -> tuple[pin.Model, FloatArray]:
    """
    Return bodies, and reflected inertias (n,) [kg m^2], that have a model's base parameters.

    Base parameters fix every torque, and with it mass matrix and Coriolis terms; where they leave
    a choice these are those of the description. They need not be possible ones: they are for sums,
    not for simulators.

    Raises DataError if no bodies with a mass have these parameters: if those of the bodies are not
    the model's, up to a share `same` of the largest one.
    """
    robot, parameters, reduction = model.robot, model.parameters, model.reduction
    theta = np.zeros(parameters.size)
    theta[: 10 * robot.n] = prior_inertial_parameters(robot)
    # Independent parameters take up what the description lacks of the base parameters.
    theta[reduction.independent] += model.theta_base - reduction.K @ theta
    pinocchio, wanted = robot.pinocchio.copy(), theta[: 10 * robot.n].reshape(-1, 10)
    for joint, own in enumerate(wanted):
        pinocchio.inertias[joint + 1] = pin.Inertia.FromDynamicParameters(own)
    found = [body.toDynamicParameters() for body in list(pinocchio.inertias)[1:]]
    if not np.allclose(found, wanted, rtol=0.0, atol=same * (1.0 + np.abs(wanted).max())):
        raise DataError(
            f'the base parameters of {robot.name} are of no bodies with a mass: no momentum can '
            'be observed with this model'
        )
    rotors = np.zeros(robot.n)
    if parameters.reflected_inertia:
        rotors = theta[parameters.reflected_inertia_slice]
    return pinocchio, rotors


class RigidTorque:
    """
    Inverse dynamics of a known arm, without friction, fast enough for a control loop.

    A description stands for its inertial parameters as they are, with the rotor inertias that the
    robot's YAML states. `rotors` (n,) are the reflected inertias [kg m^2].
    """

    def __init__(self, model: WithBaseParameters | RobotModel) -> None:
        self._theta: FloatArray | None = None
        if not isinstance(model, RobotModel):
            self.robot, parameters, theta = model.robot, model.parameters, model.theta_lifted
            self.rotors = np.zeros(self.robot.n)
            try:
                bodies, rotors = equivalent_bodies(model, ROUNDING)
            except DataError:
                # What base parameters leave open need not be a body; the regressor needs none.
                self._theta = theta[: 10 * self.robot.n].copy()
                self._model = self.robot.pinocchio
                if parameters.reflected_inertia:
                    self.rotors = theta[parameters.reflected_inertia_slice].copy()
            else:
                self._model, self.rotors = bodies, rotors.copy()
        else:
            self.robot, known = model, model.drives.reflected_inertia
            self._model = model.pinocchio.copy()
            self.rotors = np.where(np.isfinite(known), known, 0.0)
        if self._theta is None:
            self._model.armature = self.rotors
        self._data = self._model.createData()
        self._rest = np.zeros(self.robot.n)

    def __call__(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """Return ``M(q) ddq + C(q, dq) dq + g(q) + Ia ddq`` of a state (n,) [N m]."""
        torque: FloatArray
        try:
            if self._theta is None:
                # The next call overwrites what Pinocchio returns.
                torque = pin.rnea(self._model, self._data, q, dq, ddq).copy()
            else:
                Y = pin.computeJointTorqueRegressor(self._model, self._data, q, dq, ddq)
                torque = Y @ self._theta + self.rotors * ddq
        except (TypeError, ValueError):
            # To look before every call would take a third of its time.
            return self(*joint_vectors(self.robot.n, q=q, dq=dq, ddq=ddq))
        return torque

    def along(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """Return the torques (N, n) [N m] of samples (N, n)."""
        torque = np.empty(q.shape)
        if self._theta is None:
            compute, model, data = pin.rnea, self._model, self._data
            for row, state in enumerate(zip(q, dq, ddq, strict=True)):
                torque[row] = compute(model, data, *state)
        else:
            for row, state in enumerate(zip(q, dq, ddq, strict=True)):
                torque[row] = self(*state)
        return torque

    def gravity(self, q: FloatArray) -> FloatArray:
        """Return the joint torques [N m] that hold the arm at rest at `q` (n,) [rad]."""
        return self(q, self._rest, self._rest)

    def inertia_and_bias(self, q: FloatArray, dq: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mass matrix with rotors (n, n), and the torque (n,) without acceleration."""
        if self._theta is not None:
            return self.inertia(q), self(q, dq, self._rest)
        # The next call overwrites what Pinocchio returns.
        try:
            inertia: FloatArray = pin.crba(self._model, self._data, q).copy()
            bias: FloatArray = pin.nonLinearEffects(self._model, self._data, q, dq).copy()
        except (TypeError, ValueError):
            return self.inertia_and_bias(*joint_vectors(self.robot.n, q=q, dq=dq))
        return inertia, bias

    def inertia(self, q: FloatArray) -> FloatArray:
        """Return the mass matrix with rotors [kg m^2] at `q` (n,) [rad], shape (n, n)."""
        gravity = self.gravity(q)
        unit = np.eye(self.robot.n)
        return np.column_stack([self(q, self._rest, ddq) - gravity for ddq in unit])


class TorqueParts(NamedTuple):
    """Parts of the joint torque [N m], each of the shape of its samples; they add up to it."""

    gravity: FloatArray
    inertia: FloatArray  # with rotors
    coriolis: FloatArray  # with centrifugal torques
    friction: FloatArray  # with offsets


class ArrayDynamics:
    """Dynamics of an identified arm over arrays (n,) or (N, n)."""

    def __init__(self, model: WithBaseParameters) -> None:
        self._rigid = RigidTorque(model)
        self._robot = model.robot
        # Where the rotors' own motion was known, the gears transmit what moves the bodies alone.
        self._behind_gears = self._rigid.rotors if model.uses_rotors else np.zeros(model.robot.n)
        self._terms = tuple(
            (term.joint, term.law, model.theta_lifted[columns])
            for term, columns in model.parameters.friction_columns
        )

    def torque(
        self, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike, temperature: ArrayLike | None
    ) -> FloatArray:
        """Return the torque [N m]."""
        shape, (q, dq, ddq) = self._samples(q=q, dq=dq, ddq=ddq)
        rigid = self._rigid.along(q, dq, ddq)
        load = np.abs(rigid - self._behind_gears * ddq)
        torque: FloatArray = rigid + self._friction(dq, load, temperature)
        return torque.reshape(shape)

    def parts(
        self, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike, temperature: ArrayLike | None
    ) -> TorqueParts:
        """Return the parts of the torque [N m]."""
        shape, (q, dq, ddq) = self._samples(q=q, dq=dq, ddq=ddq)
        rest = np.zeros_like(q)
        gravity = self._rigid.along(q, rest, rest)
        bias, rigid = self._rigid.along(q, dq, rest), self._rigid.along(q, dq, ddq)
        load = np.abs(rigid - self._behind_gears * ddq)
        friction = self._friction(dq, load, temperature)
        return TorqueParts(*(
            part.reshape(shape) for part in (gravity, rigid - bias, bias - gravity, friction)
        ))

    def gravity(self, q: ArrayLike) -> FloatArray:
        """Return the torque of gravity [N m]."""
        shape, (q,) = self._samples(q=q)
        rest = np.zeros_like(q)
        return self._rigid.along(q, rest, rest).reshape(shape)

    def coriolis(self, q: ArrayLike, dq: ArrayLike) -> FloatArray:
        """Return the Coriolis and centrifugal torque [N m]."""
        shape, (q, dq) = self._samples(q=q, dq=dq)
        rest = np.zeros_like(q)
        torque = self._rigid.along(q, dq, rest) - self._rigid.along(q, rest, rest)
        return torque.reshape(shape)

    def mass_matrix(self, q: ArrayLike) -> FloatArray:
        """Return the mass matrix, rotors included [kg m^2], shape (n, n) or (N, n, n)."""
        shape, (q,) = self._samples(q=q)
        matrices = [self._rigid.inertia_and_bias(pose, np.zeros_like(pose))[0] for pose in q]
        # Pinocchio fills the upper half.
        upper = np.triu(np.array(matrices).reshape(-1, shape[-1], shape[-1]))
        full = upper + np.triu(upper, 1).transpose(0, 2, 1)
        return full.reshape(*shape, shape[-1])

    def forward_dynamics(
        self, q: ArrayLike, dq: ArrayLike, tau: ArrayLike, temperature: ArrayLike | None
    ) -> FloatArray:
        """
        Return the accelerations [rad/s^2] under drive torques [N m].

        Friction that grows with the load r by ``B |r|`` leaves ``r = tau - A - B |r|`` for the
        bodies, which has the sign of ``tau - A``. Raises DataError for a model of two encoders a
        joint, whose joints are elastic.
        """
        if self._behind_gears.any():
            raise DataError(
                f'the model of {self._robot.name} has two encoders a joint, and its joints are '
                'elastic: forward dynamics knows stiff joints only'
            )
        shape, (q, dq, tau) = self._samples(q=q, dq=dq, tau=tau)
        unloaded = self._friction(dq, np.zeros_like(tau), temperature)
        per_load = self._friction(dq, np.ones_like(tau), temperature) - unloaded
        left = tau - unloaded
        left /= 1.0 + np.clip(np.sign(left) * per_load, -LARGEST_SHARE, None)
        bias = self._rigid.along(q, dq, np.zeros_like(q))
        found = np.linalg.solve(self.mass_matrix(q), (left - bias)[:, :, None])
        return np.asarray(found, dtype=float).reshape(shape)

    def _friction(
        self, dq: FloatArray, load: FloatArray, temperature: ArrayLike | None
    ) -> FloatArray:
        """Return the friction (N, n) [N m] under loads (N, n) [N m]."""
        friction, warm = np.zeros(dq.shape), np.full(dq.shape, np.nan)
        if temperature is not None:
            warm = np.broadcast_to(as_floats('temperature', temperature), dq.shape)
        for joint, law, coefficients in self._terms:
            if law.needs_temperature and not np.isfinite(warm[:, joint]).all():
                raise DataError(
                    f'the friction of {self._robot.joint_names[joint]} depends on the joint '
                    'temperature, which is not known: give temperature=, (n,) in deg C'
                )
            friction[:, joint] += sliding_friction(
                law, dq[:, joint], load[:, joint], warm[:, joint]
            ) @ coefficients
        return friction

    def _samples(self, **given: ArrayLike) -> tuple[tuple[int, ...], list[FloatArray]]:
        """Return the shape that all arrays have, and each as (N, n)."""
        n = self._robot.n
        arrays = {name: as_floats(name, values) for name, values in given.items()}
        first = next(iter(arrays.values()))
        for name, array in arrays.items():
            if array.shape != first.shape or array.ndim not in (1, 2) or array.shape[-1] != n:
                raise UsageError(
                    f'{name} has the shape {array.shape}, needed is ({n},) or (N, {n}) as all '
                    f'others: a column for each joint of {self._robot.name}'
                )
        return first.shape, [np.atleast_2d(array).astype(float) for array in arrays.values()]


def sliding_friction(
    law: FrictionLaw, dq: FloatArray, load: FloatArray, temperature: FloatArray
) -> FloatArray:
    """
    Return the columns (N, k) of a law in steady sliding, in both directions.

    `dq` [rad/s], `load` [N m] and `temperature` [deg C] are (N,). At rest stops are not bent, so
    that there is no friction but offsets.
    """
    columns = steady_columns(law, dq, load, temperature)
    at_rest = np.flatnonzero(dq == 0.0)
    if at_rest.size:
        stops = np.flatnonzero([term.kind == STOP for term in law.basis])
        columns[np.ix_(at_rest, stops)] = 0.0
    return columns


@dataclass(frozen=True, eq=False)
class FrictionCurve:
    """Friction of a joint over its velocity, with the band of 95 % of its coefficients."""

    dq: FloatArray  # (N,): velocity [rad/s]
    torque: FloatArray  # (N,): friction torque, offsets included [N m]
    lower: FloatArray  # (N,): ends of the band [N m]
    upper: FloatArray


def friction_curve(
    model: WithBaseParameters, joint: int, dq: FloatArray, load: float, temperature: float
) -> FrictionCurve:
    """Return the friction of a joint at velocities (N,) [rad/s], without errors of constants."""
    independent = {column: row for row, column in enumerate(model.reduction.independent)}
    torque, gradient = np.zeros(dq.size), np.zeros((dq.size, len(model.theta_base)))
    for term, place in model.parameters.friction_columns:
        if term.joint != joint:
            continue
        warm = term.law.temperature_at(temperature)
        columns = sliding_friction(
            term.law, dq, np.full(dq.size, abs(load)), np.full(dq.size, warm)
        )
        torque += columns @ model.theta_lifted[place]
        for column, values in zip(range(place.start, place.stop), columns.T, strict=True):
            if column in independent:
                gradient[:, independent[column]] += values
    deviation = np.sqrt(np.einsum('ni,ij,nj->n', gradient, model.covariance, gradient))
    return FrictionCurve(
        dq, torque, torque - BAND * deviation, torque + BAND * deviation
    )


@dataclass(frozen=True, eq=False)
class LinkBody:
    """A link and all that is fixed to it, in the frame of the joint that carries it."""

    joint: str  #: Name of the joint that carries it.
    mass: float  #: [kg]
    com: FloatArray  #: (3,): centre of mass [m].
    inertia: FloatArray  #: (3, 3): about the centre of mass [kg m^2].
    #: Standard errors of mass, com and inertia. Where torques tell nothing of a number, it is how
    #: far the description may be wrong (`prior_deviation`).
    std: LinkBody | None = None


def link_bodies(model: WithBaseParameters, theta: FloatArray) -> dict[str, LinkBody]:
    """
    Return the bodies of consistent standard parameters (p,), by the link that each joint carries.

    Standard errors are those of the posterior of two facts: the description's parameters with
    `prior_deviation`, and the base parameters with their covariance.
    """
    robot = model.robot
    covariance = standard_covariance(model)
    carried = {link.joint: link.name for link in robot.urdf.links}
    bodies = {}
    for number, joint in enumerate(robot.joint_names):
        place = slice(10 * number, 10 * number + 10)
        values, spread = theta[place], np.diag(covariance[place, place])
        # Central differences by a thousandth of an error, along which the body is linear enough.
        steps = 1.0e-3 * np.sqrt(np.maximum(spread, 1.0e-18))
        jacobian = np.column_stack([
            (_mass_properties(values + step * unit) - _mass_properties(values - step * unit))
            / (2.0 * step) for step, unit in zip(steps, np.eye(10), strict=True)
        ])
        errors = np.sqrt(np.maximum(np.einsum(
            'ki,ij,kj->k', jacobian, covariance[place, place], jacobian
        ), 0.0))
        body = _link_body(joint, _mass_properties(values))
        bodies[carried[joint]] = replace(body, std=_link_body(joint, errors))
    return bodies


def _mass_properties(parameters: FloatArray) -> FloatArray:
    """Return mass, centre of mass and inertia about it (10,) of inertial parameters (10,)."""
    mass = parameters[0]
    com = parameters[1:4] / mass
    about_com = to_tensor(parameters[4:]) - point_tensor(mass, com)
    return np.concatenate([[mass], com, from_tensor(about_com)])


def _link_body(joint: str, properties: FloatArray) -> LinkBody:
    return LinkBody(joint, float(properties[0]), properties[1:4], to_tensor(properties[4:]))


def standard_covariance(model: WithBaseParameters) -> FloatArray:
    """
    Return the covariance (p, p) of the standard parameters.

    With the description's deviations S and base parameters ``b = K theta`` of covariance C it is
    ``S - G K S + G C G'`` with ``G = S K' (K S K')^-1``: what K sees has the covariance of the
    data, what it does not see that of the description.
    """
    K = model.reduction.K
    deviation = prior_deviation(model.robot, model.parameters.size)
    scaled = K * deviation
    # Rows of friction and bodies differ by many orders.
    size = np.linalg.norm(scaled, axis=1)
    inverse = np.linalg.pinv(scaled / size[:, None])
    unseen = np.eye(len(deviation)) - inverse @ (scaled / size[:, None])
    gain = inverse / size
    covariance: FloatArray = deviation[:, None] * (
        unseen + gain @ model.covariance @ gain.T
    ) * deviation
    return covariance
