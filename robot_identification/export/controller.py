# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write what a running controller needs to feed gravity and friction forward, as YAML."""

from collections.abc import Mapping
import textwrap
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.export.arm import ArmJoint, exported_arm
from robot_identification.files import to_plain
from robot_identification.model import (
    check_shows_gravity, CoulombFriction, IdentifiedModel, INERTIAL_SYMBOLS,
)
from robot_identification.prediction import (
    FeedForwardOptions, FrictionTable, RELEASE, tabulate_friction,
)
import scipy
import yaml

SCHEMA_VERSION = 1  # of the file
# Part of a joint's largest friction by which a straight line may miss what it replaces.
LEFT_OUT = 1.0e-7
UNITS = {
    'gravity': 'm/s^2', 'origin': 'm', 'inertial': 'kg, kg m, kg m^2',
    'reflected_inertia': 'kg m^2', 'drive_gain': 'N m/A', 'position': 'rad (m)',
    'velocity': 'rad/s (m/s)', 'effort': 'N m (N)', 'coulomb': 'N m', 'viscous': 'N m s/rad',
    'offset': 'N m', 'time': 's', 'temperature': 'deg C',
}
CONVENTIONS = (
    'Torque is what the drive exerts on the link, positive along the joint axis of the URDF.',
    'Position q = sign * reading - zero; velocity and torque change by the sign alone.',
    'Motor current = sign * torque / drive_gain; null is unknown.',
    'An origin is the joint frame at position zero in the frame of the parent joint.',
    'Inertial parameters are about the joint frame: mass, first moment, inertia about its origin.',
    'Friction in motion = bias + load * bias_per_load + sign(dq) * (resistance + load * '
    'resistance_per_load), linear between rows, beyond the last row as there; load is the size '
    'of the torque of gravity.',
    'Plain friction, nearest to it: offset + coulomb * tanh(dq / smoothing_velocity) + viscous * '
    'dq.',
    'Take the sign of the wanted velocity, never that of a measured one: a motion begins at '
    'moving_velocity, ends at released_velocity, and friction comes and goes in transition_time.',
    'Clip the sum at the effort limit of the joint.',
)
COLUMNS = ('speed', 'resistance', 'bias', 'resistance_per_load', 'bias_per_load')


def export_controller(model: IdentifiedModel) -> str:
    """
    Return a YAML that suffices for a controller to compute gravity and friction.

    It has kinematics, bodies (mass, first moments and inertia), gravity, friction as a table over
    speed and as Coulomb, viscous friction and an offset, reflected inertias, drive gains, encoders
    and limits, with units and conventions in words. Raises InconsistentModelError if the model is
    not physically consistent, UsageError if its torques are of an unknown scale, or without
    gravity.
    """
    arm = exported_arm(model)
    check_shows_gravity(model, 'a controller would feed the gravity of the URDF forward')
    table = tabulate_friction(model.with_consistent_parameters())
    options = FeedForwardOptions()
    head = {
        'schema_version': SCHEMA_VERSION,
        'robot': arm.name,
        'root_link': arm.root,
        'gravity': arm.gravity,
        'direction': {
            'moving_velocity': options.moving_velocity,
            'released_velocity': RELEASE * options.moving_velocity,
            'transition_time': options.transition_time,
        },
        'friction_columns': COLUMNS,
    }
    joints = [_joint(model, arm.joints, index, table) for index in range(model.robot.n)]
    return ''.join([
        *(f'# {line}\n' for sentence in CONVENTIONS for line in textwrap.wrap(sentence, 97)),
        _dump(head), _dump({'units': UNITS}, default_flow_style=False), _dump({'joints': joints}),
    ])


def _dump(content: Mapping[str, Any], *, default_flow_style: bool | None = None) -> str:
    # PyYAML writes numbers that YAML 1.1 and 1.2 both read as numbers, as 1.0e-05.
    return str(yaml.safe_dump(
        to_plain(content), sort_keys=False, default_flow_style=default_flow_style, width=99
    ))


def _joint(
    model: IdentifiedModel, joints: tuple[ArmJoint, ...], index: int, table: FrictionTable
) -> dict[str, Any]:
    joint, robot = joints[index], model.robot
    turning = 'revolute' if np.isfinite(joint.lower) else 'continuous'
    temperature = None if model.temperature is None else model.temperature[index]
    return {
        'name': joint.name,
        'link': joint.link,
        'parent': None if joint.parent < 0 else joints[joint.parent].name,
        'type': 'prismatic' if joint.is_prismatic else turning,
        'axis': joint.axis,
        'origin': {'xyz': joint.placement.translation, 'rotation': joint.placement.rotation},
        'inertial': dict(zip(INERTIAL_SYMBOLS, joint.body.toDynamicParameters(), strict=True)),
        'reflected_inertia': joint.reflected_inertia,
        'drive_gain': _known(robot.drives.drive_gain[index]),
        'encoder': {'sign': robot.encoders.sign[index], 'zero': robot.encoders.zero[index]},
        'limits': {
            'lower': _known(joint.lower), 'upper': _known(joint.upper),
            'velocity': _known(joint.velocity), 'effort': _known(joint.effort),
        },
        'friction': {
            'coulomb': joint.coulomb,
            'viscous': joint.viscous,
            'offset': _offset(table, index),
            'smoothing_velocity': _smoothing_velocity(model, index),
            'temperature': None if temperature is None else _known(temperature),
            'table': _table_rows(table, index),
        },
    }


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _offset(table: FrictionTable, joint: int) -> float:
    """Return what both directions have in common without load, the mean over all speeds."""
    speeds, bias = table.speeds[joint], table.bias[joint]
    return float(scipy.integrate.trapezoid(bias, speeds) / (speeds[-1] - speeds[0]))


def _smoothing_velocity(model: IdentifiedModel, joint: int) -> float:
    widths = [
        term.law.smoothing_velocity for term in model.parameters.friction
        if term.joint == joint and term.law.smoothing_velocity is not None
    ]
    return max(widths, default=CoulombFriction().smoothing_velocity)


def _table_rows(table: FrictionTable, joint: int) -> FloatArray:
    """
    Return the rows of a joint's table that straight lines do not replace, shape (m, 5).

    Lines miss at most `LEFT_OUT` of the largest number of a column.
    """
    rows = np.column_stack([
        table.speeds[joint], table.resistance[joint], table.bias[joint],
        table.resistance_per_load[joint], table.bias_per_load[joint],
    ])
    largest = np.abs(rows[:, 1:]).max(axis=0)
    kept, parts = {0, len(rows) - 1}, [(0, len(rows) - 1)]
    while parts:
        first, last = parts.pop()
        inside = rows[first + 1: last]
        share = (inside[:, 0] - rows[first, 0]) / (rows[last, 0] - rows[first, 0])
        line = rows[first, 1:] + share[:, None] * (rows[last, 1:] - rows[first, 1:])
        missed = (np.abs(inside[:, 1:] - line) - LEFT_OUT * largest).max(axis=1, initial=0.0)
        if missed.max(initial=0.0) > 0.0:
            worst = first + 1 + int(np.argmax(missed))
            kept.add(worst)
            parts += [(first, worst), (worst, last)]
    return rows[sorted(kept)]
