# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Plausibility of a description's masses: joints that move no mass, and placeholders.

Vendors and converters leave masses out, or fill them in with one number for every link. Torques
computed from either say nothing of the arm.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np
from robot_identification.model.robot_model import RobotModel
from robot_identification.model.urdf import Urdf
from robot_identification.model.urdf_elements import UrdfLink

# Fewer links may have the same mass or inertia by design, as the fingers of a gripper have.
FEWEST_ALIKE = 3
# Equal numbers of a file, after rounding in its units and eigenvalues.
EQUAL = 1.0e-9


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
    units = [link.name for link in bodies if _is_unit(link)]
    found = []
    if units:
        found.append(f'1 kg with unit inertia at {_names(units, bodies)}')
    if len(bodies) < FEWEST_ALIKE:
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


def _is_unit(link: UrdfLink) -> bool:
    return _alike([(1.0, 1.0, 1.0, 1.0), (link.mass, *link.principal_moments)])


def _alike(rows: Sequence[tuple[float, ...]]) -> bool:
    return bool(np.all(np.ptp(np.array(rows), axis=0) <= EQUAL * np.max(np.abs(rows))))


def _names(chosen: Sequence[str], bodies: Sequence[UrdfLink]) -> str:
    if len(chosen) == len(bodies) > 1:
        return 'every moved link'
    return ', '.join(chosen)
