# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Physical consistency: whether ten numbers can belong to a rigid body, and an arm have them.

Least squares gives numbers that predict torque and belong to no body. That is no error of a
prediction model, but a simulator, a feed-forward and a person must know which link breaks which
rule. Vendors and converters leave masses out, or fill them in with one number for every link:
torques computed from either say nothing of the arm.

References
----------
.. [WKS18] P. Wensing, S. Kim, J.-J. Slotine, "Linear matrix inequalities for physically consistent
   inertial parameter identification", IEEE RA-L 3(1), 2018.

"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.parameters import point_tensor, to_tensor
from robot_identification.model.regressor import Motion, prior_inertial_parameters
from robot_identification.model.robot_model import RobotModel, workspace
from robot_identification.model.urdf import Urdf
import scipy

# How far the prior may be wrong, per link: 30 % of its mass, its centre 15 cm, 30 % of its
# largest principal inertia. Floors keep massless links finite.
MASS_SHARE, CENTRE_DISTANCE, INERTIA_SHARE = 0.3, 0.15, 0.3
MASS_FLOOR, INERTIA_FLOOR = 0.01, 1.0e-4
# Friction and reflected inertia have no prior.
NO_PRIOR = 1.0e3


class RigidDynamics:
    """
    Mass matrix, torques and their derivatives by inertial parameters, without friction.

    The parameters need not be those of possible bodies. Zero or negative masses break recursions
    that divide by them, so that everything is computed twice: with a large mass added to every
    body, and for that mass alone. Torques are linear in the parameters: the difference is exact.

    `inertial` (10 n,) are those of the bodies, joint frames, `reflected_inertia` (n,) those of the
    rotors on the joints' side [kg m^2].
    """

    def __init__(
        self, robot: RobotModel, inertial: FloatArray, reflected_inertia: FloatArray
    ) -> None:
        bodies = np.asarray(inertial, dtype=float).reshape(robot.n, 10)
        added = np.zeros_like(bodies)
        added[:, 0] = 1.0 + 2.0 * np.abs(bodies[:, 0]).max()
        self._heavy = _with_inertias(robot, bodies + added)
        self._added = _with_inertias(robot, added)
        self._heavy_data, self._added_data = self._heavy.createData(), self._added.createData()
        self._rotors = np.asarray(reflected_inertia, dtype=float)
        self.n = robot.n

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        """Return the mass matrix at a pose (n,), rotors included, shape (n, n) [kg m^2]."""
        M: FloatArray = pin.crba(self._heavy, self._heavy_data, q) - pin.crba(
            self._added, self._added_data, q
        )
        M[np.diag_indices(self.n)] += self._rotors
        return M

    def torque(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """Return the torque of bodies and rotors at one sample, shape (n,) [N m]."""
        tau: FloatArray = (
            pin.rnea(self._heavy, self._heavy_data, q, dq, ddq)
            - pin.rnea(self._added, self._added_data, q, dq, ddq)
            + self._rotors * ddq
        )
        return tau

    def least_inertia(self, q: FloatArray) -> FloatArray:
        """Return the smallest eigenvalue of the mass matrix at N poses, shape (N,)."""
        matrices = np.array([self.mass_matrix(pose) for pose in q])
        least: FloatArray = np.linalg.eigvalsh(matrices)[:, 0]
        return least

    def torque_derivatives(self, motion: Motion) -> tuple[FloatArray, FloatArray, FloatArray]:
        """
        Return derivatives of the torque by position, velocity and acceleration, each (N, n, n).

        Entry ``[k, i, j]`` is that of the torque of joint i by the motion of joint j at sample k.
        """
        shape = (len(motion), self.n, self.n)
        by_q, by_dq, by_ddq = (np.empty(shape) for _ in range(3))
        heavy, added = self._heavy_data, self._added_data
        for k, (q, dq, ddq) in enumerate(zip(motion.q, motion.dq, motion.ddq, strict=True)):
            pin.computeRNEADerivatives(self._heavy, heavy, q, dq, ddq)
            pin.computeRNEADerivatives(self._added, added, q, dq, ddq)
            by_q[k] = heavy.dtau_dq - added.dtau_dq
            by_dq[k] = heavy.dtau_dv - added.dtau_dv
            by_ddq[k] = heavy.M - added.M
        # Pinocchio's own M may have its upper half only.
        upper = np.triu(np.ones((self.n, self.n), dtype=bool))
        by_ddq = np.where(upper, by_ddq, by_ddq.transpose(0, 2, 1))
        by_ddq[:, range(self.n), range(self.n)] += self._rotors
        return by_q, by_dq, by_ddq


def base_dynamics(robot: RobotModel, reduction: BaseReduction, theta: FloatArray) -> RigidDynamics:
    """Return the dynamics of base parameters (b,), with zeros for what they leave open."""
    n, parameters = robot.n, reduction.parameters
    standard = reduction.lift(theta)
    rotors = (
        standard[parameters.reflected_inertia_slice] if parameters.reflected_inertia
        else np.zeros(n)
    )
    return RigidDynamics(robot, standard[: 10 * n], rotors)


def _with_inertias(robot: RobotModel, bodies: FloatArray) -> pin.Model:
    """Return the arm with other inertial parameters (n, 10) and no armature."""
    model = pin.Model(robot.pinocchio)
    model.armature = np.zeros(robot.n)
    for link, parameters in enumerate(bodies, start=1):
        model.inertias[link] = pin.Inertia.FromDynamicParameters(parameters)
    return model


def pseudo_inertia(parameters: FloatArray) -> FloatArray:
    """
    Return the pseudo-inertia (4, 4) of a link's parameters (10,) in Pinocchio's order [WKS18]_.

    It is positive definite exactly if the parameters are physically consistent.
    """
    matrix: FloatArray = pin.PseudoInertia.FromDynamicParameters(
        np.asarray(parameters, dtype=float)
    ).toMatrix()
    return matrix


def from_pseudo_inertia(matrix: FloatArray) -> FloatArray:
    """Return the inertial parameters, shape (10,), of a pseudo-inertia, shape (4, 4) [WKS18]_."""
    parameters: FloatArray = pin.PseudoInertia.FromMatrix(
        np.asarray(matrix, dtype=float)
    ).toDynamicParameters()
    return parameters


def smallest_eigenvalues(inertial: FloatArray) -> FloatArray:
    """
    Return the smallest pseudo-inertia eigenvalue of every link, shape (n,).

    Of inertial parameters (10 n,) in Pinocchio's order; positive for a physically consistent link.
    """
    return np.array([
        np.linalg.eigvalsh(pseudo_inertia(link))[0] for link in np.reshape(inertial, (-1, 10))
    ])


def smallest_mass_matrix_eigenvalue(
    robot: RobotModel,
    inertial: FloatArray,
    reflected_inertia: FloatArray | None = None,
    *,
    samples: int = 10_000,
    seed: int = 0,
) -> tuple[float, FloatArray]:
    """
    Look over the workspace for the pose in which the arm has least inertia.

    A mass matrix that is not positive definite makes a simulation diverge, even if the torques
    of the model are right along one motion. `inertial` (10 n,) are the parameters of the bodies in
    joint frames, `reflected_inertia` (n,) those of the rotors on the joint's side [kg m^2], by
    default none. Of random poses within the limits, so many `samples`, the worst is searched on
    from. Return the smallest eigenvalue [kg m^2, and kg for prismatic joints] and its pose (n,).
    """
    rotors = np.zeros(robot.n) if reflected_inertia is None else reflected_inertia
    dynamics = RigidDynamics(robot, inertial, rotors)
    lower, upper = workspace(robot)
    poses = np.random.default_rng(seed).uniform(lower, upper, (samples, robot.n))
    found = dynamics.least_inertia(poses)
    worst = int(np.argmin(found))
    # The eigenvalue has kinks where two are the same: a search without derivatives.
    near = scipy.optimize.minimize(
        lambda q: float(dynamics.least_inertia(q[None])[0]), poses[worst], method='Nelder-Mead',
        bounds=list(zip(lower, upper, strict=True)), options={'maxfev': 500},
    )
    if near.fun < found[worst]:
        return float(near.fun), np.asarray(near.x, dtype=float)
    return float(found[worst]), poses[worst]


@dataclass(frozen=True)
class Implausibility:
    """A rule that parameters break."""

    link: str  # which link, by the joint that moves it; 'arm' for the arm as a whole
    rule: str  # 'mass', 'inertia', 'triangle', 'pseudo-inertia', 'maker' or 'mass matrix'
    # What was found, and what it must not fall below (for 'maker': not exceed); SI units.
    value: float
    limit: float
    text: str  # the same as a sentence


def find_implausibilities(
    robot: RobotModel,
    inertial: FloatArray,
    *,
    maker: FloatArray | None = None,
    mass_tolerance: float = 0.1,
    reflected_inertia: FloatArray | None = None,
) -> tuple[Implausibility, ...]:
    """
    Check inertial parameters against the limits of a body, an arm and its maker.

    The findings go link by link, then the arm; there may be none. `inertial` (10 n,) is in
    Pinocchio's order, joint frames; `maker` (10 n,), the maker's, serves for the masses, which may
    differ by `mass_tolerance` [kg], as in Rajagopal 2017, section 4.3. `reflected_inertia` (n,) of
    the rotors, on the joint's side [kg m^2], serves for the mass matrix.
    """
    found = []
    for index, joint in enumerate(robot.joint_names):
        link = f'link {index + 1} (moved by {joint})'
        parameters = np.asarray(inertial[10 * index:10 * index + 10], dtype=float)
        found += _check_link(link, parameters)
        if maker is not None:
            difference = float(parameters[0] - maker[10 * index])
            if abs(difference) > mass_tolerance:
                found.append(Implausibility(
                    link, 'maker', abs(difference), mass_tolerance,
                    f'{link}: mass {parameters[0]:.4g} kg is {difference:+.4g} kg from the '
                    f"maker's {maker[10 * index]:.4g} kg, credible are {mass_tolerance:g} kg",
                ))
    eigenvalue, q = smallest_mass_matrix_eigenvalue(robot, inertial, reflected_inertia)
    if eigenvalue <= 0.0:
        pose = ', '.join(f'{value:.2f}' for value in q)
        found.append(Implausibility(
            'arm', 'mass matrix', eigenvalue, 0.0,
            f'the mass matrix has the eigenvalue {eigenvalue:.3g} at q = ({pose}): it must be '
            'positive everywhere, or a simulation runs away',
        ))
    return tuple(found)


def _check_link(link: str, parameters: FloatArray) -> list[Implausibility]:
    """Return the rules that ten parameters break, the plainest first."""
    mass = float(parameters[0])
    found = []

    def add(rule: str, value: float, text: str) -> None:
        found.append(Implausibility(link, rule, value, 0.0, f'{link}: {text}'))

    if mass <= 0.0:
        add('mass', mass, f'mass is {mass:.4g} kg, it must be positive')
    for name, position in (('Ixx', 4), ('Iyy', 6), ('Izz', 9)):
        value = float(parameters[position])
        if value < 0.0:
            add('inertia', value, f'{name} is {value:.4g} kg m^2, it must not be negative')
    if mass > 0.0:
        about_origin = to_tensor(parameters[4:])
        centre = parameters[1:4] / mass
        a, b, c = np.linalg.eigvalsh(about_origin - point_tensor(mass, centre))
        excess = float(a + b - c)
        rounding = 1.0e-9 * (a + b + c)  # of a file's digits
        if a < -rounding:
            add('inertia', float(a), f'a moment of inertia about the centre of mass is {a:.4g} '
                'kg m^2, it must not be negative')
        elif excess < -rounding:
            add('triangle', excess, f'its moments of inertia about the centre of mass ({a:.4g}, '
                f'{b:.4g}, {c:.4g} kg m^2) break the triangle rule: the largest exceeds the sum '
                f'of the others by {-excess:.3g}')
    eigenvalue = float(np.linalg.eigvalsh(pseudo_inertia(parameters))[0])
    if eigenvalue <= 0.0:
        add('pseudo-inertia', eigenvalue, f'no rigid body has its parameters: the smallest '
            f'pseudo-inertia eigenvalue is {eigenvalue:.3g}, it must be positive')
    return found


def massless_joints(robot: RobotModel) -> tuple[str, ...]:
    """Return the joints that move nothing with a mass, so that their torque is not known."""
    model = robot.pinocchio
    carried = np.array([inertia.mass for inertia in model.inertias])
    for index in range(model.njoints - 1, 0, -1):
        carried[model.parents[index]] += carried[index]
    return tuple(
        str(name)
        for name, mass in zip(model.names[1:], carried[1:], strict=True)
        if not mass > 0.0
    )


def find_placeholders(
    urdf: Urdf, carried: Container[str] | None = None
) -> tuple[str, ...]:
    """
    Return why the masses of moving links of a checked URDF look made up, in words.

    `carried` has the names of those that count, by default all.
    """
    bodies = [
        link for link in urdf.links
        if link.moved and link.mass > 0.0 and (carried is None or link.name in carried)
    ]
    unit = (1.0, 1.0, 1.0, 1.0)
    units = [
        link.name for link in bodies if _alike([unit, (link.mass, *link.principal_moments)])
    ]
    found = []
    if units:
        names = 'every moved link' if len(units) == len(bodies) > 1 else ', '.join(units)
        found.append(f'1 kg with unit inertia at {names}')
    # Fewer may have the same mass or inertia by design, as the fingers of a gripper have.
    if len(bodies) < 3:
        return tuple(found)
    if len(units) < len(bodies) and _alike([(link.mass,) for link in bodies]):
        found.append(f'the same mass, {bodies[0].mass:.6g} kg, at every moved link')
    if len(units) < len(bodies) and _alike([link.principal_moments for link in bodies]):
        moments = ', '.join(f'{value:.6g}' for value in bodies[0].principal_moments)
        found.append(f'the same principal moments, {moments} kg m^2, at every moved link')
    return tuple(found)


def describe_placeholders(robot: RobotModel) -> str:
    """Return what masses that look made up mean for results, in a sentence; empty if none do."""
    found = find_placeholders(robot.urdf, robot.carried_links)
    if not found:
        return ''
    return (
        f'the masses of the URDF look like placeholders ({"; ".join(found)}): torques computed '
        "from them are not the arm's"
    )


def _alike(rows: Sequence[tuple[float, ...]]) -> bool:
    """Return whether rows are equal after rounding in the units and eigenvalues of a file."""
    return bool(np.all(np.ptp(np.array(rows), axis=0) <= 1.0e-9 * np.max(np.abs(rows))))


def prior_deviation(robot: RobotModel, size: int) -> FloatArray:
    """Return how far each of `size` standard parameters may be from the URDF's, as deviations."""
    deviation = np.full(size, NO_PRIOR)
    for link, values in enumerate(prior_inertial_parameters(robot).reshape(-1, 10)):
        mass = max(values[0], MASS_FLOOR)
        inertia = max(np.linalg.eigvalsh(to_tensor(values[4:]))[-1], INERTIA_FLOOR)
        deviation[10 * link] = MASS_SHARE * mass
        deviation[10 * link + 1: 10 * link + 4] = CENTRE_DISTANCE * mass
        deviation[10 * link + 4: 10 * link + 10] = INERTIA_SHARE * inertia
    return deviation
