# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The parameters that two models of one arm both have, and how they follow from those of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DataError
from robot_identification.model import (
    CoulombFriction, FrictionOffset, IdentifiedModel, joint_axes, ViscousFriction,
)
from robot_identification.studies.comparison.sliding import common_range, sliding_map

# Joint frames of one arm, calibrated or not, agree to this [m, and sine of an angle].
SAME_GEOMETRY = 0.02
# Coefficients of a base parameter that may differ between two files of one arm.
SAME_COMBINATION = 0.02
# Locked joints may differ by so much, as an arm does that is moved there [rad or m]; chosen.
SAME_PLACE = 0.01
BODIES = ('inertial', 'rotor')


@dataclass(frozen=True, eq=False)
class CommonParameters:
    """The m parameters that two models both have."""

    # What they are; a group is 'inertial', 'rotor' or a kind of friction.
    names: tuple[str, ...]
    units: tuple[str, ...]
    groups: tuple[str, ...]
    # (m, b): they are ``first @ theta_base`` of the first model, and likewise of the second.
    first: FloatArray
    second: FloatArray
    notes: tuple[str, ...] = ()  # what was left out, and why

    def __add__(self, other: CommonParameters) -> CommonParameters:
        """Return the parameters of both, one after the other."""
        return CommonParameters(
            self.names + other.names, self.units + other.units, self.groups + other.groups,
            np.vstack([self.first, other.first]), np.vstack([self.second, other.second]),
            self.notes + other.notes,
        )


def check_same_arm(first: IdentifiedModel, second: IdentifiedModel) -> None:
    """
    Raise DataError if two models are not of one arm.

    Their joints, geometry, locked joints and kind of scale must agree, so that their parameters
    mean the same.
    """
    one, other = first.robot, second.robot
    what = f'models of {one.name} and {other.name} cannot be compared'
    if one.joint_names != other.joint_names:
        raise DataError(
            f'{what}: their joints are {", ".join(one.joint_names)} and '
            f'{", ".join(other.joint_names)}; compare joints of one size with --joints-of-size'
        )
    if first.relative_scale != second.relative_scale:
        raise DataError(
            f'{what}: one is of relative scale, for its drive gains were unknown; identify both '
            'with --drive-gains'
        )
    (here, along, slides), (there, other_along, other_slides) = (
        joint_axes(robot.pinocchio) for robot in (one, other)
    )
    distance = max(float(np.abs(here - there).max()), float(np.abs(along - other_along).max()))
    if not distance <= SAME_GEOMETRY or np.any(slides != other_slides):
        raise DataError(
            f'{what}: their joint axes lie up to {distance:.3g} apart (m, or sine of an angle; at '
            f'most {SAME_GEOMETRY:g}): they are different arms, or joints between them are locked '
            'elsewhere; compare joints of one size with --joints-of-size'
        )
    if one.locked.keys() != other.locked.keys() or any(
        abs(at - other.locked[joint]) > SAME_PLACE for joint, at in one.locked.items()
    ):
        stand = [{k: round(v, 6) for k, v in robot.locked.items()} for robot in (one, other)]
        raise DataError(
            f'{what}: joints are locked at {stand[0]} and at {stand[1]}, so that the bodies are '
            'not the same; identify both with the same --joints, held at the same places'
        )


def common_parameters(first: IdentifiedModel, second: IdentifiedModel) -> CommonParameters:
    """
    Return the parameters that two models of one arm both have.

    Where their friction laws are the same, those coefficients are; else Coulomb and viscous
    friction in steady sliding stand for them (`sliding_map`). Raises `DataError` if they have
    nothing in common.
    """
    if set(first.parameters.friction) == set(second.parameters.friction):
        found = _shared_columns(first, second)
    else:
        found = (
            _shared_columns(first, second, BODIES) + _shared_sliding(first, second)
            + _shared_columns(first, second, (FrictionOffset.name,))
        )
    if not found.names:
        raise DataError(
            f'models of {first.robot.name} and {second.robot.name} have no parameter in common: '
            'identify both with the same mounting and friction laws'
        )
    return found


