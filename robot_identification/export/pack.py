# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Files of an arm for simulators: URDF, MJCF, USD, Isaac Lab, and models to randomize over."""

from dataclasses import replace
import json
import math
import re

import numpy as np
from robot_identification.errors import UsageError
from robot_identification.estimation import draw_consistent
from robot_identification.export.arm import exported_arm, ExportedArm
from robot_identification.export.friction_forms import fit_all_frictions, LUGRE
from robot_identification.export.mjcf import export_mjcf
from robot_identification.export.options import ExportOptions
from robot_identification.export.urdf import export_urdf
from robot_identification.model import IdentifiedModel

SCHEMA_VERSION = 1  # of randomization.json
# Angles of USD are in degrees, and so are the velocities that viscous friction multiplies.
DEGREES = 180.0 / math.pi
_TEXT = '''\
"""
Actuators of an arm for Isaac Lab 2.2 and later on Isaac Sim 5, identified by robot_identification.

    ArticulationCfg(actuators=ACTUATORS, ..)

Armature in kg m^2 (kg), friction in N m (N) and N m s/rad (N s/m). `stiffness` and `damping` are
those of your controller: None keeps what the USD has.
"""

from isaaclab.actuators import ImplicitActuatorCfg

ACTUATORS = {{
    "arm": ImplicitActuatorCfg(
        joint_names_expr={names},
        stiffness=None,
        damping=None,
{fields}
    ),
}}
'''


def simulation_pack(model: IdentifiedModel, options: ExportOptions) -> dict[str, str]:
    """
    Return the files of a simulation pack by their names in its folder.

    Raises InconsistentModelError if the model is not physically consistent.
    """
    files = {
        'arm.urdf': export_urdf(model),
        'arm.xml': export_mjcf(model, options.friction_form),
        'arm_joints.usda': export_usd(model, options.usd_joints),
        'isaac_lab.py': export_isaac_lab(model),
    }
    draws, moved = draw_consistent(model, options.models, options.seed)
    width, listed = len(str(options.models - 1)), []
    for number, theta in enumerate(draws):
        drawn = replace(
            model, theta_consistent=theta, theta_base=model.reduction.K @ theta
        )
        name = f'models/{number:0{width}d}.xml'
        files[name] = export_mjcf(drawn, options.friction_form)
        listed.append({'file': name, 'joints': [{
            'name': joint.name,
            'mass': joint.body.mass,
            'center_of_mass': joint.body.lever.tolist(),
            'inertia': joint.body.inertia.tolist(),
            'armature': joint.reflected_inertia,
            'coulomb': joint.coulomb,
            'viscous': joint.viscous,
        } for joint in exported_arm(drawn).joints]})
    files['randomization.json'] = json.dumps({
        'schema_version': SCHEMA_VERSION,
        'robot': model.robot.name,
        'seed': options.seed,
        'covariance_kind': model.covariance_kind,
        'moved_to_possible': moved,
        'units': 'kg, m, kg m^2 about the centre of mass in the frame of the joint, N m, '
                 'N m s/rad',
        'models': listed,
    }, indent=1) + '\n'
    return files


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
    for joint, static in zip(arm.joints, static_frictions(model, arm), strict=True):
        axis, scale = ('linear', 1.0) if joint.is_prismatic else ('angular', DEGREES)
        physx, viscous = f'physxJointAxis:{axis}', joint.viscous / scale
        lines += [
            f'over "{prim_name(joint.name)}" (',
            f'    prepend apiSchemas = ["PhysxJointAxisAPI:{axis}", "NewtonJointAPI"]',
            ')',
            '{',
            *(f'    float {name} = {value!r}' for name, value in (
                (f'{physx}:armature', joint.reflected_inertia),
                (f'{physx}:staticFrictionEffort', static),
                (f'{physx}:dynamicFrictionEffort', joint.coulomb),
                (f'{physx}:viscousFrictionCoefficient', viscous),
                ('newton:armature', joint.reflected_inertia),
                ('newton:friction', joint.coulomb),
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


def static_frictions(model: IdentifiedModel, arm: ExportedArm) -> list[float]:
    """Return what holds each joint at rest [N m]: never less than what it slides against."""
    return [
        max(joint.coulomb, bristle.static)
        for joint, bristle in zip(arm.joints, fit_all_frictions(model, LUGRE), strict=True)
    ]


def prim_name(name: str) -> str:
    """Return the name of a prim, as importers make it of others."""
    found = re.sub(r'\W', '_', name, flags=re.ASCII)
    return found if found[:1].isalpha() or found[:1] == '_' else f'_{found}'


def export_isaac_lab(model: IdentifiedModel) -> str:
    """
    Return a Python file with an `ImplicitActuatorCfg` for the arm.

    Static friction is that of the curve at rest, the others are the nearest Coulomb and viscous
    friction. Raises InconsistentModelError if the model is not physically consistent.
    """
    arm = exported_arm(model)
    columns = {
        'armature': [joint.reflected_inertia for joint in arm.joints],
        'friction': static_frictions(model, arm),
        'dynamic_friction': [joint.coulomb for joint in arm.joints],
        'viscous_friction': [joint.viscous for joint in arm.joints],
        'effort_limit_sim': [joint.effort for joint in arm.joints],
        'velocity_limit_sim': [joint.velocity for joint in arm.joints],
    }
    names = [joint.name for joint in arm.joints]
    fields = []
    for field, values in columns.items():
        known = {
            name: value for name, value in zip(names, values, strict=True) if np.isfinite(value)
        }
        if known:
            text = json.dumps(known, indent=4).replace('\n', '\n        ')
            fields.append(f'        {field}={text},')
    return _TEXT.format(names=json.dumps(names), fields='\n'.join(fields))
