# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Standard parameters that are identifiable alone, in combination, or not, with reasons.

Two conventions are in use. The linear one asks for the parameters the torque is linear in (first
moments ``m c``). The physical one asks for masses and centres of mass themselves; a centre is
then never known alone. The counts of Raviola et al. 2021 are those of the second.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.base_parameters import (
    BaseReduction, COEFFICIENT_TOLERANCE, random_motion, WEAK_TOLERANCE,
)
from robot_identification.model.denavit_hartenberg import joint_axes
from robot_identification.model.frames import joint_frames, LinkFrames
from robot_identification.model.parameters import INERTIAL_SYMBOLS, split_name
from robot_identification.model.regressor import inertial_regressor
from robot_identification.model.robot_model import RobotModel

IDENTIFIABLE, COMBINED, UNIDENTIFIABLE = 'identifiable', 'combined', 'unidentifiable'
CLASSES = (IDENTIFIABLE, COMBINED, UNIDENTIFIABLE)
FIRST_MOMENTS = ('mx', 'my', 'mz')
# Sine of the angle up to which two axes have one direction.
ROUNDING = 1.0e-9


def linear_classes(reduction: BaseReduction) -> dict[str, tuple[str, ...]]:
    """
    Return the standard parameters by identifiability, first moments as they are.

    Keys: 'identifiable', alone; 'combined', only in a combination; 'unidentifiable', no motion
    shows them.
    """
    return _by_class(_linear_class(reduction))


def physical_classes(reduction: BaseReduction) -> dict[str, tuple[str, ...]]:
    """
    Return masses, centres of mass, inertias and drive parameters by identifiability.

    A centre of mass (cx for mx) is known alone only if its mass is too; a mass is seen wherever
    one of its first moments is.
    """
    linear = _linear_class(reduction)
    kinds = {}
    for name, kind in linear.items():
        symbol, link = split_name(name)
        if symbol in FIRST_MOMENTS:
            alone = kind == linear[f'm{link}'] == IDENTIFIABLE
            kinds[f'c{symbol[1]}{link}'] = (
                COMBINED if kind == IDENTIFIABLE and not alone else kind
            )
        elif symbol == 'm' and kind == UNIDENTIFIABLE:
            moments = {linear[f'{moment}{link}'] for moment in FIRST_MOMENTS}
            kinds[name] = UNIDENTIFIABLE if moments == {UNIDENTIFIABLE} else COMBINED
        else:
            kinds[name] = kind
    return _by_class(kinds)


def _linear_class(reduction: BaseReduction) -> dict[str, str]:
    used = reduction.significant
    alone = {
        int(leading)
        for row, leading in zip(used, reduction.independent, strict=True)
        if row.sum() == 1
    }
    return {
        name: IDENTIFIABLE if column in alone
        else COMBINED if used[:, column].any() else UNIDENTIFIABLE
        for column, name in enumerate(reduction.parameters.names)
    }


def _by_class(kinds: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {
        wanted: tuple(name for name, kind in kinds.items() if kind == wanted)
        for wanted in CLASSES
    }


def unidentifiable_reasons(
    robot: RobotModel, reduction: BaseReduction, frames: LinkFrames | None = None
) -> dict[str, str]:
    """
    Return in words, by name of the unidentifiable parameter, why no motion shows it.

    `robot` is the arm in its mounting, `frames` those of `reduction`, by default joint frames.
    Reasons of gravity are tested on the model, with gravity across joint 1's axis; the rest
    follows from the axes that turn the link.
    """
    names = linear_classes(reduction)[UNIDENTIFIABLE]
    frames = joint_frames(robot.n) if frames is None else frames
    motion = random_motion(robot, 60, np.random.default_rng(1))
    tilted = robot.with_gravity([5.7, 4.1, -6.8])
    W = inertial_regressor(tilted, motion) @ frames.to_joint_frames()
    scale = np.linalg.norm(W, axis=0)
    seen_tilted = scale > WEAK_TOLERANCE * scale.max()
    spin = _axes_of_rotation(robot)
    _, _, prismatic = joint_axes(robot.pinocchio)
    reasons = {}
    for name in names:
        symbol, number = split_name(name)
        if symbol not in INERTIAL_SYMBOLS:
            reasons[name] = 'its column is zero in every motion'
            continue
        link = number - 1
        column = 10 * link + INERTIAL_SYMBOLS.index(symbol)
        if name in reduction.neglected or np.any(
            np.abs(reduction.K[:, column]) > COEFFICIENT_TOLERANCE
        ):
            reasons[name] = (
                f'link {number} shows it only by how little axes and gravity miss being parallel '
                'or perpendicular'
            )
            continue
        reasons[name] = _reason(
            symbol, link, robot, (spin[link], prismatic), bool(seen_tilted[column])
        )
    return reasons


def _axes_of_rotation(robot: RobotModel) -> list[FloatArray]:
    """Return the different directions about which each link can turn at zero, root frame."""
    axes: list[FloatArray] = []
    found = np.zeros((0, 3))
    _, directions, prismatic = joint_axes(robot.pinocchio)
    for direction, slides in zip(directions, prismatic, strict=True):
        parallel = [np.linalg.norm(np.cross(direction, other)) < ROUNDING for other in found]
        if not slides and not any(parallel):
            found = np.vstack([found, direction])
        axes.append(found)
    return axes


def _reason(
    symbol: str, link: int, robot: RobotModel, turns: tuple[FloatArray, np.ndarray],
    seen_tilted: bool,
) -> str:
    axes, prismatic = turns
    body = f'link {link + 1}'
    turning = [str(i + 1) for i, slides in enumerate(prismatic[:link + 1]) if not slides]
    axis = (
        f"joint {turning[0]}'s axis" if len(turning) == 1
        else f'the direction of joints {", ".join(turning)}'
    )
    if seen_tilted:
        weight = "joint 1's axis is parallel to gravity"
        if not np.any(robot.mounting_gravity):
            weight = 'there is no gravity'
        elif not np.any(robot.gravity):
            weight = 'gravity is not in the effort'
        return f'{weight}: the weight of {body} makes no torque that depends on it'
    if not len(axes):
        return f'{body} only slides: it never turns, so nothing but its mass works'
    if symbol == 'm':
        return (f"the origin of {body}'s frame never moves: a mass there is neither lifted nor "
                'accelerated')
    if len(axes) > 1:
        return 'its forces reach no joint in any motion'
    if symbol in FIRST_MOMENTS:
        return f'it lies along {axis}, the only one {body} turns about: it has no lever'
    return f'{body} turns about {axis} only: inertia about other directions never works'
