# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Plausibility: which link breaks which rule, and which numbers look made up, in words.

Least squares gives numbers that predict torque and belong to no body. That is no error of a
prediction model, but a simulator, a feed-forward and a person must know. Vendors and converters
leave masses out, or fill them in with one number for every link: torques computed from either say
nothing of the arm.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.consistency import pseudo_inertia, smallest_mass_matrix_eigenvalue
from robot_identification.model.parameters import point_tensor, to_tensor
from robot_identification.model.robot_model import RobotModel
from robot_identification.model.urdf import Urdf

# Rajagopal 2017, section 4.3: masses further from the maker's are implausible [kg].
MASS_TOLERANCE = 0.1


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
    mass_tolerance: float = MASS_TOLERANCE,
    reflected_inertia: FloatArray | None = None,
) -> tuple[Implausibility, ...]:
    """
    Check inertial parameters against the limits of a body, an arm and its maker.

    The findings go link by link, then the arm; there may be none. `inertial` (10 n,) is in
    Pinocchio's order, joint frames; `maker` (10 n,), the maker's, serves for the masses, which may
    differ by `mass_tolerance` [kg]. `reflected_inertia` (n,) of the rotors, on the joint's side
    [kg m^2], serves for the mass matrix.
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