def _shared_columns(
    first: IdentifiedModel, second: IdentifiedModel, groups: tuple[str, ...] = ()
) -> CommonParameters:
    """Return the base parameters of some groups, or of all, that both models see."""
    small, large = sorted((first, second), key=lambda model: model.reduction.rank)
    sums, seen = _same_combinations(small, large)
    wanted = _wanted(small, groups)
    rows = np.flatnonzero(wanted & seen)
    own = np.eye(small.reduction.rank)[rows]
    names = small.reduction.names
    lost = [names[row] for row in np.flatnonzero(wanted & ~seen)]
    _, seen = _same_combinations(large, small)
    lost += [
        large.reduction.names[row]
        for row in np.flatnonzero(_wanted(large, groups) & ~seen)
        if large.reduction.names[row] not in lost
    ]
    same_mounting = np.allclose(first.robot.gravity, second.robot.gravity, atol=1e-3)
    why = (
        'the data of one model do not determine them, or not apart from others' if same_mounting
        else 'they are not the same sums in both mountings'
    )
    return CommonParameters(
        tuple(names[row] for row in rows),
        tuple(small.reduction.units_of(small.robot)[row] for row in rows),
        tuple(_kinds(small)[small.reduction.independent[row]] for row in rows),
        own if small is first else sums[rows],
        sums[rows] if small is first else own,
        (f'left out: {", ".join(lost)}; {why}',) if lost else (),
    )


def _wanted(model: IdentifiedModel, groups: tuple[str, ...]) -> BoolArray:
    """Return which base parameters are of some groups; all of them if none is named."""
    kinds = _kinds(model)
    return np.array([
        not groups or kinds[column] in groups for column in model.reduction.independent
    ])


def _same_combinations(
    small: IdentifiedModel, large: IdentifiedModel
) -> tuple[FloatArray, BoolArray]:
    """
    Return how base parameters of one model follow from those of another, and which of them do.

    A base parameter is known by its combination of standard parameters, and a friction column by
    its law with the constants.
    """
    keys = [_keys(small), _keys(large)]
    at = {key: i for i, key in enumerate(dict.fromkeys([*keys[0], *keys[1]]))}
    K = [np.zeros((model.reduction.rank, len(at))) for model in (small, large)]
    for matrix, model, names in zip(K, (small, large), keys, strict=True):
        matrix[:, [at[name] for name in names]] = model.reduction.K
    sums = K[0][:, [at[keys[1][column]] for column in large.reduction.independent]]
    difference = np.abs(K[0] - sums @ K[1]).max(axis=1)
    seen: BoolArray = difference <= SAME_COMBINATION
    return sums, seen


def _keys(model: IdentifiedModel) -> list[str]:
    """Return what every standard parameter is, constants of friction laws included."""
    keys = list(model.parameters.names)
    for term, columns in model.parameters.friction_columns:
        for column in range(columns.start, columns.stop):
            keys[column] += f' of {term.law!r}'
    return keys


def _kinds(model: IdentifiedModel) -> list[str]:
    """Return the group of every standard parameter."""
    parameters = model.parameters
    kinds = ['inertial'] * (10 * parameters.n)
    for term in parameters.friction:
        kinds += [term.law.name] * len(term.law.symbols)
    return kinds + ['rotor'] * (parameters.size - len(kinds))


def _shared_sliding(first: IdentifiedModel, second: IdentifiedModel) -> CommonParameters:
    """Return Coulomb and viscous friction in steady sliding of the joints that have it in both."""
    where = common_range((first, second))
    (M, known), (other, other_known) = (sliding_map(model, where) for model in (first, second))
    rows = np.flatnonzero(known & other_known)
    n, plain = first.robot.n, (CoulombFriction(), ViscousFriction())
    terms = [(plain[row // n], row % n + 1) for row in rows]
    return CommonParameters(
        tuple(f'{law.symbols[0]}{number}' for law, number in terms),
        tuple(first.robot.unit(law.units[0], number - 1) for law, number in terms),
        tuple(law.name for law, _ in terms),
        M[rows], other[rows],
        ('the friction laws differ: Coulomb and viscous friction are compared as they are nearest '
         'in steady sliding, up to the speeds that both models know',),
    )
