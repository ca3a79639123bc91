# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write an OpenUSD layer with the identified rotors and friction of joints."""

from __future__ import annotations

import math
import re

from robot_identification.errors import UsageError
from robot_identification.export.arm import exported_arm
from robot_identification.export.friction_forms import (
    fit_all_frictions, FittedFriction, LUGRE, PLAIN,
)
from robot_identification.model import IdentifiedModel

# Angles of USD are in degrees, and so are the velocities that viscous friction multiplies.
DEGREES = 180.0 / math.pi


def export_usd(model: IdentifiedModel, joints: str = '') -> str:
    """
    Return a USD layer (.usda) to be put over the arm's own: armature and friction of its joints.

    `joints` is the path of the prim that holds the joints, by default ``/ROBOT/joints`` as
    importers of URDF have it. PhysX reads `PhysxJointAxisAPI`, Newton `NewtonJointAPI`; of turning
    joints, viscous friction is per degree in both. Raises InconsistentModelError if the model is
    not physically consistent, UsageError if the path is none.
    """
    arm = exported_arm(model)
    path = joints or f'/{prim_name(arm.name)}/joints'
    if not re.fullmatch(r'(/[A-Za-z_]\w*)+', path, re.ASCII):
        raise UsageError(f'{path!r:.80} is no path of a USD prim: name it as /World/arm/joints')
    lines = []
    for joint, plain, bristle in zip(
        arm.joints, fit_all_frictions(model, PLAIN), fit_all_frictions(model, LUGRE), strict=True
    ):
        axis, scale = ('linear', 1.0) if joint.is_prismatic else ('angular', DEGREES)
        physx, viscous = f'physxJointAxis:{axis}', plain.damping[0] / scale
        lines += [
            f'over "{prim_name(joint.name)}" (',
            f'    prepend apiSchemas = ["PhysxJointAxisAPI:{axis}", "NewtonJointAPI"]',
            ')',
            '{',
            *(f'    float {name} = {value!r}' for name, value in (
                (f'{physx}:armature', joint.reflected_inertia),
                (f'{physx}:staticFrictionEffort', static_friction(plain, bristle)),
                (f'{physx}:dynamicFrictionEffort', plain.coulomb),
                (f'{physx}:viscousFrictionCoefficient', viscous),
                ('newton:armature', joint.reflected_inertia),
                ('newton:friction', plain.coulomb),
                ('newton:damping', viscous),
            )),
            '}',
        ]
    prims = path[1:].split('/')
    for name in reversed(prims):
        lines = [f'over "{name}"', '{', *(f'    {line}' for line in lines), '}']
    return '\n'.join([
        '#usda 1.0', '(', '    doc = """Identified by robot_identification. Efforts in N m (N); '
        'viscous friction per degree for joints that turn."""', ')', *lines, '',
    ])


def static_friction(plain: FittedFriction, bristle: FittedFriction) -> float:
    """Return what holds a joint at rest [N m]: never less than what it slides against."""
    return max(plain.coulomb, bristle.static)


def prim_name(name: str) -> str:
    """Return the name of a prim, as importers make it of others."""
    found = re.sub(r'\W', '_', name, flags=re.ASCII)
    return found if found[:1].isalpha() or found[:1] == '_' else f'_{found}'
